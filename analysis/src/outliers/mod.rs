//! What is unusual in a trace: single events, slow modes and slow periods; or, on request, all events above a
//! threshold.
//!
//! Two readings: the first judges groups, the second selects the single events and compares fields. All that was recorded
//! is judged; with a window or a filter, a third reading selects from what was found.

mod known_limits;
mod reason;
mod shared;
pub(super) mod verdict;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use ctf_reader::Window;
use serde::Serialize;

use crate::filter::Condition;
use crate::finding::{EventFinding, GroupFinding, GroupName, Notes, Ns, Span, TraceFinding, guessed};
use crate::groups::{Sort, summarise};
use crate::reading::{Angle, Failure, Kinds, Processes, Roster, Selection, SourceWindow};
use crate::slow::longest::SlowEvent;
use crate::slow::{AcceptAll, EventFilter, LongestCollector, LookedAt, SeenEvent};
use crate::source::Source;
use known_limits::KnownLimits;
use reason::reason;
use shared::Comparison;
use verdict::{CourseReading, Courses, JudgedGroup, Verdicts};

pub use shared::{Shared, SlowSet};
pub use verdict::{
    Basis, Drift, Durations, Judged, Limit, Limits, Mode, Period, PeriodKind, Rule, RuleFinding, Shift,
    Unjudged, judge,
};

/// What is unusual in a trace.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outliers {
    /// What was read.
    pub trace: TraceFinding,
    /// The rule and the limits that it came to; none if a threshold decides.
    pub rule: Option<Box<RuleFinding>>,
    /// What took longer than the user's threshold, if there is one.
    pub threshold: Option<Threshold>,
    /// Whether the rule is shown to people.
    #[serde(skip)]
    pub explains: bool,
    /// The number of plausible durations that were judged.
    pub judged: u64,
    /// The number of single events in all.
    pub found: u64,
    /// The number of events with an implausible duration.
    pub implausible: u64,
    /// The events that were seen too rarely to be judged, those with the longest durations first.
    pub unjudged: Vec<Unjudged>,
    /// The slow periods, those that lost the most time first.
    pub periods: Vec<Period>,
    /// The number of slow periods after those.
    pub hidden_periods: u64,
    /// The slow modes, those that lost the most time first.
    pub modes: Vec<Mode>,
    /// The number of slow modes after those.
    pub hidden_modes: u64,
    /// The groups that became slower steadily, those that lost the most time first.
    pub drifts: Vec<Drift>,
    /// The number of drifts after those.
    pub hidden_drifts: u64,
    /// What slow events have in common, the most telling first.
    pub shared: Vec<Shared>,
    /// The number of such values after those.
    pub hidden_shared: u64,
    /// The longest single events, the longest first.
    pub events: Vec<Outlier>,
    /// The number of single events after those.
    pub hidden_events: u64,
    /// From which duration on an event of each group is slow, where that can be told.
    #[serde(skip)]
    pub(crate) limits: Vec<(GroupName, Ns)>,
    /// Notes for the reader.
    pub notes: Notes,
}

/// What took longer than a threshold.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Threshold {
    /// The threshold.
    #[serde(rename = "slower_than_us")]
    pub slower_than: Ns,
    /// The number of events that took as long or longer.
    pub count: u64,
    /// Their total duration.
    #[serde(rename = "total_us")]
    pub total: Ns,
    /// The groups that they belong to, those with the longest total first.
    pub groups: Vec<GroupFinding>,
    /// The number of groups after those.
    pub hidden_groups: u64,
}

/// A single event and why it is shown.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outlier {
    /// The event, with its reason.
    #[serde(flatten)]
    pub event: EventFinding,
    /// What its limit rests on.
    pub rule: Basis,
    /// Durations above this are slow.
    #[serde(rename = "limit_us")]
    pub limit: Ns,
}

impl Outlier {
    fn new(record: &SlowEvent, limit: &Limit, groups: &[JudgedGroup], trace: &TraceFinding) -> Self {
        let mut event = EventFinding::new(record, trace);
        event.reason = Some(reason(record, limit));
        if let Some(group) = groups.get(limit.group) {
            event.key = group.name.key.clone();
        }
        Outlier { event, rule: limit.basis, limit: Ns(record.kind.ns(limit.above)) }
    }
}

/// Finds what is unusual; at most `limit` findings of each kind.
///
/// All that was recorded is judged, whatever the window and the filters, which then select from what was found; unless
/// what passes is to be judged in isolation, as if nothing else had been recorded.
pub(crate) fn outliers<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    rule: &Rule,
    in_isolation: bool,
    limit: usize,
    cap: usize,
) -> Result<Outliers, Failure> {
    let angle = Angle::new(selection, input.window, in_isolation);
    let reading = Judging::reading(input, selection, &angle, cap)?;
    let courses = in_window(input, angle.judged, |input| reading.read_ahead(input))?;
    let mut judging = Judging::new(input, (courses, None), angle, rule)?;
    let collected = judging.read_all(input, judging.collector(limit))?;
    judging.finish(input, selection, collected, limit)
}

/// What is judged, before single events are selected.
pub(crate) struct Judging {
    angle: Angle,
    found: Verdicts,
}

impl Judging {
    /// How all groups that are judged from an angle are read.
    pub fn reading<S: Source>(
        input: &mut SourceWindow<'_, S>,
        selection: &Selection,
        angle: &Angle,
        cap: usize,
    ) -> Result<CourseReading, Failure> {
        let judged = if angle.in_isolation { selection.clone() } else { selection.of_all_events() };
        let judged = Selection { processes: Processes::Counted, ..judged };
        in_window(input, angle.judged, |input| CourseReading::new(input, Arc::new(judged), cap))
    }

    /// Judges groups that were read, unless that was done before.
    pub fn new<S: Source>(
        input: &mut SourceWindow<'_, S>,
        (courses, judged): (Courses, Option<Judged>),
        angle: Angle,
        rule: &Rule,
    ) -> Result<Judging, Failure> {
        let found = in_window(input, angle.judged, |input| courses.verdicts(input, rule, judged))?;
        Ok(Judging { angle, found })
    }

    /// Whether a window selects from what is judged.
    pub fn has_window(&self) -> bool {
        self.angle.has_window
    }

    /// Selects single events, and compares the fields of all.
    pub fn collector(&self, limit: usize) -> LongestCollector<Comparison> {
        let Judged { groups, limits, periods, .. } = &self.found.judged;
        let length_ns = self.found.trace.length_ns.unwrap_or(0);
        let comparison = Comparison::judged(groups, limits, periods, length_ns);
        let roster = Roster::with_kinds(Arc::clone(&self.found.selection), limits.kinds());
        LongestCollector::new(roster, comparison, limit)
    }

    /// Reads all that is judged, or of it what the collector looks at, where that was noted.
    pub fn read_all<S: Source>(
        &mut self,
        input: &mut SourceWindow<'_, S>,
        collector: LongestCollector<Comparison>,
    ) -> Result<LongestCollector<Comparison>, Failure> {
        let noted = &mut self.found.noted;
        in_window(input, self.angle.judged, |input| Ok(input.read_noted(noted, collector)?.0))
    }

    /// What was found. With a window or a filter, another reading selects from it.
    pub fn finish<S: Source>(
        self,
        input: &mut SourceWindow<'_, S>,
        selection: &Arc<Selection>,
        all: LongestCollector<Comparison>,
        limit: usize,
    ) -> Result<Outliers, Failure> {
        let Judging { angle, found } = self;
        let window = input.window;
        let Judged {
            rule,
            mut durations,
            limits,
            mut modes,
            mut periods,
            mut drifts,
            mut unjudged,
            groups,
            ..
        } = found.judged;
        let LongestCollector { filter, mut longest, passed: mut found_events, .. } = all;
        let mut shared = filter.shared(rule.probability, &found.trace);
        let (mut trace, mut notes) = (found.trace, found.notes);
        if angle.selects {
            let of_selection =
                Selection { processes: found.selection.processes, ..Selection::clone(selection) };
            let roster = Roster::with_kinds(Arc::new(of_selection), limits.kinds());
            let chosen = Chosen::new(KnownLimits::new(Arc::clone(&limits)));
            let (chosen, report) = input.read(LongestCollector::new(roster, chosen, limit))?;
            trace = TraceFinding::new(&report);
            notes.left_out = chosen.roster.finish()?;
            notes.implausible = chosen.implausible;
            (longest, found_events) = (chosen.longest, chosen.passed);
            let seen = &chosen.filter.groups;
            if chosen.filter.events == 0 {
                // Nothing is selected, and the notes say why.
                (durations, unjudged) = (0, Vec::new());
            }
            let has_name = |name: &GroupName| {
                seen.keys().any(|&group| groups.get(group).is_some_and(|known| known.name == *name))
            };
            let is_in = |begin_ns, end_ns| Span { begin_ns, end_ns }.is_in(window);
            modes.retain(|mode| {
                seen.get(&mode.group).is_some_and(|&has_modes| has_modes) && is_in(mode.begin_ns, mode.end_ns)
            });
            periods.retain(|period| {
                period.spans.iter().any(|span| span.is_in(window))
                    && period.groups.iter().any(|shift| has_name(&shift.name))
            });
            drifts.retain(|drift| has_name(&drift.name) && is_in(drift.begin_ns, drift.end_ns));
            shared.retain(|shared| has_name(&shared.name));
            unjudged.retain(|event| {
                selection.events.is_empty()
                    || selection.events.iter().any(|glob| glob.0.matches_event(&event.event))
            });
        }
        let records = longest.into_sorted();
        notes.guessed_units = guessed(records.iter().map(|record| &*record.kind));
        let named = modes
            .iter()
            .map(|mode| &mode.name)
            .chain(drifts.iter().map(|drift| &drift.name))
            .chain(periods.iter().flat_map(|period| period.groups.iter().map(|shift| &shift.name)));
        let is_guess = |name: &&GroupName| name.unit_is_guess;
        notes.guessed_units.extend(named.filter(is_guess).map(|name| name.event.clone()));
        let outlier = |record: &SlowEvent| {
            let kind = limits.kind_number(&record.kind)?;
            Some(Outlier::new(record, limits.of(kind, &record.key)?, &groups, &trace))
        };
        let events: Vec<Outlier> = records.iter().filter_map(outlier).collect();
        let told = groups.iter().filter(|group| group.above < u64::MAX);
        Ok(Outliers {
            limits: told.map(|group| (group.name.clone(), Ns(group.kind.ns(group.above)))).collect(),
            rule: Some(Box::new(rule)),
            judged: durations,
            found: found_events,
            implausible: notes.implausible,
            unjudged,
            hidden_periods: cut(&mut periods, limit),
            periods,
            hidden_modes: cut(&mut modes, limit),
            modes,
            hidden_drifts: cut(&mut drifts, limit),
            drifts,
            hidden_shared: cut(&mut shared, limit),
            shared,
            hidden_events: found_events - events.len() as u64,
            events,
            trace,
            notes,
            ..Outliers::default()
        })
    }
}

/// Reads another window for a while.
pub(crate) fn in_window<S: Source, T>(
    input: &mut SourceWindow<'_, S>,
    window: Window,
    read: impl FnOnce(&mut SourceWindow<'_, S>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    read(&mut SourceWindow { source: &mut *input.source, window, progress: input.progress })
}

/// Keeps the first findings, and returns the number of the others.
fn cut<T>(findings: &mut Vec<T>, limit: usize) -> u64 {
    let all = findings.len();
    findings.truncate(limit);
    (all - findings.len()) as u64
}

/// Lists and counts events that took as long as a threshold or longer, however common.
pub(crate) fn slower_than<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    rule: &Rule,
    threshold_ns: u64,
    limit: usize,
    cap: usize,
) -> Result<Outliers, Failure> {
    let all = Arc::clone(selection);
    let mut selection = Selection::clone(selection);
    selection.conditions.push(Condition::at_least("--slower-than", "duration", threshold_ns));
    let selection = Arc::new(selection);
    let summary = summarise(input, &selection, Sort::Total, cap)?;
    let notes = Notes::of_summary(&summary);
    let collected = LongestCollector::new(Roster::new(Arc::clone(&selection)), AcceptAll, limit);
    let (collected, report) = input.read(collected)?;
    let trace = TraceFinding::new(&report);
    let kinds: Kinds = collected.roster.kinds().iter().cloned().collect();
    let comparison = Comparison::above(&kinds, threshold_ns, trace.events);
    let (compared, _) = input.read(LongestCollector::new(Roster::with_kinds(all, kinds), comparison, 0))?;
    let mut shared = compared.filter.shared(rule.probability, &trace);
    let outlier = |record: &SlowEvent| Outlier {
        event: EventFinding::new(record, &trace),
        rule: Basis::Threshold,
        limit: Ns(threshold_ns.into()),
    };
    let events: Vec<Outlier> = collected.longest.into_sorted().iter().map(outlier).collect();
    let timed = || summary.groups.iter().filter(|group| group.is_timed());
    let folded = summary.folded.as_ref().map_or(0, |folded| folded.total_ns);
    let groups = timed().take(limit).map(|group| GroupFinding::new(group, &[], &trace)).collect();
    Ok(Outliers {
        threshold: Some(Threshold {
            slower_than: Ns(threshold_ns.into()),
            count: collected.passed,
            total: Ns(folded + timed().map(|group| group.total_ns()).sum::<u128>()),
            groups,
            hidden_groups: timed().count().saturating_sub(limit) as u64,
        }),
        found: collected.passed,
        implausible: notes.implausible,
        hidden_shared: cut(&mut shared, limit),
        shared,
        hidden_events: collected.passed - events.len() as u64,
        events,
        trace,
        notes,
        ..Outliers::default()
    })
}

/// Selects single events, and notes which groups have events at all, and which have some in modes.
#[derive(Clone, Debug)]
struct Chosen {
    limits: KnownLimits,
    /// The groups that have events, and whether any of those are in modes.
    groups: BTreeMap<usize, bool>,
    /// The number of events with a plausible duration.
    events: u64,
}

impl Chosen {
    fn new(limits: KnownLimits) -> Chosen {
        Chosen { limits, groups: BTreeMap::new(), events: 0 }
    }
}

impl EventFilter for Chosen {
    fn looked_at(&self, _: usize, _: &RangeInclusive<i64>) -> LookedAt {
        LookedAt::ALL
    }

    fn shows(&mut self, seen: &SeenEvent<'_, '_>) -> bool {
        self.events += 1;
        let Some(limit) = self.limits.of(seen) else { return false };
        let (is_slow, is_single) = (seen.ticks > limit.above, limit.is_single(seen.ticks));
        *self.groups.entry(limit.group).or_default() |= is_slow && !is_single;
        is_single
    }

    fn emptied(&self) -> Self {
        Chosen::new(self.limits.emptied())
    }

    fn absorb(&mut self, other: Self) {
        self.events += other.events;
        other
            .groups
            .into_iter()
            .for_each(|(group, has_modes)| *self.groups.entry(group).or_default() |= has_modes);
    }
}

#[cfg(test)]
mod noted_tests;
#[cfg(test)]
mod tests;
