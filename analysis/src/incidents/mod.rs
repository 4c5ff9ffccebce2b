//! Incidents: times in which a program was held up, why, and who waited.

mod activity;
mod advice;
mod clients;
mod costs;
mod engine;
mod episodes;
mod finding;
mod held_back;
mod lengths;
mod meanwhile;
mod memory;
mod pending;
mod periods;
mod repetition;
mod report;
mod services;
mod sleeps;
mod stall;
mod tally;
mod turns;
mod usual;
mod waits;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ctf_reader::{Error, Nothing, Progress, Report, Window};

use super::finding::TraceFinding;
use crate::finding::Span;
use crate::intervals::Feed;
use crate::outliers::verdict::Resolution;
use crate::reading::{Angle, Failure, Selection, SourceWindow};
use crate::source::{Readers, Source};

use periods::IntervalCourses;

pub use finding::*;
pub(super) use periods::{costly, slow_periods};
pub use watch::IncidentWatch;

/// A time that no packet covers is at least this long, in nanoseconds; shorter ones follow each flush of the buffers.
const UNCOVERED: i64 = 1_000_000;

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
    if !selection.is_plain() || rule.in_isolation {
        // Slow periods do not need time order: another thread looks for them in parallel.
        let periods = |readers: Readers<'_>, angle: &Angle| slow_periods(readers, window, selection, angle);
        let (found, periods) = incidents_and(input, selection, rule, limit, periods)?;
        let found = found?;
        return Ok(Incidents { periods: periods?, ..found });
    }
    let search = Search::new(input, selection, rule)?;
    let courses = IntervalCourses::new(Resolution::of(&mut search.readers.clone())?);
    let (mut watch, report) = search.follow(Some(courses));
    let periods = match watch.periods(&report, window) {
        Some(periods) => periods,
        None => slow_periods(search.readers, window, selection, &search.angle)?,
    };
    Ok(Incidents { periods, ..search.finding(&watch, &report, limit)? })
}

/// Finds the incidents of a trace, without slow periods, while another thread does something else with its readers.
pub(super) fn incidents_and<S: Source, T: Send>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    rule: IncidentRule,
    limit: usize,
    beside: impl FnOnce(Readers<'_>, &Angle) -> T + Send,
) -> Result<(Result<Incidents, Failure>, T), Failure> {
    let search = Search::new(input, selection, rule)?;
    let is_busy = AtomicBool::new(true);
    let (found, beside) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| beside(search.readers.beside(&is_busy), &search.angle));
        let (watch, report) = search.follow(None);
        let found = search.finding(&watch, &report, limit);
        is_busy.store(false, Ordering::Relaxed);
        (found, beside.join())
    });
    Ok((found, beside.unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
}

/// A search for incidents.
///
/// All that was recorded is judged, whatever the window and the filters: who waited, what is usual and what a timer does
/// is in the events around an incident. Window and filters then select from what was found.
struct Search<'s> {
    readers: Readers<'s>,
    selection: &'s Arc<Selection>,
    window: Window,
    rule: IncidentRule,
    angle: Angle,
    /// What was read in the window, if there is one.
    in_window: Option<Report>,
    progress: &'s Progress,
}

impl<'s> Search<'s> {
    fn new<S: Source>(
        input: &'s mut SourceWindow<'_, S>,
        selection: &'s Arc<Selection>,
        rule: IncidentRule,
    ) -> Result<Self, Failure> {
        let window = input.window;
        let angle = Angle::new(selection, window, rule.in_isolation);
        let in_window = match angle.has_window {
            true => Some(input.read(Nothing)?.1),
            false => None,
        };
        let Some(readers) = input.source.in_order() else {
            return Err(Error::new("this source has no events in time order, which incidents need").into());
        };
        Ok(Search { readers, selection, window, rule, angle, in_window, progress: input.progress })
    }

    /// Follows events in time order, and notes their courses if asked to.
    fn follow(&self, courses: Option<IntervalCourses>) -> (IncidentWatch, Report) {
        let gaps = self.readers.events.gaps(self.angle.judged);
        let mut feed = match self.angle.in_isolation {
            true => Feed::isolated(self.selection, gaps),
            false => Feed::new(self.selection, gaps),
        };
        feed.scene.with_uncovered(self.readers.events.uncovered(self.angle.judged, UNCOVERED));
        let mut watch = IncidentWatch::with(feed, self.selection, self.rule.threshold_ns, self.window);
        let report = watch.follow(self.readers, self.angle.judged, self.progress, courses);
        (watch, report)
    }

    /// What was found. What was read is said of the window.
    fn finding(&self, watch: &IncidentWatch, report: &Report, limit: usize) -> Result<Incidents, Failure> {
        let trace = match (&self.in_window, report.span.clone()) {
            (Some(in_window), Some(all)) => {
                let of_window = Span { begin_ns: *all.start(), end_ns: *all.end() }.within(self.window);
                TraceFinding::new(in_window).over(of_window.length_ns().max(0) as u64)
            }
            _ => TraceFinding::new(report),
        };
        let found = watch.finding(trace, limit).map_err(Failure::Misfit)?;
        Ok(Incidents { shows_each: self.rule.shows_each, ..found })
    }
}
