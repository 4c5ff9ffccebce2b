//! How durations are distributed.

use std::sync::Arc;

use serde::Serialize;

use crate::durations::histogram::Histogram;
use crate::durations::octave::{OCTAVES, octave_of, octave_start};
use crate::finding::{GroupName, Notes, Ns, TraceFinding};
use crate::groups::{GROUP_CAP, Group, Quantile, Sort, summarise};
use crate::reading::{Failure, Selection, SourceWindow};
use crate::source::Source;

/// Histograms of the first groups of a trace.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hist {
    /// What was read.
    pub trace: TraceFinding,
    /// The first groups; those without durations have no buckets.
    pub groups: Vec<HistGroup>,
    /// The number of groups with durations after those.
    pub hidden_groups: u64,
    /// Notes for the reader.
    pub notes: Notes,
}

/// A group and its histogram.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistGroup {
    /// Which group, and its main figures.
    #[serde(flatten)]
    pub outline: Outline,
    /// The finest buckets, without empty ones.
    pub buckets: Vec<HistBucket>,
    /// A row for each power of two from the shortest to the longest duration, empty ones included.
    pub octaves: Vec<Octave>,
}

/// A group and its main figures.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outline {
    /// Which group.
    #[serde(flatten)]
    pub name: GroupName,
    /// The number of events.
    pub count: u64,
    /// The number of those whose duration is implausible.
    pub implausible: u64,
    /// The median.
    #[serde(rename = "p50_us")]
    pub p50: Option<Ns>,
    /// The 99th percentile.
    #[serde(rename = "p99_us")]
    pub p99: Option<Ns>,
    /// The longest.
    #[serde(rename = "max_us")]
    pub max: Option<Ns>,
}

/// Durations that are counted together.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistBucket {
    /// The shortest that belongs here.
    #[serde(rename = "from_us")]
    pub from: Ns,
    /// The first that does not.
    #[serde(rename = "to_us")]
    pub to: Ns,
    /// The number of durations.
    pub count: u64,
}

/// Durations from one power of two to the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Octave {
    /// The shortest that belongs here.
    #[serde(rename = "from_us")]
    pub from: Ns,
    /// The number of durations.
    pub count: u64,
    /// The share of the group's durations that are here or shorter.
    pub cumulative_share: f64,
}

/// Aggregates events by group, ranks the groups, and keeps the first until `limit` of them have durations.
pub(crate) fn hist<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    sort: Sort,
    limit: usize,
) -> Result<Hist, Failure> {
    let summary = summarise(input, selection, sort, GROUP_CAP)?;
    let timed = summary.groups.iter().filter(|group| group.is_timed()).count();
    let mut shown = 0;
    let is_shown = |group: &&Group| {
        shown += usize::from(group.is_timed());
        shown <= limit
    };
    Ok(Hist {
        trace: TraceFinding::new(&summary.report),
        groups: summary.groups.iter().take_while(is_shown).map(HistGroup::new).collect(),
        hidden_groups: timed.saturating_sub(limit) as u64,
        notes: Notes::of_summary(&summary),
    })
}

impl Outline {
    pub(crate) fn new(group: &Group) -> Self {
        Outline {
            name: GroupName::of(group),
            count: group.figures.count(),
            implausible: group.figures.implausible,
            p50: group.percentile_ns(Quantile::P50).map(Ns),
            p99: group.percentile_ns(Quantile::P99).map(Ns),
            max: group.max_ns().map(Ns),
        }
    }
}

impl HistGroup {
    pub(crate) fn new(group: &Group) -> Self {
        let durations = &group.figures.durations;
        let buckets = durations.buckets().into_iter().map(|bucket| HistBucket {
            from: Ns(group.kind.ns(bucket.low)),
            to: Ns(group.kind.ns(bucket.high) + group.kind.unit_ns()),
            count: bucket.count,
        });
        let counts = octaves(durations);
        let first = counts.iter().position(|&count| count > 0).unwrap_or(0);
        let end = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        let all = durations.count() as f64;
        let mut below = 0;
        let octave = |octave: usize| {
            below += counts[octave];
            let from = Ns(group.kind.ns(octave_start(octave)));
            Octave { from, count: counts[octave], cumulative_share: below as f64 / all }
        };
        HistGroup {
            outline: Outline::new(group),
            buckets: buckets.collect(),
            octaves: (first..end).map(octave).collect(),
        }
    }
}

fn octaves(durations: &Histogram) -> [u64; OCTAVES] {
    let mut octaves = [0; OCTAVES];
    for bucket in durations.buckets() {
        octaves[octave_of(bucket.low)] += bucket.count;
    }
    octaves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_power_of_two_is_a_row() {
        let mut durations = Histogram::default();
        [0, 1, 2, 3, 4, 1 << 40].into_iter().for_each(|ticks| durations.record(ticks));
        let octaves = octaves(&durations);
        assert_eq!((octaves[0], octaves[1], octaves[2], octaves[3], octaves[41]), (1, 1, 2, 1, 1));
    }
}
