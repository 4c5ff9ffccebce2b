//! What is unusual in a trace: single events, slow modes and slow periods; or, on request, all events above a
//! threshold.
//!
//! Two readings: the first judges groups, the second selects the single events.

mod reason;
pub(super) mod verdict;

use std::sync::Arc;

use serde::Serialize;

use crate::analysis::finding::{EventFinding, GroupFinding, GroupName, Notes, Ns, TraceFinding, guessed};
use crate::analysis::groups::group::Sort;
use crate::analysis::groups::summary::summarise;
use crate::analysis::reading::roster::Roster;
use crate::analysis::reading::selection::Selection;
use crate::analysis::reading::{Failure, SourceWindow};
use crate::analysis::slow::longest::Record;
use crate::analysis::slow::{AcceptAll, EventFilter, LongestCollector};
use crate::filter::Condition;
use crate::source::Source;
use reason::reason;
use verdict::verdicts;

pub use verdict::{
    Basis, Durations, Judged, Limit, Limits, Mode, Period, PeriodKind, Rule, RuleFinding, Shift, Unjudged,
    judge,
};

/// What is unusual in a trace.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Outliers {
    /// What was read.
    pub trace: TraceFinding,
    /// The rule and the limits that it came to; none if a threshold decides.
    pub rule: Option<Box<RuleFinding>>,
    /// What took longer than the user's threshold, if there is one.
    pub threshold: Option<Threshold>,
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
    /// The longest single events, the longest first.
    pub events: Vec<Outlier>,
    /// The number of single events after those.
    pub hidden_events: u64,
    /// Notes for the reader.
    pub notes: Notes,
}

/// What took longer than a threshold.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
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
#[non_exhaustive]
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
    fn new(record: &Record, limit: &Limit, trace: &TraceFinding) -> Self {
        let mut event = EventFinding::new(record, trace);
        event.reason = Some(reason(record, limit));
        Outlier { event, rule: limit.basis, limit: Ns(record.kind.ns(limit.above)) }
    }
}

/// Finds what is unusual; at most `limit` findings of each kind.
pub(in crate::analysis) fn outliers<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    rule: &Rule,
    limit: usize,
    cap: usize,
) -> Result<Outliers, Failure> {
    let found = verdicts(input, selection, rule, cap)?;
    let Judged { rule, durations, limits, mut modes, mut periods, unjudged, .. } = found.judged;
    let roster = Roster::with_kinds(Arc::clone(selection), limits.kinds());
    let (collected, _) = input.read(LongestCollector::new(roster, Arc::clone(&limits), limit))?;
    let LongestCollector { longest, passed: found_events, .. } = collected;
    let trace = found.trace;
    let records = longest.into_sorted();
    let mut notes = found.notes;
    notes.guessed_units = guessed(records.iter().map(|record| &*record.kind));
    let named = modes
        .iter()
        .map(|mode| &mode.name)
        .chain(periods.iter().flat_map(|period| period.groups.iter().map(|shift| &shift.name)));
    let is_guess = |name: &&GroupName| name.unit_is_guess;
    notes.guessed_units.extend(named.filter(is_guess).map(|name| name.event.clone()));
    let outlier = |record: &Record| {
        let kind = limits.kind_number(&record.kind)?;
        Some(Outlier::new(record, limits.of(kind, &record.key)?, &trace))
    };
    let events: Vec<Outlier> = records.iter().filter_map(outlier).collect();
    let (all_modes, all_periods) = (modes.len(), periods.len());
    modes.truncate(limit);
    periods.truncate(limit);
    Ok(Outliers {
        rule: Some(Box::new(rule)),
        threshold: None,
        judged: durations,
        found: found_events,
        implausible: notes.implausible,
        unjudged,
        hidden_periods: (all_periods - periods.len()) as u64,
        periods,
        hidden_modes: (all_modes - modes.len()) as u64,
        modes,
        hidden_events: found_events - events.len() as u64,
        events,
        notes,
        trace,
    })
}

/// Lists and counts events that took as long as a threshold or longer, however common.
pub(in crate::analysis) fn slower_than<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    threshold_ns: u64,
    limit: usize,
    cap: usize,
) -> Result<Outliers, Failure> {
    let mut selection = Selection::clone(selection);
    selection.conditions.push(Condition::at_least("--slower-than", "duration", threshold_ns));
    let selection = Arc::new(selection);
    let summary = summarise(input, &selection, Sort::Total, cap)?;
    let notes = Notes::of_summary(&summary);
    let collected = LongestCollector::new(Roster::new(Arc::clone(&selection)), AcceptAll, limit);
    let (collected, report) = input.read(collected)?;
    let trace = TraceFinding::new(&report);
    let outlier = |record: &Record| Outlier {
        event: EventFinding::new(record, &trace),
        rule: Basis::Threshold,
        limit: Ns(threshold_ns.into()),
    };
    let events: Vec<Outlier> = collected.longest.into_sorted().iter().map(outlier).collect();
    let timed = || summary.groups.iter().filter(|group| group.is_timed());
    let folded = summary.folded.as_ref().map_or(0, |folded| folded.total_ns);
    let groups = timed().take(limit).map(|group| GroupFinding::new(group, &[], &trace)).collect();
    Ok(Outliers {
        rule: None,
        threshold: Some(Threshold {
            slower_than: Ns(threshold_ns.into()),
            count: collected.passed,
            total: Ns(folded + timed().map(|group| group.total_ns()).sum::<u128>()),
            groups,
            hidden_groups: timed().count().saturating_sub(limit) as u64,
        }),
        judged: 0,
        found: collected.passed,
        implausible: notes.implausible,
        unjudged: Vec::new(),
        periods: Vec::new(),
        hidden_periods: 0,
        modes: Vec::new(),
        hidden_modes: 0,
        hidden_events: collected.passed - events.len() as u64,
        events,
        notes,
        trace,
    })
}

impl EventFilter for Arc<Limits> {
    #[inline]
    fn passes<'k>(&self, kind: usize, ticks: u64, key: impl FnOnce() -> &'k [u8]) -> bool {
        self.may_be_slow(kind, ticks) && self.of(kind, key()).is_some_and(|limit| limit.is_single(ticks))
    }
}

#[cfg(test)]
mod tests;
