//! The durations of a group, split at an improbable gap into usual and slow ones.

use std::ops::Range;

use super::gaps::{Level, Levels};
use super::rule::{FAR, SINGLES_MAX};
use crate::analysis::durations::histogram::Histogram;
use crate::analysis::groups::quantile::Quantile;

/// A part of the durations above the limit, all within a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cluster {
    pub low: u64,
    pub high: u64,
    pub count: u64,
    pub median: u64,
    /// What they add up to, within 0.1 %.
    pub total: u128,
    /// Whether they are a long tail, without a gap below them, and not necessarily similar.
    pub is_tail: bool,
}

/// The usual and the slow durations of a group.
#[derive(Clone, Debug)]
pub(super) struct Split {
    /// Durations above this are slow.
    pub above: u64,
    /// The number of durations that are not.
    pub usual_count: u64,
    /// Their median.
    pub median: u64,
    /// Their 99th percentile.
    pub p99: u64,
    /// The highest percentile that their number can tell, and its value.
    pub reference: (Quantile, u64),
    /// Clusters above the limit that are modes, from the shortest on.
    pub modes: Vec<Cluster>,
    /// The number of durations above the limit that are in no mode.
    pub singles: u64,
}

/// Modes with at least this share of a group are normal for it, and are reported in one line.
const COMMON: f64 = 0.01;

impl Split {
    /// Splits durations, which must not be empty.
    pub fn new(durations: &Histogram, unit_ns: u128, probability: f64, least_excess: u64) -> Split {
        let levels = Levels::new(durations, unit_ns);
        let mut cuts = cuts(&levels, probability / 2.0, least_excess);
        let end = levels.end(cuts.first().copied().unwrap_or(levels.levels().len()), probability / 2.0);
        let end = end.max(far(percentile(&levels, &cuts, 99, 100), least_excess));
        let beyond = levels.levels().partition_point(|level| level.low <= end);
        let has_tail = beyond < cuts.first().copied().unwrap_or(levels.levels().len());
        if has_tail {
            cuts.insert(0, beyond);
        }
        let lowest = cuts.first().copied().unwrap_or(levels.levels().len());
        let slow = levels.levels().get(lowest).map_or(0, |level| level.at_or_above);
        let usual = levels.count() - slow;
        let at = |part: u64, of: u64| percentile(&levels, &cuts, part, of);
        let top = levels.levels()[lowest - 1].high;
        let next = levels.levels().get(lowest).map_or(u64::MAX, |level| level.low - 1);
        let (modes, singles) = clusters(levels.levels(), &cuts, has_tail, levels.count());
        let quantile = match usual {
            1_000.. => Quantile::P999,
            100.. => Quantile::P99,
            20.. => Quantile::P90,
            _ => Quantile::P50,
        };
        Split {
            above: end.clamp(top, next),
            usual_count: usual,
            median: at(50, 100),
            p99: at(99, 100),
            reference: (quantile, at(quantile.part.into(), quantile.of.into())),
            modes,
            singles,
        }
    }
}

/// A percentile of what lies below the lowest cut.
fn percentile(levels: &Levels, cuts: &[usize], part: u64, of: u64) -> u64 {
    let slow = cuts.first().map_or(0, |&cut| levels.levels()[cut].at_or_above);
    let usual = levels.count() - slow;
    levels.under(slow + usual - (usual * part).div_ceil(of).max(1)).typical()
}

/// The least limit, given the 99th percentile of the rest.
fn far(p99: u64, least_excess: u64) -> u64 {
    (p99 as f64 * FAR).max(p99.saturating_add(least_excess) as f64) as u64
}

/// The levels below which there is a gap that is too improbable, and too far up, to be usual.
fn cuts(levels: &Levels, probability: f64, least_excess: u64) -> Vec<usize> {
    let count = levels.count();
    let first = levels.levels().partition_point(|level| 2 * level.at_or_above > count).max(1);
    let is_cut = |&level: &usize| {
        let Level { low, at_or_above: above, .. } = levels.levels()[level];
        let below = count - above;
        let p99 = levels.under(above + below - (below * 99).div_ceil(100).max(1)).typical();
        // The probability is divided among all possible gaps: the sum of 1/i(i+1) is 1.
        let shared = probability / (above as f64 * (above as f64 + 1.0));
        low > far(p99, least_excess) && levels.probability(level) < shared
    };
    (first..levels.levels().len()).filter(is_cut).collect()
}

/// The modes above the lowest cut, and the number of durations that are single.
fn clusters(levels: &[Level], cuts: &[usize], has_tail: bool, all: u64) -> (Vec<Cluster>, u64) {
    let ends = cuts.iter().skip(1).copied().chain([levels.len()]);
    let parts = cuts.iter().zip(ends).map(|(&begin, end)| begin..end);
    let mut clusters: Vec<(Range<usize>, Cluster)> = Vec::new();
    for part in parts {
        let mut cluster = (part.clone(), Cluster::new(&levels[part]));
        // A tail is not necessarily similar.
        cluster.1.is_tail = has_tail && clusters.is_empty();
        match clusters.last_mut() {
            Some(last) if last.1.is_one_with(&cluster.1, all) => {
                let both = last.0.start..cluster.0.end;
                let is_tail = last.1.is_tail && 2 * last.1.count > cluster.1.count;
                *last = (both.clone(), Cluster { is_tail, ..Cluster::new(&levels[both]) });
            }
            _ => clusters.push(cluster),
        }
    }
    let is_single = |cluster: &&Cluster| cluster.count == 1;
    let clusters: Vec<Cluster> = clusters.into_iter().map(|(_, cluster)| cluster).collect();
    let singles: u64 = clusters.iter().filter(is_single).count() as u64;
    if singles > SINGLES_MAX {
        // Too many to list, and too different to be a mode: one line for all.
        return (vec![Cluster { is_tail: true, ..Cluster::new(&levels[cuts[0]..]) }], 0);
    }
    (clusters.iter().filter(|cluster| !is_single(cluster)).copied().collect(), singles)
}

impl Cluster {
    /// Whether the next cluster belongs to this one: because it is not far above it, because this one has few
    /// durations in comparison, or because both are common.
    fn is_one_with(&self, next: &Cluster, all: u64) -> bool {
        let is_common = |cluster: &Cluster| cluster.count as f64 >= COMMON * all as f64;
        (next.low as f64) < FAR * self.high as f64
            || 10 * self.count < next.count
            || (is_common(self) && is_common(next))
    }

    fn new(levels: &[Level]) -> Cluster {
        let count = levels.iter().map(|level| level.count).sum::<u64>();
        let mut below = 0;
        let median = levels.iter().find(|level| {
            below += level.count;
            2 * below >= count
        });
        Cluster {
            low: levels.first().map_or(0, |level| level.low),
            high: levels.last().map_or(0, |level| level.high),
            count,
            median: median.map_or(0, Level::typical),
            total: levels.iter().map(|level| u128::from(level.typical()) * u128::from(level.count)).sum(),
            is_tail: false,
        }
    }
}
