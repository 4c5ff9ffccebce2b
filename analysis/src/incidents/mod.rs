//! Incidents: times in which a program was held up, why, and who waited.

mod activity;
mod advice;
mod clients;
mod costs;
mod distinct;
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
mod whole_turns;

use std::sync::Arc;

use ctf_reader::{Error, Nothing, Progress, Report, Window};

use super::finding::TraceFinding;
use crate::finding::Span;
use crate::intervals::Feed;
use crate::outliers::verdict::{CourseCollector, CourseReading, Resolution};
use crate::parallel::both;
use crate::reading::{Angle, Failure, Selection, SourceWindow};
use crate::source::{Readers, Source};

use periods::IntervalCourses;

pub use finding::*;
pub(super) use periods::{costly, courses_of_periods, slow_periods};
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
    let search = Search::new(input, selection, rule)?;
    let mut readers = search.readers;
    let all = &mut search.all(&mut readers);
    let mut watch = search.watch();
    // Mostly the courses of all groups are those of the intervals that incidents are found among, which takes less time.
    let mut courses = None;
    match selection.is_plain() && !rule.in_isolation {
        true => watch.note(IntervalCourses::new(Resolution::of(all.source)?)),
        false => courses = Some(courses_of_periods(all, selection, &search.angle)?),
    }
    let collector = courses.as_ref().and_then(|courses| search.in_passing(courses));
    let (report, collected) = search.follow(&mut watch, collector);
    let (noted, window) = (watch.take_courses(), search.window);
    let (periods, found) = both(
        || noted.and_then(|courses| watch.periods(courses, &report, window)),
        || search.finding(&watch, &report, limit),
    );
    let found = found?;
    if let Some(periods) = periods {
        return Ok(Incidents { periods, ..found });
    }
    let courses = match courses {
        Some(courses) => courses,
        None => courses_of_periods(all, selection, &search.angle)?,
    };
    let courses = courses.complete(all, collected.zip(Some(report)))?;
    Ok(Incidents { periods: slow_periods(&courses, window), ..found })
}

/// A search for incidents.
///
/// All that was recorded is judged, whatever the window and the filters: who waited, what is usual and what a timer does
/// is in the events around an incident. Window and filters then select from what was found.
pub(super) struct Search<'s> {
    pub readers: Readers<'s>,
    selection: &'s Arc<Selection>,
    window: Window,
    rule: IncidentRule,
    pub angle: Angle,
    /// What was read in the window, if there is one.
    in_window: Option<Report>,
    pub progress: &'s Progress,
}

impl<'s> Search<'s> {
    pub fn new<S: Source>(
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

    /// All that is judged.
    fn all<'a>(&'a self, readers: &'a mut Readers<'s>) -> SourceWindow<'a, Readers<'s>> {
        SourceWindow { source: readers, window: self.angle.judged, progress: self.progress }
    }

    /// What collects courses in passing. Events that only repeat others are not read, so they cannot be among those.
    pub fn in_passing(&self, courses: &CourseReading) -> Option<CourseCollector> {
        (!self.selection.with_repeats).then(|| courses.collector())
    }

    /// What finds incidents in events in time order.
    pub fn watch(&self) -> IncidentWatch {
        let gaps = self.readers.events.gaps(self.angle.judged);
        let mut feed = match self.angle.in_isolation {
            true => Feed::isolated(self.selection, gaps),
            false => Feed::new(self.selection, gaps),
        };
        feed.scene.with_uncovered(self.readers.events.uncovered(self.angle.judged, UNCOVERED));
        IncidentWatch::with(feed, self.selection, self.rule.threshold_ns, self.window)
    }

    /// Follows events in time order, which a collector sees in passing.
    pub fn follow(
        &self,
        watch: &mut IncidentWatch,
        collector: Option<CourseCollector>,
    ) -> (Report, Option<CourseCollector>) {
        watch.follow(self.readers, self.angle.judged, self.progress, collector)
    }

    /// What was found. What was read is said of the window.
    pub fn finding(
        &self,
        watch: &IncidentWatch,
        report: &Report,
        limit: usize,
    ) -> Result<Incidents, Failure> {
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
