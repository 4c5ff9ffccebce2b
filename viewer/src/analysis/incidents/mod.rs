//! Incidents: times in which a program was held up, why, and who waited.

mod activity;
mod clients;
mod engine;
mod finding;
mod meanwhile;
mod pending;
mod report;
mod sleeps;
mod stall;
mod tally;
mod usual;
mod watch;

use std::sync::Arc;

use ctf_reader::{Error, Progress, Reader, Window};

use super::finding::TraceFinding;
use crate::analysis::groups::summary::GROUP_CAP;
use crate::analysis::outliers::verdict::{Period, Rule, verdicts};
use crate::analysis::reading::selection::Selection;
use crate::analysis::reading::{Failure, SourceWindow};
use crate::source::Source;

pub use finding::*;
pub use watch::Watch;

/// A slow period that lost less than this, in nanoseconds, is not reported.
const LEAST_LOSS_NS: u128 = 1_000_000;

/// Finds the incidents of a trace of at least `threshold` nanoseconds, and keeps the longest, at most `limit`.
pub(super) fn incidents<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    threshold: u64,
    limit: usize,
) -> Result<Incidents, Failure> {
    let Some(reader) = input.source.in_order() else {
        return Err(Error::new("only the native reader finds incidents: leave out --source").into());
    };
    let (window, progress) = (input.window, input.progress);
    // Slow periods do not need time order: another thread looks for them in parallel.
    let (followed, periods) = std::thread::scope(|scope| {
        let periods = scope.spawn(|| slow_periods(reader, window, selection));
        let followed = follow(reader, window, selection, threshold, limit, progress);
        (followed, periods.join())
    });
    let mut found = followed?;
    found.periods = periods.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    Ok(found)
}

/// Follows all events in time order.
fn follow(
    reader: &Reader,
    window: Window,
    selection: &Arc<Selection>,
    threshold: u64,
    limit: usize,
    progress: &Progress,
) -> Result<Incidents, Failure> {
    let mut watch = Watch::new(selection, threshold, reader.gaps(window));
    let report = watch.follow(reader, window, progress);
    Ok(watch.finding(TraceFinding::new(&report), limit)?)
}

/// The slow periods that lost at least [`LEAST_LOSS_NS`].
fn slow_periods(reader: &Reader, window: Window, selection: &Arc<Selection>) -> Result<Vec<Period>, Failure> {
    let mut source = reader;
    let mut input = SourceWindow { source: &mut source, window, progress: &Progress::default() };
    let mut judged = verdicts(&mut input, selection, &Rule::default(), GROUP_CAP)?.judged;
    judged.periods.retain(|period| period.lost.0 >= LEAST_LOSS_NS);
    Ok(judged.periods)
}
