//! Incidents: times in which a program was held up, why, and who waited.

mod activity;
mod clients;
mod engine;
mod finding;
mod held;
mod report;
mod sleeps;
mod tally;
mod usual;
mod watch;

use std::sync::Arc;

use ctf_reader::{Error, EventClass};

use super::finding::TraceFinding;
use super::reading::{Failure, Reading};
use super::selection::Selection;
use crate::source::Source;

pub use finding::*;
pub use watch::Watch;

/// What is shorter than this, in nanoseconds, holds nobody up unless another threshold is given.
pub const THRESHOLD_NS: u64 = 1_000_000;

/// Finds the incidents of a trace and keeps the longest, at most `limit`. What takes at least `threshold` nanoseconds
/// holds somebody up.
pub(super) fn incidents<S: Source>(
    reading: &mut Reading<'_, S>,
    selection: &Arc<Selection>,
    threshold: u64,
    limit: usize,
) -> Result<Incidents, Failure> {
    let Some(reader) = reading.source.in_order() else {
        return Err(Error::new("incidents are found by the native reader alone: leave --source out").into());
    };
    let mut watch = Watch::new(selection, threshold, reader.gaps(reading.window));
    let traces = reader.traces();
    let want = |class: &Arc<EventClass>| watch.want(class, traces[class.trace].environment("hostname"));
    let mut wanted: Vec<_> = reader.classes().map(want).collect();
    let take = |class: &Arc<EventClass>| wanted[class.index].take();
    let mut events = reader.in_order(reading.window, take).with_progress(reading.progress);
    while let Some(event) = events.next_event() {
        watch.event(&event);
    }
    watch.finish();
    Ok(watch.finding(TraceFinding::new(&events.report()), limit)?)
}
