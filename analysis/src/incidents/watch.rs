//! Incidents as they happen: events in, incidents out.

use std::sync::Arc;

use ctf_reader::{
    ClassIndex, Digest, DigestedEvent, Digester, EventClass, Gap, OrderedEvent, Progress, Report, Wanted,
    Window,
};

use super::engine::Engine;
use super::finding::{Incident, Incidents};
use super::periods::IntervalCourses;
use super::report::Reporter;
use crate::finding::{Forgotten, Notes, TraceFinding};
use crate::intervals::{EventDigester, Feed};
use crate::outliers::verdict::Period;
use crate::reading::{ClassPlan, CollectInPassing, Misfit, Selection};
use crate::samples::Sample;
use crate::source::Readers;

/// Finds incidents in events in time order, from files or from live sessions.
pub struct IncidentWatch {
    selection: Arc<Selection>,
    feed: Feed,
    engine: Engine,
}

impl IncidentWatch {
    /// Looks for incidents of at least `threshold` nanoseconds. `gaps` are known gaps in the events, ordered by their
    /// beginnings.
    pub fn new(selection: &Arc<Selection>, threshold: u64, gaps: Vec<Gap>) -> Self {
        IncidentWatch::with(Feed::new(selection, gaps), selection, threshold, Window::default())
    }

    /// Finds incidents in what this feed makes of events, and reports those that overlap the window.
    pub(super) fn with(feed: Feed, selection: &Arc<Selection>, threshold: u64, window: Window) -> Self {
        let threshold = i64::try_from(threshold).unwrap_or(i64::MAX);
        IncidentWatch { selection: Arc::clone(selection), feed, engine: Engine::new(threshold, window) }
    }

    /// Shares what finds out what events say with other watches, which are asked for the same classes in the same order.
    pub(crate) fn share(&mut self, digester: &Arc<EventDigester>) {
        self.feed.share(Arc::clone(digester));
    }

    /// What finds out what events say, for who reads them in the order of time: they are processed faster then.
    pub fn digester(&self) -> Arc<dyn Digester> {
        self.feed.digester()
    }

    /// The fields that the events of a class, recorded on this machine, are needed with; none if they are not needed.
    pub fn want(&mut self, class: &Arc<EventClass>, host: Option<&str>) -> Option<Wanted> {
        self.feed.want(class, host)
    }

    /// Has the courses of intervals noted.
    pub(super) fn note(&mut self, courses: IntervalCourses) {
        self.engine.lengths.courses = Some(courses);
    }

    /// Reads a window to its end, with the samples that were taken meanwhile, and returns what was read, and what was
    /// collected in passing.
    pub(super) fn follow<C: CollectInPassing + 'static>(
        &mut self,
        readers: Readers<'_>,
        window: Window,
        progress: &Progress,
        collector: Option<C>,
    ) -> (Report, Option<C>) {
        let read = self.feed.follow_apart(readers, window, progress, &mut self.engine, collector);
        self.finish();
        read
    }

    /// The courses that were noted.
    pub(super) fn take_courses(&mut self) -> Option<IntervalCourses> {
        self.engine.lengths.courses.take()
    }

    /// The slow periods of courses that overlap a window, if these are of all intervals.
    pub(super) fn periods(
        &self,
        courses: IntervalCourses,
        report: &Report,
        window: Window,
    ) -> Option<Vec<Period>> {
        courses.periods(&self.feed, report, window)
    }

    /// Adds a sample of the machine with this name.
    pub fn sample(&mut self, host: Option<&str>, time: i64, sample: Sample) {
        self.feed.scene.sample(host, time, sample);
    }

    /// Adds a gap in the events.
    pub fn gap(&mut self, gap: Gap) {
        self.feed.scene.gap(gap);
    }

    /// How the events of a class are processed; none if they are only counted.
    pub(crate) fn plan(&self, class: ClassIndex) -> Option<&ClassPlan> {
        self.feed.plan(class)
    }

    /// Counts events of a class of which nothing else is needed.
    pub fn count(&mut self, class: ClassIndex, events: u64) {
        self.feed.count(class, events);
    }

    /// Processes an event with the fields that [`want`](IncidentWatch::want) asked for.
    #[inline]
    pub fn event(&mut self, event: &OrderedEvent<'_>) {
        self.feed.event(event, &mut self.engine);
    }

    /// Processes an event of a class, with what it says.
    #[inline]
    pub(crate) fn digested(&mut self, event: DigestedEvent<'_>, class: ClassIndex, digest: Digest) {
        self.feed.digested(event, class, digest, &mut self.engine);
    }

    /// The last settled incidents that were not [reported](IncidentWatch::mark_reported), the newest first, and the number of
    /// other ones. Processes come with their hosts if there are several.
    pub fn newest(&self, limit: usize, has_hosts: bool) -> (Vec<Incident>, u64) {
        let reporter = self.reporter();
        let (stalls, missed) = self.engine.tally.unreported();
        let newest = stalls.iter().rev().take(limit).map(|stall| reporter.incident(stall, has_hosts));
        (newest.collect(), missed + stalls.len().saturating_sub(limit) as u64)
    }

    /// Marks all incidents settled so far as reported.
    pub fn mark_reported(&mut self) {
        self.engine.tally.mark_reported();
    }

    /// What was found so far, with at most `limit` incidents; the longest if there are more.
    pub fn finding(&self, trace: TraceFinding, limit: usize) -> Result<Incidents, Misfit> {
        let left_out = self.feed.finish()?;
        let (implausible, forgotten) = (self.feed.implausible(), self.feed.forgotten());
        let notes = Notes { implausible, left_out, forgotten, ..Notes::default() };
        Ok(self.reporter().report(trace, notes, limit))
    }

    /// Keeps only this number of incidents in full.
    pub(crate) fn keep(&mut self, most: usize) {
        self.engine.tally.most = most;
    }

    /// Counts only incidents that begin at this time or later.
    pub(crate) fn count_from(&mut self, time: i64) {
        self.engine.tally.begun_in = Some(time..i64::MAX);
    }

    /// Counts only incidents that begin before this time.
    pub(crate) fn count_until(&mut self, time: i64) {
        let begin = self.engine.tally.begun_in.as_ref().map_or(i64::MIN, |epoch| epoch.start);
        self.engine.tally.begun_in = Some(begin..time);
    }

    /// How full the fullest table is.
    pub(crate) fn fullness(&self) -> f64 {
        self.feed.fullness()
    }

    /// The number of threads, and of clients, that it knows.
    pub(crate) fn known(&self) -> (u64, u64) {
        self.feed.known()
    }

    /// What could not be told apart because there was too much of it.
    pub(crate) fn forgotten(&self) -> Forgotten {
        self.feed.forgotten()
    }

    /// Ends the watch: no more events will arrive.
    pub fn finish(&mut self) {
        self.engine.finish(&self.feed.scene);
    }

    fn reporter(&self) -> Reporter<'_> {
        Reporter { engine: &self.engine, feed: &self.feed, dictionary: &self.selection.dictionary }
    }
}
