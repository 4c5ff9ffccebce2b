//! Whether durations differ, and by how much: a rank test and a bootstrap, both over blocks of time.

use std::collections::BTreeMap;

use super::blocks::BLOCKS;
use crate::analysis::durations::histogram::Histogram;
use crate::analysis::groups::quantile::Quantile;
use crate::analysis::outliers::verdict::ln_student_tail;

/// The fewest blocks with durations, and the fewest durations, on each side for a verdict.
const FEWEST_BLOCKS: usize = 4;
const FEWEST: u64 = 8;

/// The largest share of a block that the next one is taken to keep: beyond it, a recording is one drift.
const MOST_KEPT: f64 = 0.9;

/// How often blocks are drawn again, and the share of the results beyond each end of an interval.
const DRAWS: usize = 400;
const BEYOND: f64 = 0.005;

/// The percentiles that are compared.
pub const QUANTILES: [Quantile; 4] = [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P999];

/// A percentile has an interval if this many durations are expected beyond it on each side.
const FEWEST_BEYOND: f64 = 5.0;

/// How likely a difference like this is if both sides are alike (the logarithm), and whether the second side is slower.
///
/// Each duration counts by its rank among those of both sides, equal ones by the middle of theirs, so that neither
/// whole microseconds nor a single extreme decide. The mean ranks of the sides are compared as Welch does, with blocks
/// instead of durations as what is independent.
pub fn difference(before: &[Histogram], after: &[Histogram]) -> Option<(f64, bool)> {
    let ranks = ranks(before.iter().chain(after));
    let one = mean_rank(before, &ranks)?;
    let other = mean_rank(after, &ranks)?;
    let distance = other.mean - one.mean;
    let variance = one.variance + other.variance;
    if distance == 0.0 {
        return Some((0.0, false));
    }
    if variance <= 0.0 {
        // All blocks of a side are equal to the last duration: no scale to judge the difference by.
        return None;
    }
    let part = |side: &MeanRank| side.variance * side.variance / side.freedom;
    let freedom = variance * variance / (part(&one) + part(&other));
    let t2 = distance * distance / variance;
    Some(((ln_student_tail(t2, freedom) + 2_f64.ln()).min(0.0), distance > 0.0))
}

/// The middle of the ranks of each value, from 0 to 1.
fn ranks<'h>(blocks: impl Iterator<Item = &'h Histogram>) -> BTreeMap<u64, f64> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for bucket in blocks.flat_map(Histogram::buckets) {
        *counts.entry(bucket.low).or_default() += bucket.count;
    }
    let total: u64 = counts.values().sum();
    let mut below = 0;
    let middle = |(value, count): (u64, u64)| {
        below += count;
        (value, (below as f64 - count as f64 / 2.0) / total as f64)
    };
    counts.into_iter().map(middle).collect()
}

struct MeanRank {
    mean: f64,
    /// Of the mean.
    variance: f64,
    freedom: f64,
}

fn mean_rank(blocks: &[Histogram], ranks: &BTreeMap<u64, f64>) -> Option<MeanRank> {
    let sums = blocks.iter().map(|block| {
        let buckets = block.buckets();
        let sum: f64 = buckets.iter().map(|bucket| ranks[&bucket.low] * bucket.count as f64).sum();
        (buckets.iter().map(|bucket| bucket.count).sum::<u64>() as f64, sum)
    });
    let sums: Vec<(f64, f64)> = sums.filter(|(count, _)| *count > 0.0).collect();
    let count: f64 = sums.iter().map(|(count, _)| count).sum();
    if sums.len() < FEWEST_BLOCKS || count < FEWEST as f64 {
        return None;
    }
    let mean = sums.iter().map(|(_, sum)| sum).sum::<f64>() / count;
    let errors: Vec<f64> = sums.iter().map(|(of_block, sum)| sum - mean * of_block).collect();
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    let blocks = sums.len() as f64;
    let repetition = repetition(&errors, squares);
    Some(MeanRank {
        mean,
        variance: blocks / (blocks - 1.0) * squares * repetition / (count * count),
        freedom: ((blocks - 1.0) / repetition).max(1.0),
    })
}

/// How many blocks say as much as one would if neighbours were independent: blocks are taken as a series in which each
/// keeps a share of the one before it.
fn repetition(errors: &[f64], squares: f64) -> f64 {
    if squares <= 0.0 {
        return 1.0;
    }
    let neighbours: f64 = errors.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let blocks = errors.len() as f64;
    // Measured around their own mean, neighbours look less alike than they are (Kendall's correction).
    let kept = (blocks * neighbours / squares + 1.0) / (blocks - 3.0);
    let kept = kept.clamp(0.0, MOST_KEPT);
    (1.0 + kept) / (1.0 - kept)
}

/// From the lowest to the highest ratio that the data allow.
pub type Interval = Option<(f64, f64)>;

/// The intervals of the ratios, after to before, of the number of events, of the total and of each percentile. `seed`
/// makes them repeatable.
pub fn intervals(before: &[Histogram], after: &[Histogram], seed: u64) -> [Interval; 6] {
    let sides = [Side::new(before), Side::new(after)];
    let mut random = Random(seed);
    let mut draws: [Vec<(f64, f64)>; 6] = Default::default();
    if sides.iter().all(|side| side.blocks_with_any >= FEWEST_BLOCKS) {
        for _ in 0..DRAWS {
            let [before, after] = sides.each_ref().map(|side| side.draw(&mut random));
            for (place, draw) in draws.iter_mut().enumerate() {
                // A duration of 7 whole microseconds took from 7 to 8.
                let unit = if place < 2 { 0.0 } else { 1.0 };
                draw.push((after[place] / (before[place] + unit), (after[place] + unit) / before[place]));
            }
        }
    }
    std::array::from_fn(|place| {
        let has_enough = |side: &Side| match place.checked_sub(2).map(|place| QUANTILES[place]) {
            None => true,
            Some(Quantile { part, of }) => {
                side.count as f64 * f64::from(of - part) / f64::from(of) >= FEWEST_BEYOND
            }
        };
        if draws[place].is_empty() || !sides.iter().all(has_enough) {
            return None;
        }
        let mut lows: Vec<f64> = draws[place].iter().map(|draw| draw.0).filter(|low| !low.is_nan()).collect();
        let mut highs: Vec<f64> =
            draws[place].iter().map(|draw| if draw.1.is_nan() { f64::INFINITY } else { draw.1 }).collect();
        lows.sort_by(f64::total_cmp);
        highs.sort_by(f64::total_cmp);
        let beyond = (DRAWS as f64 * BEYOND) as usize;
        Some((lows.get(beyond).copied().unwrap_or(0.0), highs[DRAWS - 1 - beyond]))
    })
}

/// The durations of one side, for drawing blocks from.
struct Side {
    /// Each value with its count in each block.
    values: Vec<(u64, [u64; BLOCKS])>,
    totals: Vec<f64>,
    count: u64,
    blocks_with_any: usize,
}

impl Side {
    fn new(blocks: &[Histogram]) -> Self {
        let mut values: BTreeMap<u64, [u64; BLOCKS]> = BTreeMap::new();
        for (number, block) in blocks.iter().enumerate() {
            for bucket in block.buckets() {
                values.entry(bucket.low).or_default()[number] += bucket.count;
            }
        }
        Side {
            values: values.into_iter().collect(),
            totals: blocks.iter().map(|block| block.total() as f64).collect(),
            count: blocks.iter().map(Histogram::count).sum(),
            blocks_with_any: blocks.iter().filter(|block| block.count() > 0).count(),
        }
    }

    /// The figures of the same number of blocks, drawn with replacement.
    fn draw(&self, random: &mut Random) -> [f64; 6] {
        let mut times = [0_u64; BLOCKS];
        // Pairs of neighbours, which may be alike.
        for first in (0..BLOCKS / 2).map(|_| random.below(BLOCKS)) {
            times[first] += 1;
            times[(first + 1) % BLOCKS] += 1;
        }
        let of = |counts: &[u64; BLOCKS]| counts.iter().zip(&times).map(|(count, times)| count * times).sum();
        let counts: Vec<u64> = self.values.iter().map(|(_, counts)| of(counts)).collect();
        let count: u64 = counts.iter().sum();
        let total = self.totals.iter().zip(&times).map(|(total, times)| total * *times as f64).sum();
        let mut figures = [count as f64, total, f64::NAN, f64::NAN, f64::NAN, f64::NAN];
        let (mut below, mut place) = (0, 0);
        for ((value, _), of_value) in self.values.iter().zip(counts) {
            below += of_value;
            let is_reached = |quantile: Quantile| {
                u128::from(below) * u128::from(quantile.of) >= u128::from(count) * u128::from(quantile.part)
            };
            while count > 0 && place < QUANTILES.len() && is_reached(QUANTILES[place]) {
                figures[2 + place] = *value as f64;
                place += 1;
            }
        }
        figures
    }
}

/// Pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ (mixed >> 31)) * most as u128) >> 64) as usize
    }
}

/// Which of the differences are told apart from chance, so that the probability of any wrong one is at most `rate`
/// (Holm's method).
pub fn told_apart(ln_probabilities: &[Option<f64>], rate: f64) -> Vec<bool> {
    let mut order: Vec<(f64, usize)> =
        ln_probabilities.iter().enumerate().filter_map(|(place, ln)| ln.map(|ln| (ln, place))).collect();
    order.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut told = vec![false; ln_probabilities.len()];
    for (rank, (ln, place)) in order.iter().enumerate() {
        if *ln > (rate / (order.len() - rank) as f64).ln() {
            break;
        }
        told[*place] = true;
    }
    told
}

#[cfg(test)]
#[path = "statistics_tests.rs"]
mod tests;
