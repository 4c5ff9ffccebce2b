//! Whether durations differ, and by how much: a rank test and a bootstrap, both over blocks of time.

use std::collections::BTreeMap;

use super::blocks::BLOCKS;
use crate::durations::histogram::Histogram;
use crate::groups::quantile::Quantile;
use crate::outliers::verdict::{ln_student_tail, student_quantile, tail_quantile};

/// The fewest blocks with durations, and the fewest durations, on each side for a verdict.
const FEWEST_BLOCKS: usize = 4;
const FEWEST: u64 = 8;

/// The largest share of a block that the next one is taken to keep: beyond it, a recording is one drift.
const MOST_KEPT: f64 = 0.9;

/// How often blocks are drawn again, and the share of the results beyond each end of an interval.
const DRAWS: usize = 400;
pub const BEYOND: f64 = 0.005;

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
    let Spread { variance, freedom, .. } = Spread::of(&errors);
    Some(MeanRank { mean, variance: variance / (count * count), freedom })
}

/// How far off the sum over the blocks of a recording may be.
pub struct Spread {
    pub variance: f64,
    /// The share of a block that the next one keeps, as if they were a series.
    kept: f64,
    /// The number of independent blocks that say as much, less one.
    pub freedom: f64,
}

impl Spread {
    /// From what each block deviates by.
    pub fn of(errors: &[f64]) -> Self {
        Spread::keeping(errors, kept(errors))
    }

    /// From what each block deviates by, and the share of it that the next block keeps.
    fn keeping(errors: &[f64], kept: f64) -> Self {
        let blocks = errors.len() as f64;
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let repetition = (1.0 + kept) / (1.0 - kept);
        Spread {
            variance: blocks / (blocks - 1.0) * squares * repetition,
            kept,
            freedom: ((blocks - 1.0) / repetition).max(1.0),
        }
    }
}

/// The share of what a block deviates by that the next one keeps.
fn kept(errors: &[f64]) -> f64 {
    let blocks = errors.len() as f64;
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    let neighbours: f64 = errors.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // Measured around their own mean, neighbours look less alike than they are (Kendall's correction).
    let kept = (blocks * neighbours / squares + 1.0) / (blocks - 3.0);
    if squares > 0.0 { kept.clamp(0.0, MOST_KEPT) } else { 0.0 }
}

/// How many times wider an interval is than pairs of neighbouring blocks say: they know what a block has in common with the
/// next one, but not what it has with those after that, nor that few blocks say little about how they vary. `beyond` is the share of the
/// results beyond each end.
fn widening(sides: &[Spread; 2], beyond: f64) -> f64 {
    let sum = |of: &dyn Fn(&Spread) -> f64| sides.iter().map(of).sum::<f64>();
    let variance = sum(&|side| side.variance);
    let normal = tail_quantile(BEYOND.ln());
    let asked = tail_quantile(beyond.ln());
    if variance <= 0.0 {
        return asked / normal;
    }
    let drawn = sum(&|side| side.variance * (1.0 - side.kept));
    let freedom = variance * variance / sum(&|side| side.variance * side.variance / side.freedom);
    student_quantile(asked, freedom) / normal * (variance / drawn).sqrt()
}

/// From the lowest to the highest ratio that the data allow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Of this figure alone: 99 %.
    pub alone: (f64, f64),
    /// So wide that it holds for many figures together.
    pub surely: (f64, f64),
}

/// The intervals of the ratios, after to before, of the number of events, of the total and of each percentile. `seed`
/// makes them repeatable. `beyond` is the share beyond each end of those that hold together.
pub fn intervals(before: &[Histogram], after: &[Histogram], seed: u64, beyond: f64) -> [Option<Interval>; 6] {
    let sides = [Side::new(before), Side::new(after)];
    let mut random = Random(seed);
    let mut draws: [Vec<(f64, f64)>; 6] = Default::default();
    if sides.iter().all(|side| side.blocks_with_any >= FEWEST_BLOCKS) {
        for _ in 0..DRAWS {
            let [before, after] = sides.each_ref().map(|side| side.draw(&mut random));
            for (place, draw) in draws.iter_mut().enumerate() {
                draw.push(ratios(place, before, after));
            }
        }
    }
    let [before, after] = sides.each_ref().map(|side| side.figures(&[1; BLOCKS]));
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
        let cut = (DRAWS as f64 * BEYOND) as usize;
        let (low, high) = (lows.get(cut).copied().unwrap_or(0.0), highs[DRAWS - 1 - cut]);
        let (least, most) = ratios(place, before, after);
        let spreads =
            [(&sides[0], before), (&sides[1], after)].map(|(side, of)| side.spread(place, of[place]));
        let widened = |beyond: f64| {
            let widening = widening(&spreads, beyond);
            // Not finite, or nothing, where a figure is 0.
            let [low_end, high_end] =
                [(least, low), (most, high)].map(|(from, to)| from * (to / from).powf(widening));
            let low = if low_end.is_finite() { low.min(low_end) } else { low };
            (low, if high_end.is_finite() { high.max(high_end) } else { high })
        };
        Some(Interval { alone: widened(BEYOND), surely: widened(beyond.min(BEYOND)) })
    })
}

/// The lowest and the highest ratio of a figure, after to before: a duration of 7 whole microseconds took from 7 to 8.
fn ratios(place: usize, before: [f64; 6], after: [f64; 6]) -> (f64, f64) {
    let unit = if place < 2 { 0.0 } else { 1.0 };
    (after[place] / (before[place] + unit), (after[place] + unit) / before[place])
}

/// The durations of one side, for drawing blocks from.
struct Side {
    /// Each value with its count in each block.
    values: Vec<(u64, [u64; BLOCKS])>,
    totals: Vec<f64>,
    count: u64,
    median: f64,
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
        let mut side = Side {
            values: values.into_iter().collect(),
            totals: blocks.iter().map(|block| block.total() as f64).collect(),
            count: blocks.iter().map(Histogram::count).sum(),
            median: 0.0,
            blocks_with_any: blocks.iter().filter(|block| block.count() > 0).count(),
        };
        side.median = side.figures(&[1; BLOCKS])[2];
        side
    }

    /// The figures of the same number of blocks, drawn with replacement.
    fn draw(&self, random: &mut Random) -> [f64; 6] {
        let mut times = [0_u64; BLOCKS];
        // Pairs of neighbours, which may be alike.
        for first in (0..BLOCKS / 2).map(|_| random.below(BLOCKS)) {
            times[first] += 1;
            times[(first + 1) % BLOCKS] += 1;
        }
        self.figures(&times)
    }

    /// How far off a figure may be, relative to its size. `value` is what it is in the recording.
    fn spread(&self, place: usize, value: f64) -> Spread {
        let counts = self.counts_above(f64::NEG_INFINITY);
        let deviations = |of: &[f64]| -> Vec<f64> {
            let mean = of.iter().sum::<f64>() / BLOCKS as f64;
            of.iter().map(|value| value - mean).collect()
        };
        let count = self.count as f64;
        let (spread, size) = match place {
            0 => (Spread::of(&deviations(&counts)), count),
            1 => (Spread::of(&deviations(&self.totals)), self.totals.iter().sum()),
            // A percentile moves as the number of durations above it does. The fewer these are, the more of what they have in common with
            // the next block is hidden by chance; the median shows it better.
            _ => {
                let [own, middle] = [value, self.median].map(|value| {
                    let above = self.counts_above(value);
                    let share = above.iter().sum::<f64>() / count;
                    let blocks = counts.iter().zip(&above).filter(|(count, _)| **count > 0.0);
                    blocks.map(|(count, above)| above - share * count).collect::<Vec<f64>>()
                });
                (Spread::keeping(&own, kept(&own).max(kept(&middle))), count)
            }
        };
        Spread { variance: if size > 0.0 { spread.variance / (size * size) } else { 0.0 }, ..spread }
    }

    /// The number of durations above this one in each block.
    fn counts_above(&self, value: f64) -> [f64; BLOCKS] {
        let mut above = [0.0; BLOCKS];
        for (_, of_value) in self.values.iter().filter(|(duration, _)| *duration as f64 > value) {
            above.iter_mut().zip(of_value).for_each(|(above, count)| *above += *count as f64);
        }
        above
    }

    /// The figures, if each block counts this many times.
    fn figures(&self, times: &[u64; BLOCKS]) -> [f64; 6] {
        let of = |counts: &[u64; BLOCKS]| counts.iter().zip(times).map(|(count, times)| count * times).sum();
        let counts: Vec<u64> = self.values.iter().map(|(_, counts)| of(counts)).collect();
        let count: u64 = counts.iter().sum();
        let total = self.totals.iter().zip(times).map(|(total, times)| total * *times as f64).sum();
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
