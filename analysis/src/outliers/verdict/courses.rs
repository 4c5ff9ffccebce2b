//! The course of groups over time: read once, and judged.

use std::sync::Arc;

use super::ahead::LookingAhead;
use super::judge::{Judged, judge_summary};
use super::limits::Limits;
use super::rule::Rule;
use super::series::{Resolution, Series};
use crate::finding::{Notes, TraceFinding};
use crate::groups::{Group, PROCESSES_MAX, Sort, Summary, SummaryCollector};
use crate::reading::{Failure, Processes, Selection, SourceWindow};
use crate::source::Source;
use ctf_reader::{NotedEvents, Report, Window};

/// Collects the course of groups over time.
pub(crate) type CourseCollector = SummaryCollector<Series>;

/// How the course of groups over time is read.
pub(crate) struct CourseReading {
    selection: Arc<Selection>,
    resolution: Resolution,
    cap: usize,
}

/// The groups of a trace with their course over time, before they are judged.
pub(crate) struct Courses {
    pub summary: Summary<Series>,
    reading: CourseReading,
    ahead: Ahead,
}

/// What the reading of groups has noted for the one after it.
#[derive(Debug, Default)]
struct Ahead {
    noted: NotedEvents,
    /// For each group, from which duration on all of its events were noted.
    least: Vec<u64>,
}

/// The verdicts on a trace after one reading.
#[derive(Debug)]
pub(crate) struct Verdicts {
    /// What was read.
    pub trace: TraceFinding,
    /// Notes for the reader.
    pub notes: Notes,
    /// What was found.
    pub judged: Judged,
    /// How events are grouped.
    pub selection: Arc<Selection>,
    /// All events that are above the limit of their group or in its sample, among others, as far as they were noted.
    pub noted: NotedEvents,
}

impl CourseReading {
    /// Keeps at most `cap` keys separately.
    pub fn new<S: Source>(
        input: &mut SourceWindow<'_, S>,
        selection: Arc<Selection>,
        cap: usize,
    ) -> Result<CourseReading, Failure> {
        let resolution = match input.window {
            Window { since: None, until: None } => Resolution::of(input.source)?,
            Window { since, until } => {
                let span = input.source.span()?.unwrap_or(0..=0);
                let since = since.unwrap_or(i64::MIN).max(*span.start());
                let until = until.unwrap_or(i64::MAX).min(*span.end());
                Resolution::new(if until > since { until.abs_diff(since) } else { 0 })
            }
        };
        Ok(CourseReading { selection, resolution, cap })
    }

    /// What is to see all events of the window.
    pub fn collector(&self) -> CourseCollector {
        SummaryCollector::of(&self.selection, self.cap, self.resolution)
    }

    /// Reads the window.
    pub fn read<S: Source>(self, input: &mut SourceWindow<'_, S>) -> Result<Courses, Failure> {
        self.complete(input, None)
    }

    /// Reads the window, and notes which events of groups may have to be looked at when these are judged.
    pub fn read_ahead<S: Source>(self, input: &mut SourceWindow<'_, S>) -> Result<Courses, Failure> {
        let mut noted = NotedEvents::default();
        let collector =
            SummaryCollector::<LookingAhead<Series>>::of(&self.selection, self.cap, self.resolution);
        let (collected, report) = input.read_noted(&mut noted, collector)?;
        let summary = collected.summary(input, report, Sort::Total)?;
        let least = summary.extras.iter().map(|extra| extra.least).collect();
        let summary = summary.map_extras(|extra| extra.inner);
        Ok(Courses { summary, reading: self, ahead: Ahead { noted, least } })
    }

    /// Reads the window, unless its collector has seen all events in another reading.
    pub fn complete<S: Source>(
        self,
        input: &mut SourceWindow<'_, S>,
        seen: Option<(CourseCollector, Report)>,
    ) -> Result<Courses, Failure> {
        let (collected, report) = match seen {
            Some(seen) => seen,
            None => input.read(self.collector())?,
        };
        let summary = collected.summary(input, report, Sort::Total)?;
        Ok(Courses { summary, reading: self, ahead: Ahead::default() })
    }
}

impl Courses {
    /// Judges all groups, unless that was done as they were read. If the selection has processes counted and there are
    /// several, the trace is read again with processes apart.
    pub fn verdicts<S: Source>(
        mut self,
        input: &mut SourceWindow<'_, S>,
        rule: &Rule,
        mut judged: Option<Judged>,
    ) -> Result<Verdicts, Failure> {
        if (2..=PROCESSES_MAX).contains(&self.summary.processes.len()) {
            let apart =
                Selection { processes: Processes::Apart, ..Selection::clone(&self.reading.selection) };
            self = CourseReading { selection: Arc::new(apart), ..self.reading }.read_ahead(input)?;
            judged = None;
        }
        let judged = judged.unwrap_or_else(|| self.judged(rule));
        let has_all = self.has_noted_all(&judged.limits);
        Ok(Verdicts {
            judged,
            noted: if has_all { self.ahead.noted } else { NotedEvents::default() },
            trace: TraceFinding::new(&self.summary.report),
            notes: Notes::of_summary(&self.summary),
            selection: self.reading.selection,
        })
    }

    /// Whether all events above these limits were noted.
    fn has_noted_all(&self, limits: &Limits) -> bool {
        let Courses { summary, ahead, .. } = self;
        let is_noted = |(group, least): (&Group, &u64)| {
            let limit = limits.kind_number(&group.kind).and_then(|kind| limits.of(kind, &group.key_bytes));
            limit.is_none_or(|limit| *least <= limit.above.saturating_add(1))
        };
        // Which groups are folded is known only in the end.
        summary.folded.is_none() && summary.groups.iter().zip(&ahead.least).all(is_noted)
    }

    /// Judges the groups as they were read.
    pub fn judged(&self, rule: &Rule) -> Judged {
        let selection = &*self.reading.selection;
        let apart = (selection.processes == Processes::Apart).then_some(selection);
        judge_summary(&self.summary, apart, rule)
    }
}
