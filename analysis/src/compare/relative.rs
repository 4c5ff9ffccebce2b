//! Whether a group changed more than the others of the same seconds did.
//!
//! A machine that becomes busier makes all groups slower, for seconds or for good, and hides what one of them lost. So the level of
//! a group in each block, the mean of the logarithms of its durations, is compared with what the other groups have in common in
//! that block: the median of how far they are from their own levels. One group that changed does not move a median. How strongly the
//! group follows the others is estimated within the recordings, and its uncertainty counts (an analysis of covariance).

use super::blocks::BLOCKS;
use super::finding::Change;
use super::statistics::{BEYOND, Spread};
use crate::durations::histogram::Histogram;
use crate::outliers::verdict::{ln_student_tail, student_quantile, tail_quantile};

/// The fewest other groups, and the fewest blocks of each recording, that show what groups have in common.
const FEWEST_OTHERS: usize = 3;
const FEWEST_BLOCKS: usize = 6;

/// A change that is never told, and the share of what the others changed by that is not: groups do not follow a machine in exactly
/// the same way.
const IGNORED: f64 = 0.02;
const IGNORED_OF_OTHERS: f64 = 0.1;

/// The share of the error rate that these verdicts have, beside those on each group alone.
pub const SHARE_OF_RATE: f64 = 0.2;

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

/// The durations of a group in the blocks of both recordings.
pub type Sides<'h> = [&'h [Histogram]; 2];

/// How each group changed, compared with the others; none if there are too few of them.
pub fn relative(groups: &[Option<Sides<'_>>]) -> Vec<Option<Relative>> {
    let levels: Vec<Option<[Vec<Option<f64>>; 2]>> =
        groups.iter().map(|group| group.as_ref().and_then(levels)).collect();
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
        let pairs = [0, 1].map(|side| {
            let pair = |block: usize| {
                let own = sides[side][block]?;
                Some((own, middle_of_others(&sorted[side][block], own)?))
            };
            (0..BLOCKS).filter_map(pair).collect::<Vec<(f64, f64)>>()
        });
        compared(&pairs)
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
    let mut found = sides.map(|side| side.iter().map(level).collect::<Vec<_>>());
    found.iter_mut().for_each(|side| side.resize(BLOCKS, None));
    let means = found.each_ref().map(|side| mean(side.iter().flatten().copied()));
    let middle = means[0]?.midpoint(means[1]?);
    Some(found.map(|side| side.into_iter().map(|level| level.map(|level| level - middle)).collect()))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    (count > 0.0).then(|| sum / count)
}

/// The change of the first of each pair that the second does not explain.
fn compared(pairs: &[Vec<(f64, f64)>; 2]) -> Option<Relative> {
    if pairs.iter().any(|side| side.len() < FEWEST_BLOCKS) {
        return None;
    }
    let means = pairs.each_ref().map(|side| {
        let [own, others] = [|pair: &(f64, f64)| pair.0, |pair: &(f64, f64)| pair.1];
        (mean(side.iter().map(own)).unwrap_or(0.0), mean(side.iter().map(others)).unwrap_or(0.0))
    });
    let centred = [0, 1].map(|side| {
        let (own, others) = means[side];
        pairs[side].iter().map(|pair| (pair.0 - own, pair.1 - others)).collect::<Vec<_>>()
    });
    let both = || centred.iter().flatten();
    let squares: f64 = both().map(|(_, others)| others * others).sum();
    let products: f64 = both().map(|(own, others)| own * others).sum();
    let follows = if squares > 0.0 { (products / squares).clamp(0.0, 2.0) } else { 0.0 };
    let of_others = means[1].1 - means[0].1;
    let change = means[1].0 - means[0].0 - follows * of_others;
    let spreads = centred.each_ref().map(|side| {
        let errors: Vec<f64> = side.iter().map(|(own, others)| own - follows * others).collect();
        Spread::of(&errors)
    });
    let of_means = [0, 1].map(|side| spreads[side].variance / (centred[side].len() as f64).powi(2));
    // The variance of a block, with what its neighbours repeat, says how well `follows` is known.
    let of_block = spreads.iter().map(|side| side.variance).sum::<f64>() / both().count() as f64;
    let of_follows = if squares > 0.0 { of_others * of_others * of_block / squares } else { 0.0 };
    let variance = of_means[0] + of_means[1] + of_follows;
    if variance <= 0.0 {
        return None;
    }
    let parts = of_means[0].powi(2) / spreads[0].freedom + of_means[1].powi(2) / spreads[1].freedom;
    let freedom = ((of_means[0] + of_means[1]).powi(2) / parts - 1.0).max(1.0);
    let told = (change.abs() - IGNORED - IGNORED_OF_OTHERS * of_others.abs()).max(0.0);
    let ln_probability = (ln_student_tail(told * told / variance, freedom) + 2_f64.ln()).min(0.0);
    let reach = student_quantile(tail_quantile(BEYOND.ln()), freedom) * variance.sqrt();
    Some(Relative {
        ratio: change.exp(),
        low: (change - reach).exp(),
        high: (change + reach).exp(),
        ln_probability,
    })
}

#[cfg(test)]
#[path = "relative_tests.rs"]
mod tests;
