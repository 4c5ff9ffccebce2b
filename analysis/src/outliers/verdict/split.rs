//! The durations of a group, split at an improbable gap into usual and slow ones.

use std::ops::Range;

use super::gaps::{Level, Levels, Scale};
use super::rule::{FAR, SINGLES_MAX};
use crate::durations::histogram::Histogram;
use crate::groups::quantile::Quantile;

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

/// Modes with at least this share of a group are normal for it.
const COMMON: f64 = 0.01;
/// And those with this number of durations are judged as a group is.
const BODY: u64 = 100;
/// Modes that are normal for a group are one line if they are not further apart than this.
const NEAR: f64 = 30.0;

/// Where a part of the durations begins, as a number of a level, and whether it is a tail.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cut {
    at: usize,
    is_tail: bool,
}

impl Split {
    /// Splits durations, which must not be empty. What is known of similar groups helps where there are few.
    pub fn new(
        durations: &Histogram,
        unit_ns: u128,
        probability: f64,
        least_excess: u64,
        similar: Option<Scale>,
    ) -> Split {
        let levels = Levels::new(durations, unit_ns);
        let (mut cuts, end) = body(&levels, probability, least_excess, similar);
        // A mode that is normal for the group is a body, too: what is slow for it does not disappear in it.
        let mut share = probability;
        let mut part = 0;
        while let Some(&Cut { at, is_tail }) = cuts.get(part) {
            let next = cuts.get(part + 1).map_or(levels.levels().len(), |cut| cut.at);
            if !is_tail && levels.count_in(at..next) >= common(levels.count()).max(BODY) {
                share /= 2.0;
                let above = body(&levels.above(at), share, least_excess, None).0;
                cuts.truncate(part + 1);
                cuts.extend(above.iter().map(|cut| Cut { at: at + cut.at, ..*cut }));
            }
            part += 1;
        }
        let lowest = cuts.first().map_or(levels.levels().len(), |cut| cut.at);
        let slow = levels.levels().get(lowest).map_or(0, |level| level.at_or_above);
        let usual = levels.count() - slow;
        let at = |part: u64, of: u64| percentile(&levels, lowest, part, of);
        let top = levels.levels()[lowest - 1].high;
        let next = levels.levels().get(lowest).map_or(u64::MAX, |level| level.low - 1);
        let (modes, singles) = clusters(levels.levels(), &cuts, levels.count());
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

/// What lies above the lowest main body, in parts, and where that body ends.
fn body(levels: &Levels, probability: f64, least_excess: u64, similar: Option<Scale>) -> (Vec<Cut>, u64) {
    let gaps = gaps(levels, probability / 2.0, least_excess, similar);
    let lowest = gaps.first().copied().unwrap_or(levels.levels().len());
    let end = levels.end(lowest, probability / 2.0);
    let end = end.max(far(percentile(levels, lowest, 99, 100), least_excess));
    let beyond = levels.levels().partition_point(|level| level.low <= end);
    let tail = (beyond < lowest).then_some(Cut { at: beyond, is_tail: true });
    (tail.into_iter().chain(gaps.into_iter().map(|at| Cut { at, is_tail: false })).collect(), end)
}

/// The number of durations that make a mode normal for a group.
fn common(all: u64) -> u64 {
    (COMMON * all as f64).ceil() as u64
}

/// A percentile of what lies below a level.
fn percentile(levels: &Levels, lowest: usize, part: u64, of: u64) -> u64 {
    let slow = levels.levels().get(lowest).map_or(0, |level| level.at_or_above);
    let usual = levels.count() - slow;
    levels.under(slow + usual - (usual * part).div_ceil(of).max(1)).typical()
}

/// The least limit, given the 99th percentile of the rest.
fn far(p99: u64, least_excess: u64) -> u64 {
    (p99 as f64 * FAR).max(p99.saturating_add(least_excess) as f64) as u64
}

/// The levels below which there is a gap that is too improbable, and too far up, to be usual.
fn gaps(levels: &Levels, probability: f64, least_excess: u64, similar: Option<Scale>) -> Vec<usize> {
    let count = levels.count();
    let first = levels.levels().partition_point(|level| 2 * level.at_or_above > count).max(1);
    let is_cut = |&level: &usize| {
        let Level { low, at_or_above: above, .. } = levels.levels()[level];
        let below = count - above;
        let p99 = levels.under(above + below - (below * 99).div_ceil(100).max(1)).typical();
        // The probability is divided among all possible gaps: the sum of 1/i(i+1) is 1.
        let shared = probability / (above as f64 * (above as f64 + 1.0));
        let is_improbable =
            || levels.probability(level) < shared || levels.is_alone(level, 2.0 * shared, similar.as_ref());
        low > far(p99, least_excess) && is_improbable()
    };
    (first..levels.levels().len()).filter(|&level| levels.may_be_apart(level)).filter(is_cut).collect()
}

/// The modes above the lowest cut, and the number of durations that are single.
fn clusters(levels: &[Level], cuts: &[Cut], all: u64) -> (Vec<Cluster>, u64) {
    let ends = cuts.iter().skip(1).map(|cut| cut.at).chain([levels.len()]);
    let mut clusters: Vec<(Range<usize>, Cluster)> = Vec::new();
    for (&Cut { at, is_tail }, end) in cuts.iter().zip(ends) {
        // A tail is not necessarily similar.
        let cluster = (at..end, Cluster { is_tail, ..Cluster::new(&levels[at..end]) });
        match clusters.last_mut() {
            Some(last) if last.1.is_one_with(&cluster.1, all) => {
                let both = last.0.start..cluster.0.end;
                let is_tail = last.1.is_tail && 2 * last.1.count > cluster.1.count;
                *last = (both.clone(), Cluster { is_tail, ..Cluster::new(&levels[both]) });
            }
            _ => clusters.push(cluster),
        }
    }
    let is_single = |(_, cluster): &&(Range<usize>, Cluster)| cluster.count == 1;
    let mut singles = clusters.iter().filter(is_single).count() as u64;
    if singles > SINGLES_MAX
        && let Some(first) = clusters.iter().position(|cluster| is_single(&cluster))
    {
        // Too many to list, and too different to be a mode: one line for all from the first on.
        let all = clusters[first].0.start..levels.len();
        clusters.truncate(first);
        clusters.push((all.clone(), Cluster { is_tail: true, ..Cluster::new(&levels[all]) }));
        singles = 0;
    }
    let modes = clusters.iter().filter(|cluster| !is_single(cluster));
    (modes.map(|(_, cluster)| *cluster).collect(), singles)
}

impl Cluster {
    /// Whether the next cluster belongs to this one: because it is not far above it, because this one has few
    /// durations in comparison, or because both are normal for the group and not far apart.
    fn is_one_with(&self, next: &Cluster, all: u64) -> bool {
        let is_common = |cluster: &Cluster| !cluster.is_tail && cluster.count >= common(all);
        match is_common(self) {
            true => is_common(next) && (next.median as f64) < NEAR * self.median.max(1) as f64,
            false => (next.low as f64) < FAR * self.high as f64 || 10 * self.count < next.count,
        }
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
