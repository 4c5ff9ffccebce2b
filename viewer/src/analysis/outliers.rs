//! Durations that are improbable for their group.
//!
//! Two readings: the first sums groups up, the second picks the events above their group's limit.

use std::sync::Arc;

use super::group::Sort;
use super::groups::Groups;
use super::histogram::Histogram;
use super::longest::Record;
use super::reading::{Failure, Reading};
use super::roster::Roster;
use super::selection::{Kind, LeftOut, Selection};
use super::slow::{Sieve, Sift};
use super::tail::{Judged, Rule};
use super::top::top;
use crate::source::Source;
use ctf_reader::Report;

/// The outliers of a trace.
#[derive(Debug)]
pub struct Outliers {
    /// What was read.
    pub report: Report,
    /// The longest outliers, the longest first.
    pub events: Vec<Outlier>,
    /// How many outliers there are in all.
    pub found: u64,
    /// How many plausible durations were judged.
    pub judged: u64,
    /// The events that were seen too rarely to be judged, with how many durations there are.
    pub unjudged: Vec<(Arc<Kind>, Histogram)>,
    /// How many events have an implausible duration.
    pub implausible: u64,
    /// What was left out.
    pub left_out: LeftOut,
}

/// An outlier and why it is one.
#[derive(Debug)]
pub struct Outlier {
    /// The event.
    pub record: Record,
    /// What it was judged by.
    pub judged: Judged,
}

/// Finds the outliers, and keeps at most so many of the longest.
pub fn outliers<S: Source>(
    reading: &mut Reading<'_, S>,
    selection: &Arc<Selection>,
    rule: &Rule,
    limit: usize,
    cap: usize,
) -> Result<Outliers, Failure> {
    let summary = top(reading, selection, Sort::Total, cap)?;
    let (kinds, pools): (Vec<Arc<Kind>>, Vec<Histogram>) = summary.pools.into_iter().unzip();
    let mut limits = Limits::default();
    let mut unjudged = Vec::new();
    let mut judged = 0;
    for (kind, pool) in kinds.iter().zip(&pools) {
        let folded = kind.unit.and_then(|unit| rule.judge(&Histogram::default(), pool, unit));
        match folded {
            Some(_) => judged += pool.count(),
            None if pool.count() > 0 => unjudged.push((Arc::clone(kind), pool.clone())),
            None => {}
        }
        limits.lowest.push(folded.map_or(u64::MAX, |judged| judged.limit));
        limits.folded.push(folded);
    }
    let mut implausible = 0;
    for group in &summary.groups {
        implausible += group.figures.implausible;
        let Some(kind) = kinds.iter().position(|kind| *kind == group.kind) else { continue };
        let Some(unit) = group.kind.unit else { continue };
        if let Some(judged) = rule.judge(&group.figures.durations, &pools[kind], unit) {
            limits.lowest[kind] = limits.lowest[kind].min(judged.limit);
            limits.groups.entry(kind, &group.key_bytes, || judged);
        }
    }
    implausible += summary.folded.map_or(0, |folded| folded.implausible);
    let limits = Arc::new(limits);
    let roster = Roster::with_kinds(Arc::clone(selection), kinds);
    let (sift, report) = reading.read(Sift::new(roster, Arc::clone(&limits), limit))?;
    let Sift { roster, longest, passed: found, .. } = sift;
    let events = longest.into_sorted().into_iter();
    let events = events.filter_map(|record| {
        let kind = roster.kinds.iter().position(|kind| *kind == record.kind)?;
        Some(Outlier { judged: *limits.of(kind, &record.key)?, record })
    });
    let events = events.collect();
    Ok(Outliers { report, events, found, judged, unjudged, implausible, left_out: summary.left_out })
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
