//! Whether a group changed more than the others of the same seconds did.
//!
//! A machine that becomes busier makes all groups slower, for seconds or for good, and hides what one of them lost. So the level of
//! a group in each block, the mean of the logarithms of its durations, is compared with what the other groups have in common in
//! that block: the median of how far they are from their own levels. One group that changed does not move a median. How strongly the
//! group follows the others is estimated within the recordings, and its uncertainty counts (an analysis of covariance).

use super::blocks::{BLOCKS, Sides};
use super::finding::Change;
use super::statistics::BEYOND;
use super::wandering::{Level, Wandering};
use crate::durations::histogram::Histogram;

/// The fewest other groups, and the fewest blocks of each recording, that show what groups have in common.
const FEWEST_OTHERS: usize = 3;
const FEWEST_BLOCKS: usize = 6;

/// A change that is never told, and the share of what the others changed by that is not: groups do not follow a machine in exactly
/// the same way.
const IGNORED: f64 = 0.02;
const IGNORED_OF_OTHERS: f64 = 0.1;

/// The share of the error rate that these verdicts have; those on each group alone have the rest.
pub const SHARE_OF_RATE: f64 = 0.5;

/// How a group changed, compared with the others.
#[derive(Clone, Copy, Debug)]
pub struct Relative {
    /// After divided by before, the lowest and the highest that the data allow (99 %).
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
    /// How likely such a change is by chance (the logarithm).
    pub ln_probability: f64,
}

impl Relative {
    /// As a figure of the group.
    pub fn change(self) -> Change {
        Change { figure: "level", ratio: Some(self.ratio), low: Some(self.low), high: Some(self.high) }
    }
}

/// How each group changed, compared with the others; none if there are too few of them.
pub fn relative(groups: &[Sides<'_>]) -> Vec<Option<Relative>> {
    let levels: Vec<Option<[Vec<Option<f64>>; 2]>> = groups.iter().map(levels).collect();
    let Some(begins) = groups.first().map(|sides| sides.map(|side| side.begins)) else {
        return vec![None; groups.len()];
    };
    let sorted = [0, 1].map(|side| {
        let of_block = |block: usize| {
            let mut known: Vec<f64> =
                levels.iter().flatten().filter_map(|levels| levels[side][block]).collect();
            known.sort_by(f64::total_cmp);
            known
        };
        (0..BLOCKS).map(of_block).collect::<Vec<_>>()
    });
    let of_group = |number: usize| {
        let sides = levels[number].as_ref()?;
        compared(&[0, 1].map(|side| {
            let beside = |block: usize| {
                let own = sides[side][block]?;
                let others = middle_of_others(&sorted[side][block], own)?;
                Some(Level { own, others, begins: begins[side][block] })
            };
            (0..BLOCKS).map(beside).collect::<Vec<_>>()
        }))
    };
    (0..groups.len()).map(of_group).collect()
}

/// The median of the levels of a block without one of them; none if these are too few.
fn middle_of_others(sorted: &[f64], own: f64) -> Option<f64> {
    let others = sorted.len() - 1;
    let place = sorted.partition_point(|level| level.total_cmp(&own).is_lt());
    let other = |number: usize| sorted[number + usize::from(number >= place)];
    (others >= FEWEST_OTHERS).then(|| (other((others - 1) / 2) + other(others / 2)) / 2.0)
}

/// The level of a group in each block, around the middle of its levels in both recordings.
fn levels(sides: &Sides<'_>) -> Option<[Vec<Option<f64>>; 2]> {
    let level = |block: &Histogram| {
        let logarithm = |ticks: u64| (ticks as f64 + 0.5).ln();
        let sum: f64 = block.buckets().iter().map(|bucket| logarithm(bucket.low) * bucket.count as f64).sum();
        (block.count() > 0).then(|| sum / block.count() as f64)
    };
    let mut found = sides.map(|side| side.blocks.iter().map(level).collect::<Vec<_>>());
    found.iter_mut().for_each(|side| side.resize(BLOCKS, None));
    let means = found.each_ref().map(|side| mean(side.iter().flatten().copied()));
    let middle = means[0]?.midpoint(means[1]?);
    Some(found.map(|side| side.into_iter().map(|level| level.map(|level| level - middle)).collect()))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    (count > 0.0).then(|| sum / count)
}

/// The change of a group that the others do not explain.
fn compared(sides: &[Vec<Option<Level>>; 2]) -> Option<Relative> {
    let means = sides.each_ref().map(|side| mean(side.iter().flatten().map(|level| level.others)));
    if sides.iter().any(|side| side.iter().flatten().count() < FEWEST_BLOCKS) {
        return None;
    }
    let of_others = means[1]? - means[0]?;
    let wandering = Wandering::new(sides.each_ref().map(Vec::as_slice));
    let (change, _) = wandering.change()?;
    let (ln_probability, _) = wandering.probability(IGNORED + IGNORED_OF_OTHERS * of_others.abs())?;
    let reach = wandering.reach(BEYOND);
    Some(Relative {
        ratio: change.exp(),
        low: (change - reach).exp(),
        high: (change + reach).exp(),
        ln_probability,
    })
}
