//! Whether durations differ, and by how much: a rank test and a bootstrap, both over blocks of time.

use std::collections::BTreeMap;

use super::blocks::{BLOCKS, Side, Sides};
use super::wandering::{Level, Wandering};
use crate::durations::histogram::Histogram;
use crate::groups::quantile::Quantile;
use crate::outliers::verdict::tail_quantile;

/// The fewest blocks with durations, and the fewest durations, on each side for a verdict.
const FEWEST_BLOCKS: usize = 4;
const FEWEST: u64 = 8;

/// How often blocks are drawn again, and the share of the results beyond each end of an interval.
const DRAWS: usize = 400;
pub const BEYOND: f64 = 0.005;

/// The percentiles that are compared.
pub const QUANTILES: [Quantile; 4] = [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P999];

/// The place of the median among intervals.
pub const MEDIAN: usize = 2;

/// A percentile has an interval if this many durations are expected beyond it on each side.
const FEWEST_BEYOND: f64 = 5.0;

/// How likely a difference like this is if both sides are alike (the logarithm), and whether the second side is slower.
///
/// Each duration counts by its rank among those of both sides, equal ones by the middle of theirs, so that neither
/// whole microseconds nor a single extreme decide. The mean ranks of the sides are compared, with blocks instead of durations as what
/// varies.
pub fn difference(sides: Sides<'_>) -> Option<(f64, bool)> {
    let ranks = ranks(sides.iter().flat_map(|side| side.blocks));
    let [before, after] = sides.map(|side| mean_ranks(side, &ranks));
    Wandering::new([&before?, &after?]).probability(0.0)
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

/// The mean rank of each block, those of many durations counting more; none if there are too few.
fn mean_ranks(side: Side<'_>, ranks: &BTreeMap<u64, f64>) -> Option<Vec<Option<Level>>> {
    let sums = side.blocks.iter().map(|block| {
        let buckets = block.buckets();
        let sum: f64 = buckets.iter().map(|bucket| ranks[&bucket.low] * bucket.count as f64).sum();
        (block.count() as f64, sum)
    });
    let sums: Vec<(f64, f64)> = sums.collect();
    let count: f64 = sums.iter().map(|(count, _)| count).sum();
    let blocks = sums.iter().filter(|(count, _)| *count > 0.0).count();
    if blocks < FEWEST_BLOCKS || count < FEWEST as f64 {
        return None;
    }
    let mean = sums.iter().map(|(_, sum)| sum).sum::<f64>() / count;
    let rank = |&(of_block, sum): &(f64, f64)| {
        (of_block > 0.0).then(|| mean + (sum - mean * of_block) * blocks as f64 / count)
    };
    Some(side.levels(sums.iter().map(rank)))
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
pub fn intervals(sides: Sides<'_>, seed: u64, beyond: f64) -> [Option<Interval>; 6] {
    let sides = sides.map(Durations::new);
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
    let figures = sides.each_ref().map(|side| side.figures(&[1; BLOCKS]));
    let deviations = |place: usize| [0, 1].map(|side| sides[side].deviations(place, figures[side][place]));
    // A level that wanders moves all figures but the rate. Where chance hides that, the median shows it better.
    let of_median = deviations(MEDIAN);
    let median = Wandering::new(of_median.each_ref().map(Vec::as_slice));
    std::array::from_fn(|place| {
        let has_enough = |side: &Durations| match place.checked_sub(MEDIAN).map(|place| QUANTILES[place]) {
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
        let (least, most) = ratios(place, figures[0], figures[1]);
        let mut deviations = deviations(place);
        if place != 0 && place != MEDIAN {
            for (own, median) in deviations.iter_mut().flatten().zip(of_median.iter().flatten()) {
                own.iter_mut().for_each(|own| own.others = median.map_or(0.0, |median| median.own));
            }
        }
        let own = Wandering::new(deviations.each_ref().map(Vec::as_slice));
        let follows = own.change().map_or(0.0, |(_, follows)| follows);
        // What drawing pairs of neighbours shows of it.
        let drawn = deviations.iter().map(|side| of_pairs(side)).sum::<f64>().sqrt();
        let drawn = drawn * tail_quantile(BEYOND.ln());
        let widened = |beyond: f64| {
            let widening = if drawn > 0.0 {
                own.reach(beyond).hypot(follows * median.reach(beyond)) / drawn
            } else {
                1.0
            };
            // Not finite, or nothing, where a figure is 0.
            let [low_end, high_end] =
                [(least, low), (most, high)].map(|(from, to)| from * (to / from).powf(widening));
            let low = if low_end.is_finite() { low.min(low_end) } else { low };
            (low, if high_end.is_finite() { high.max(high_end) } else { high })
        };
        Some(Interval { alone: widened(BEYOND), surely: widened(beyond.min(BEYOND)) })
    })
}

/// The variance of the mean of blocks, if pairs of neighbours are drawn.
fn of_pairs(levels: &[Option<Level>]) -> f64 {
    let known: Vec<f64> = levels.iter().flatten().map(|level| level.own).collect();
    let next = known.iter().cycle().skip(1);
    let squares: f64 = known.iter().zip(next).map(|(one, next)| (one + next).powi(2)).sum();
    squares / 2.0 / (known.len() as f64).powi(2)
}

/// The lowest and the highest ratio of a figure, after to before: a duration of 7 whole microseconds took from 7 to 8.
fn ratios(place: usize, before: [f64; 6], after: [f64; 6]) -> (f64, f64) {
    let unit = if place < 2 { 0.0 } else { 1.0 };
    (after[place] / (before[place] + unit), (after[place] + unit) / before[place])
}

/// The durations of one side, for drawing blocks from.
struct Durations<'h> {
    side: Side<'h>,
    /// Each value with its count in each block.
    values: Vec<(u64, [u64; BLOCKS])>,
    totals: Vec<f64>,
    count: u64,
    blocks_with_any: usize,
}

impl<'h> Durations<'h> {
    fn new(side: Side<'h>) -> Self {
        let blocks = side.blocks;
        let mut values: BTreeMap<u64, [u64; BLOCKS]> = BTreeMap::new();
        for (number, block) in blocks.iter().enumerate() {
            for bucket in block.buckets() {
                values.entry(bucket.low).or_default()[number] += bucket.count;
            }
        }
        Durations {
            side,
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
        self.figures(&times)
    }

    /// By how much of its size each block moves a figure, times the number of blocks. `value` is what it is in the recording.
    fn deviations(&self, place: usize, value: f64) -> Vec<Option<Level>> {
        let counts = self.counts_above(f64::NEG_INFINITY);
        let relative = |of: &[f64]| -> Vec<Option<Level>> {
            let mean = of.iter().sum::<f64>() / of.len() as f64;
            self.side.levels(of.iter().map(|value| (mean > 0.0).then(|| value / mean - 1.0)))
        };
        match place {
            0 => relative(&counts),
            1 => relative(&self.totals),
            // A percentile moves as the number of durations above it does.
            _ => {
                let count = self.count as f64;
                let above = self.counts_above(value);
                let share = above.iter().sum::<f64>() / count;
                let each = count / self.blocks_with_any as f64;
                let of_blocks = counts.iter().zip(&above);
                self.side.levels(
                    of_blocks.map(|(count, above)| (*count > 0.0).then(|| (above - share * count) / each)),
                )
            }
        }
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
