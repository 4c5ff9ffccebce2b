//! Gaps among the durations of a group, and how probable each is.
//!
//! On the logarithmic scale the distances between neighbouring durations, counted from the longest, are independent and
//! exponential if each is multiplied by the number of durations above it (Rényi), with a mean that only changes slowly
//! along the tail. So the distances below a gap predict its width, independently of what lies above it: similar
//! stalls cannot hide one another, however many there are.
//!
//! How the mean changes along the tail is taken from the log-normal distribution, of any width. Lighter tails
//! (exponential, gamma, uniform) end sooner, so a gap beyond them is found earlier than necessary; a power law does
//! not end, and one to three in ten such groups have a gap without a stall.

use std::f64::consts::PI;
use std::ops::Range;

use super::normal::{ln_student_tail, ln_tail, mills, tail_quantile};
use super::rule::ENOUGH;
use crate::durations::histogram::{Bucket, Histogram};

/// The least number of distances that a gap is compared with.
const COMPARED: u64 = 50;
/// The prior: this number of distances with this mean, as in tails of small samples.
const ASSUMED: (f64, f64) = (15.0, 0.4);
/// The number of durations above a percentile that make it reliable.
const FIRM: f64 = 30.0;
/// The coarsest clock; durations further apart than this are different, not rounded.
const COARSEST_CLOCK_NS: u128 = 4_000_000;

/// The distinct durations of a group on the logarithmic scale, from the shortest to the longest.
pub(super) struct Levels {
    levels: Vec<Level>,
    count: u64,
    /// The quantum that durations are multiples of.
    quantum: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Level {
    pub low: u64,
    pub high: u64,
    pub count: u64,
    /// The number of durations here and above.
    pub at_or_above: u64,
    /// Where it begins and ends on the logarithmic scale: a rounded duration stands for all that were rounded to it.
    bottom: f64,
    top: f64,
    /// The sum of the logarithms here and above.
    logarithms: f64,
}

impl Level {
    fn middle(&self) -> f64 {
        (self.bottom + self.top) / 2.0
    }

    /// A duration of this level.
    pub fn typical(&self) -> u64 {
        self.low + (self.high - self.low).div_ceil(2)
    }
}

/// How wide groups are, on the logarithmic scale: the standard deviation of their upper half.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub sigma: f64,
    /// The number of independent values that it is known from.
    pub freedom: f64,
}

/// Groups of up to this number of durations are also judged by what is known of similar ones.
pub(super) const SMALL: u64 = 300;
/// The most durations at the end of a small group that are judged that way, and how far they are above the rest.
const ALONE: (u64, f64) = (3, 10.0);
/// What is known of the width of a group before any of its durations is.
const UNKNOWN: Scale = Scale { sigma: 1.0, freedom: 6.0 };

impl Scale {
    /// What the widths of similar groups have in common: their median, and the less they differ, the firmer.
    pub fn of_similar(groups: &[Scale]) -> Option<Scale> {
        const FEWEST: usize = 5;
        const FIRMEST: f64 = 60.0;
        if groups.len() < FEWEST {
            return None;
        }
        let median = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let sigma = median(groups.iter().map(|group| group.sigma).collect());
        let freedom = median(groups.iter().map(|group| group.freedom).collect());
        let spread = median(groups.iter().map(|group| (group.sigma / sigma).ln().abs()).collect()) / 0.674_5;
        // The logarithm of an estimate of n values has the variance 1/2n; the rest is what they differ by.
        // A spread of a few groups is uncertain itself.
        let differ = ((spread / 1.5).powi(2) - 0.5 / freedom.max(1.0)).max(0.0);
        (sigma > 0.0).then(|| Scale { sigma, freedom: (0.5 / differ.max(1e-9)).min(FIRMEST) })
    }
}

/// The tail below a place: how far durations should lie apart there.
#[derive(Clone, Copy)]
struct Tail {
    /// The width of the log-normal distribution that has such a tail.
    sigma: f64,
    /// How many distances tell it.
    weight: f64,
    /// Where in a normal distribution the place lies.
    z: f64,
}

impl Levels {
    pub fn new(durations: &Histogram, unit_ns: u128) -> Self {
        let buckets = durations.buckets();
        let quantum = quantum(&buckets, unit_ns);
        let longest = durations.max().unwrap_or(0);
        let ln = |ticks: u64, quanta: u64| (ticks as f64 + (quanta * quantum) as f64).ln();
        let mut levels: Vec<Level> = buckets
            .iter()
            .map(|bucket| Level {
                low: bucket.low,
                // The longest is known exactly.
                high: bucket.high.min(longest),
                count: bucket.count,
                at_or_above: 0,
                bottom: ln(bucket.low, 1),
                top: ln(bucket.high, 2),
                logarithms: 0.0,
            })
            .collect();
        let (mut above, mut logarithms) = (0, 0.0);
        for level in levels.iter_mut().rev() {
            above += level.count;
            logarithms += level.count as f64 * level.middle();
            (level.at_or_above, level.logarithms) = (above, logarithms);
        }
        Levels { levels, count: above, quantum }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of durations in some levels.
    pub fn count_in(&self, levels: Range<usize>) -> u64 {
        self.levels[levels].iter().map(|level| level.count).sum()
    }

    /// The levels from one on, as if there were no others.
    pub fn above(&self, level: usize) -> Levels {
        let levels = self.levels[level..].to_vec();
        Levels { count: levels[0].at_or_above, levels, quantum: self.quantum }
    }

    /// The median of what lies below a level, and how wide the half above it is.
    pub fn scale(&self, level: usize) -> (f64, Scale) {
        let above = self.levels.get(level).map_or(0, |level| level.at_or_above);
        let below = (self.count - above) as f64;
        let median = self.at(above as f64 + below / 2.0);
        let upper = self.levels[..level].iter().filter(|level| level.middle() > median);
        let (mut count, mut sum) = (0.0, 0.0);
        for level in upper {
            count += level.count as f64;
            sum += level.count as f64 * (level.middle() - median);
        }
        // The mean of the upper half of a normal distribution, and what its estimate is worth.
        let sigma = sum / (below / 2.0).max(1.0) / (2.0 / PI).sqrt();
        (median, Scale { sigma, freedom: f64::max(count.min(below / 2.0) * 0.87, 1.0) })
    }

    /// Whether the durations from a level on are alone: few, at the end of a small group, and improbable for one as wide
    /// as this and as similar ones.
    pub fn is_alone(&self, level: usize, probability: f64, similar: Option<&Scale>) -> bool {
        let (most, times) = ALONE;
        let (alone, last) = (&self.levels[level], &self.levels[level - 1]);
        if self.count > SMALL || alone.at_or_above > most || (alone.low as f64) < times * last.high as f64 {
            return false;
        }
        let (median, own) = self.scale(level);
        let prior = similar.unwrap_or(&UNKNOWN);
        let freedom = own.freedom + prior.freedom;
        let variance = own.freedom * own.sigma.powi(2) + prior.freedom * prior.sigma.powi(2);
        let t = (alone.bottom - median) / (variance / freedom).sqrt();
        ln_student_tail(t * t, freedom) + (self.count as f64).ln() < probability.ln()
    }

    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The level of the duration with this many durations above it.
    pub fn under(&self, above: u64) -> &Level {
        // The levels are in the order of falling numbers.
        let next = self.levels.partition_point(|level| level.at_or_above > above);
        &self.levels[next.saturating_sub(1)]
    }

    /// How wide the gap below a level is; none if at most 0.
    fn gap(&self, level: usize) -> f64 {
        self.levels[level].bottom - self.levels[level - 1].top
    }

    /// Whether a level may be apart from those below it: there is a gap, or the group is small. That is quickly told, and
    /// most levels are next to each other.
    pub fn may_be_apart(&self, level: usize) -> bool {
        self.gap(level) > 0.0 || self.count <= SMALL
    }

    /// How probable the gap below a level is, or a wider one.
    pub fn probability(&self, level: usize) -> f64 {
        let above = self.levels[level].at_or_above;
        let gap = self.gap(level);
        if gap <= 0.0 {
            return 1.0;
        }
        let Tail { sigma, weight, z } = self.tail(level);
        let depth = ln_tail(z) - ln_tail(z + gap / sigma);
        (1.0 + above as f64 * depth / weight).powf(-weight)
    }

    /// The duration above which one is improbable, given those below a level: the line through two percentiles
    /// (logarithms over normal quantiles), extrapolated to the probability per duration. The percentiles are low
    /// enough not to be moved by rare stalls. With too few durations, the longest.
    pub fn end(&self, level: usize, probability: f64) -> u64 {
        let above = self.levels.get(level).map_or(0, |level| level.at_or_above);
        let below = (self.count - above) as f64;
        if below < ENOUGH as f64 {
            return self.levels[level - 1].high;
        }
        let upper = (FIRM / below).clamp(0.01, 0.1);
        let lower = (10.0 * upper).min(0.5);
        let [z_upper, z_lower] = [upper, lower].map(|part| tail_quantile(part.ln()));
        let [y_upper, y_lower] = [upper, lower].map(|part| self.at(above as f64 + part * below));
        // The uncertainty of the percentiles makes the line steeper.
        let doubt = 1.0 + mills(z_upper) / ((upper * below).sqrt() * (z_upper - z_lower));
        let sigma = doubt * (y_upper - y_lower) / (z_upper - z_lower);
        let beyond = tail_quantile((probability / below).ln()) - z_upper;
        let end = (y_upper + sigma * beyond).exp() - self.quantum as f64;
        end.clamp(0.0, u64::MAX as f64) as u64
    }

    /// The logarithm of the duration with this many durations above it.
    fn at(&self, above: f64) -> f64 {
        let level = self.under(above as u64);
        let over = (level.at_or_above - level.count) as f64;
        level.top - (level.top - level.bottom) * ((above - over) / level.count as f64).clamp(0.0, 1.0)
    }

    /// The tail of what lies below a level.
    fn tail(&self, level: usize) -> Tail {
        let above = self.levels.get(level).map_or(0, |level| level.at_or_above);
        let below = self.count - above;
        let compared = COMPARED.max(3 * above).min(below.saturating_sub(1));
        let (weight, mean) = ASSUMED;
        let (n, i) = (self.count as f64, above as f64);
        let z = tail_quantile(((i + 0.5) / (n + 0.5)).ln());
        // The assumed mean is that of a tail in which the place is the only one known.
        let mut ratios = mills(z) * weight;
        for part in 0..8 {
            let rank = i + 0.5 + compared as f64 * (f64::from(part) + 0.5) / 8.0;
            ratios += mills(tail_quantile((rank / (n + 0.5)).min(0.999).ln())) * compared as f64 / 8.0;
        }
        let distances = self.distances(level, above, compared) + weight * mean;
        Tail { sigma: distances / ratios, weight: weight + compared as f64, z }
    }

    /// What the distances below a level add up to, each multiplied by the number of durations above it.
    fn distances(&self, level: usize, above: u64, compared: u64) -> f64 {
        if compared == 0 {
            return 0.0;
        }
        let end = above + compared;
        let last = self.levels.partition_point(|level| level.at_or_above > end).saturating_sub(1);
        let last = self.levels[..level].get(last).copied().unwrap_or(self.levels[0]);
        let over_last = last.at_or_above - last.count;
        // Of the last level only the upper part is compared; its durations are taken as evenly spread.
        let part = (end - over_last.min(end)) as f64;
        let lowest = last.top - (last.top - last.bottom) * part / last.count as f64;
        let base = self.levels.get(level).map_or(0.0, |level| level.logarithms);
        let over = last.logarithms - last.count as f64 * last.middle() - base;
        let logarithms = over + part * (last.top + lowest) / 2.0;
        (above as f64 * self.levels[level - 1].top + logarithms - end as f64 * lowest).max(0.0)
    }
}

/// The quantum that durations were rounded to: 1, 2, 4 or 5 times a power of ten. Some need not be multiples of it.
fn quantum(buckets: &[Bucket], unit_ns: u128) -> u64 {
    let counted = || buckets.iter().filter(|bucket| bucket.low > 0);
    let all: u64 = counted().map(|bucket| bucket.count).sum();
    let powers = (0..10).rev().map(|power| 10_u64.pow(power));
    let candidates = powers.flat_map(|power| [5, 4, 2, 1].map(|leading| leading * power));
    let is_quantum = |quantum: &u64| {
        let mut others = 0;
        // For most candidates few buckets need to be looked at.
        let mut are_few_others = || {
            counted().all(|bucket| {
                let is_multiple = bucket.low.next_multiple_of(*quantum) <= bucket.high;
                others += if is_multiple { 0 } else { bucket.count };
                10 * others <= 4 * all
            })
        };
        u128::from(*quantum) * unit_ns <= COARSEST_CLOCK_NS && are_few_others() && all - others >= 2
    };
    candidates.filter(|&quantum| quantum > 1).find(is_quantum).unwrap_or(1)
}
