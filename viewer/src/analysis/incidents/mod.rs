//! Incidents: times in which a program was held up, why, and who waited.

mod activity;
mod advice;
mod clients;
mod costs;
mod engine;
mod episodes;
mod finding;
mod meanwhile;
mod pending;
mod repetition;
mod report;
mod sleeps;
mod stall;
mod starved;
mod tally;
mod usual;
mod watch;

use std::sync::Arc;

use ctf_reader::{Error, Nothing, Progress, Report, Window};

use super::finding::TraceFinding;
use crate::analysis::finding::Span;
use crate::analysis::groups::summary::GROUP_CAP;
use crate::analysis::intervals::Feed;
use crate::analysis::outliers::verdict::{Courses, Period, Rule};
use crate::analysis::reading::{Angle, Failure, Selection, SourceWindow};
use crate::source::{Readers, Source};

pub use finding::*;
pub use watch::Watch;

/// A slow period that lost less than this, in nanoseconds, is not reported.
const LEAST_LOSS_NS: u128 = 1_000_000;

/// What counts as an incident, and what it is judged by.
#[derive(Clone, Copy, Debug)]
pub struct IncidentRule {
    /// The shortest stall that is an incident.
    pub threshold_ns: u64,
    /// Whether to judge only what is in the window and passes the filters, as if nothing else had been recorded.
    pub in_isolation: bool,
    /// Whether each incident is to be shown, instead of neighbouring ones of one cause together.
    pub shows_each: bool,
}

/// Finds the incidents of a trace, and its slow periods.
pub(super) fn incidents<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    rule: IncidentRule,
    limit: usize,
) -> Result<Incidents, Failure> {
    let window = input.window;
    // Slow periods do not need time order: another thread looks for them in parallel.
    let periods = |readers: Readers<'_>, angle: &Angle| slow_periods(readers, window, selection, angle);
    let (found, periods) = incidents_and(input, selection, rule, limit, periods)?;
    let found = found?;
    Ok(Incidents { periods: periods?, ..found })
}

/// Finds the incidents of a trace, without slow periods, while another thread does something else with its readers.
///
/// All that was recorded is judged, whatever the window and the filters: who waited, what is usual and what a timer does
/// is in the events around an incident. Window and filters then select from what was found.
pub(super) fn incidents_and<S: Source, T: Send>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    rule: IncidentRule,
    limit: usize,
    beside: impl FnOnce(Readers<'_>, &Angle) -> T + Send,
) -> Result<(Result<Incidents, Failure>, T), Failure> {
    let window = input.window;
    // What was read is said of the window.
    let angle = Angle::new(selection, window, rule.in_isolation);
    let in_window = match angle.has_window {
        true => Some(input.read(Nothing)?.1),
        false => None,
    };
    let Some(readers) = input.source.in_order() else {
        return Err(Error::new("this source has no events in time order, which incidents need").into());
    };
    let progress = input.progress;
    let (followed, beside) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| beside(readers.beside(), &angle));
        let followed = follow(readers, window, selection, (&angle, rule), progress);
        (followed, beside.join())
    });
    let (watch, report) = followed;
    let trace = match (&in_window, report.span.clone()) {
        (Some(in_window), Some(all)) => {
            let of_window = Span { begin_ns: *all.start(), end_ns: *all.end() }.within(window);
            TraceFinding::new(in_window).over(of_window.length_ns().max(0) as u64)
        }
        _ => TraceFinding::new(&report),
    };
    let found = watch.finding(trace, limit).map_err(Failure::Misfit);
    let found = found.map(|found| Incidents { shows_each: rule.shows_each, ..found });
    Ok((found, beside.unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
}

/// Follows events in time order.
fn follow(
    readers: Readers<'_>,
    window: Window,
    selection: &Arc<Selection>,
    (angle, rule): (&Angle, IncidentRule),
    progress: &Progress,
) -> (Watch, Report) {
    let gaps = readers.events.gaps(angle.judged);
    let feed = match angle.in_isolation {
        true => Feed::isolated(selection, gaps),
        false => Feed::new(selection, gaps),
    };
    let mut watch = Watch::with(feed, selection, rule.threshold_ns, window);
    let report = watch.follow(readers, angle.judged, progress);
    (watch, report)
}

/// The slow periods, from a reading of their own.
pub(super) fn slow_periods(
    mut readers: Readers<'_>,
    window: Window,
    selection: &Arc<Selection>,
    angle: &Angle,
) -> Result<Vec<Period>, Failure> {
    let selection = angle.selection(selection, Selection::of_any_duration);
    let mut input =
        SourceWindow { source: &mut readers, window: angle.judged, progress: &Progress::default() };
    let courses = Courses::read(&mut input, &selection, GROUP_CAP)?;
    Ok(costly(courses.judged(&Rule::default()).periods, window))
}

/// The periods that lost at least [`LEAST_LOSS_NS`], and overlap the window.
pub(super) fn costly(mut periods: Vec<Period>, window: Window) -> Vec<Period> {
    periods.retain(|period| {
        let span = Span { begin_ns: period.begin_ns, end_ns: period.end_ns };
        period.lost.0 >= LEAST_LOSS_NS && span.is_in(window)
    });
    periods
}
