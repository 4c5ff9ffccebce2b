//! The durations of a group, split where a gap is improbable: what is usual, and what lies far above it.

use super::gaps::{Level, Levels};
use super::rule::{FAR, SINGLES_MAX};
use crate::analysis::histogram::{Histogram, Quantile};

/// A part of the durations above the limit, all within a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cluster {
    pub low: u64,
    pub high: u64,
    pub count: u64,
    pub median: u64,
    /// What they add up to, within 0.1 %.
    pub total: u128,
    /// Whether no gap sets them apart: they are a long tail, and need not be alike.
    pub is_tail: bool,
}

/// What is usual for a group, and what is not.
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

/// From this share of a group on, modes are how the group is, and told in one line.
const COMMON: f64 = 0.01;

impl Split {
    /// Splits durations, of which there must be some.
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

/// Where what is slow begins at the earliest, given the 99th percentile of the rest.
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
        // The chance is shared out over all gaps that could be found: the sum of 1/i(i+1) is 1.
        let shared = probability / (above as f64 * (above as f64 + 1.0));
        low > far(p99, least_excess) && levels.probability(level) < shared
    };
    (first..levels.levels().len()).filter(is_cut).collect()
}

/// The modes above the lowest cut, and the number of durations that are single.
fn clusters(levels: &[Level], cuts: &[usize], has_tail: bool, all: u64) -> (Vec<Cluster>, u64) {
    let ends = cuts.iter().skip(1).copied().chain([levels.len()]);
    let mut clusters: Vec<Cluster> =
        cuts.iter().zip(ends).map(|(&begin, end)| Cluster::new(&levels[begin..end])).collect();
    if let Some(first) = clusters.first_mut().filter(|_| has_tail) {
        first.is_tail = true;
    }
    // What only the tail says is told in one line, because a power law has several by chance.
    let is_small =
        |cluster: &&Cluster| cluster.count == 1 || (cluster.count <= SINGLES_MAX && !cluster.is_tail);
    let singles: u64 = clusters.iter().filter(is_small).map(|cluster| cluster.count).sum();
    if singles > SINGLES_MAX {
        // Too many to list, and too different to be alike: one line for all.
        return (vec![Cluster { is_tail: true, ..Cluster::new(&levels[cuts[0]..]) }], 0);
    }
    let mut modes: Vec<Cluster> = Vec::new();
    let is_common = |cluster: &Cluster| cluster.count as f64 >= COMMON * all as f64;
    for cluster in clusters.iter().filter(|cluster| !is_small(cluster)) {
        match modes.last_mut() {
            Some(last) if is_common(last) && is_common(cluster) => {
                let both = levels.partition_point(|level| level.low < last.low)
                    ..levels.partition_point(|level| level.low <= cluster.high);
                *last = Cluster::new(&levels[both]);
            }
            _ => modes.push(*cluster),
        }
    }
    // A few durations between modes that were joined belong to them.
    let inside =
        |cluster: &&Cluster| modes.iter().any(|mode| mode.low <= cluster.low && cluster.high <= mode.high);
    let joined: u64 = clusters.iter().filter(is_small).filter(inside).map(|cluster| cluster.count).sum();
    (modes, singles - joined)
}

impl Cluster {
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
