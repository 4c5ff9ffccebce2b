//! Durations that are improbable for their group.
//!
//! Two readings: the first sums groups up, the second picks the events above their group's limit.

use std::cmp::Reverse;
use std::sync::Arc;

use serde::Serialize;

use super::finding::{EventFinding, Notes, Ns, TraceFinding, guessed};
use super::group::Sort;
use super::groups::Groups;
use super::histogram::Histogram;
use super::kinds::Kinds;
use super::longest::Record;
use super::reading::{Failure, Reading};
use super::reason::reason;
use super::roster::Roster;
use super::selection::Selection;
use super::slow::{Sieve, Sift};
use super::summary::summarise;
use super::tail::{Basis, Judged, Rule};
use crate::source::Source;

/// The outliers of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct Outliers {
    /// What was read.
    pub trace: TraceFinding,
    /// What is less probable than this is an outlier.
    pub probability: f64,
    /// What an outlier exceeds the percentile that it is compared with by, at least.
    #[serde(rename = "least_excess_us")]
    pub least_excess: Ns,
    /// The number of plausible durations that were judged.
    pub judged: u64,
    /// The number of outliers in all.
    pub found: u64,
    /// The number of events with an implausible duration.
    pub implausible: u64,
    /// The events that were seen too rarely to be judged, those with the longest durations first.
    pub unjudged: Vec<Unjudged>,
    /// The longest outliers, the longest first.
    pub events: Vec<Outlier>,
    /// The number of outliers after those.
    pub hidden_events: u64,
    /// What a reader must know.
    pub notes: Notes,
}

/// An event that was seen too rarely to be judged.
#[derive(Clone, Debug, Serialize)]
pub struct Unjudged {
    /// The full name.
    pub event: String,
    /// The number of plausible durations.
    pub count: u64,
    /// The longest of them.
    #[serde(rename = "max_us")]
    pub max: Option<Ns>,
}

/// An outlier and why it is one.
#[derive(Clone, Debug, Serialize)]
pub struct Outlier {
    /// The event, with its reason.
    #[serde(flatten)]
    pub event: EventFinding,
    /// What its limit rests on.
    pub rule: Basis,
    /// Durations above this are outliers.
    #[serde(rename = "limit_us")]
    pub limit: Ns,
}

impl Outlier {
    fn new(record: &Record, judged: &Judged, trace: &TraceFinding) -> Self {
        let mut event = EventFinding::new(record, trace);
        event.reason = Some(reason(record, judged));
        Outlier { event, rule: judged.basis, limit: Ns(record.kind.ns(judged.limit)) }
    }
}

/// Finds the outliers, and keeps the longest, at most `limit`.
pub(super) fn outliers<S: Source>(
    reading: &mut Reading<'_, S>,
    selection: &Arc<Selection>,
    rule: &Rule,
    limit: usize,
    cap: usize,
) -> Result<Outliers, Failure> {
    let summary = summarise(reading, selection, Sort::Total, cap)?;
    let mut notes = Notes::of_summary(&summary);
    let kinds: Kinds = summary.pools.iter().map(|(kind, _)| Arc::clone(kind)).collect();
    let mut limits = Limits::default();
    let mut unjudged = Vec::new();
    let mut judged = 0;
    for (kind, pool) in &summary.pools {
        let folded = kind.unit.and_then(|unit| rule.judge(&Histogram::default(), pool, unit));
        match folded {
            Some(_) => judged += pool.count(),
            None if pool.count() > 0 => unjudged.push(Unjudged {
                event: kind.event.clone(),
                count: pool.count(),
                max: pool.max().map(|ticks| Ns(kind.ns(ticks))),
            }),
            None => {}
        }
        limits.lowest.push(folded.map_or(u64::MAX, |judged| judged.limit));
        limits.folded.push(folded);
    }
    unjudged.sort_by_key(|event| Reverse(event.max));
    for group in &summary.groups {
        let Some(kind) = kinds.number(&group.kind) else { continue };
        let Some(unit) = group.kind.unit else { continue };
        if let Some(judged) = rule.judge(&group.figures.durations, &summary.pools[kind].1, unit) {
            limits.lowest[kind] = limits.lowest[kind].min(judged.limit);
            limits.groups.entry(kind, &group.key_bytes, || judged);
        }
    }
    let limits = Arc::new(limits);
    let roster = Roster::with_kinds(Arc::clone(selection), kinds);
    let (sift, report) = reading.read(Sift::new(roster, Arc::clone(&limits), limit))?;
    let Sift { roster, longest, passed: found, .. } = sift;
    let trace = TraceFinding::new(&report);
    let records = longest.into_sorted();
    notes.guessed_units = guessed(records.iter().map(|record| &*record.kind));
    let outlier = |record: &Record| {
        let kind = roster.kind_number(&record.kind)?;
        Some(Outlier::new(record, limits.of(kind, &record.key)?, &trace))
    };
    let events: Vec<Outlier> = records.iter().filter_map(outlier).collect();
    Ok(Outliers {
        probability: rule.probability,
        least_excess: Ns(rule.least_excess_ns.into()),
        judged,
        found,
        implausible: notes.implausible,
        unjudged,
        hidden_events: found - events.len() as u64,
        events,
        notes,
        trace,
    })
}

/// The limit of each group.
#[derive(Debug, Default)]
struct Limits {
    groups: Groups<Judged>,
    /// For each kind, the limit of groups that were folded.
    folded: Vec<Option<Judged>>,
    /// For each kind, the lowest limit of all its groups.
    lowest: Vec<u64>,
}

impl Limits {
    #[inline]
    fn of(&self, kind: usize, key: &[u8]) -> Option<&Judged> {
        self.groups.get(kind, key).or_else(|| self.folded.get(kind)?.as_ref())
    }
}

impl Sieve for Arc<Limits> {
    #[inline]
    fn passes<'k>(&self, kind: usize, ticks: u64, key: impl FnOnce() -> &'k [u8]) -> bool {
        self.lowest.get(kind).is_some_and(|&lowest| ticks > lowest)
            && self.of(kind, key()).is_some_and(|judged| ticks > judged.limit)
    }
}

#[cfg(test)]
mod tests;
