//! Drifts: the level of a group rises steadily over the whole trace, as with a leak.
//!
//! The events are divided into blocks of the same number, in the order of time. The Mann-Kendall test says whether the
//! levels of the blocks rise more than chance allows. What they deviate from the trend by is correlated where durations
//! are; the variance of the test is larger by that (Hamed and Rao, with one lag). Steady means that each quarter of the
//! events is slower than the one before, so a jump, or a daily cycle, is not a drift.

use std::ops::Range;

use super::normal::ln_tail;
use super::prefix_sums::PrefixSums;
use super::rule::{DRIFT_EVENTS, DRIFT_STEP, SHIFT};

const BLOCKS: usize = 24;
const QUARTER: usize = BLOCKS / 4;
const TWELFTH: usize = BLOCKS / 12;

/// The part of all pairs of blocks in which the later one is slower that leaves no doubt.
const ALL_RISE: f64 = 0.98;

/// A drift, as ranges of bins: the first quarter of the events and the last one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trend {
    /// By which factor the level rose from the first twelfth of the events to the last.
    pub factor: f64,
    pub first: Range<usize>,
    pub last: Range<usize>,
}

/// Whether the level rises steadily, less probably than this by chance.
pub(super) fn trend(course: &PrefixSums, probability: f64) -> Option<Trend> {
    let all = course.count(&(0..course.bins()));
    if all < DRIFT_EVENTS as f64 || course.bins() < 2 * BLOCKS {
        return None;
    }
    let edges: Vec<usize> = (0..=BLOCKS)
        .map(|edge| course.counts.partition_point(|&count| count < all * edge as f64 / BLOCKS as f64 - 0.5))
        .collect();
    if edges.windows(2).any(|pair| pair[0] >= pair[1]) {
        return None;
    }
    let level = |from: usize, to: usize| course.level(&(edges[from]..edges[to]));
    let levels: Vec<f64> = (0..BLOCKS).map(|block| level(block, block + 1)).collect();
    let slope = slope(&levels);
    let rise = slope * BLOCKS as f64;
    let quarters: Vec<f64> = (0..4).map(|part| level(part * QUARTER, (part + 1) * QUARTER)).collect();
    let is_steady = quarters.windows(2).all(|pair| pair[1] - pair[0] >= DRIFT_STEP * rise);
    if rise < SHIFT.ln() || !is_steady || ln_tail(significance(&levels)) >= probability.ln() {
        return None;
    }
    Some(Trend {
        factor: (level(BLOCKS - TWELFTH, BLOCKS) - level(0, TWELFTH)).exp(),
        first: edges[0]..edges[QUARTER],
        last: edges[BLOCKS - QUARTER]..edges[BLOCKS],
    })
}

/// The median slope between any two blocks (Theil and Sen).
fn slope(levels: &[f64]) -> f64 {
    let mut slopes: Vec<f64> = Vec::new();
    for (one, level) in levels.iter().enumerate() {
        slopes.extend((one + 1..levels.len()).map(|other| (levels[other] - level) / (other - one) as f64));
    }
    slopes.sort_by(f64::total_cmp);
    slopes[slopes.len() / 2]
}

/// The Mann-Kendall statistic in standard errors, which are larger where neighbouring blocks deviate alike.
fn significance(levels: &[f64]) -> f64 {
    let n = levels.len() as f64;
    let mut rises = 0.0;
    for (one, level) in levels.iter().enumerate() {
        rises += levels[one + 1..].iter().map(|other| (other - level).signum()).sum::<f64>();
    }
    let rest = without_curve(levels);
    let variance: f64 = rest.iter().map(|level| level * level).sum();
    let products: f64 = rest.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // A short series, and a curve that is taken away, make the correlation look smaller than it is.
    let pairs = n * (n - 1.0) / 2.0;
    let correlation = (products / variance.max(f64::MIN_POSITIVE) + 8.0 / n).clamp(0.0, 0.95);
    // Where nearly every block is slower than all before it, what is left is the shape of the rise.
    let correlation = if rises >= ALL_RISE * pairs { 8.0 / n } else { correlation };
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0 * (1.0 + correlation) / (1.0 - correlation);
    (rises - 1.0) / variance.sqrt()
}

/// What is left of levels without the cubic curve through them: a leak need not be a straight line.
fn without_curve(levels: &[f64]) -> Vec<f64> {
    let n = levels.len();
    let mut curves: Vec<Vec<f64>> = Vec::new();
    let mut rest = levels.to_vec();
    for power in 0..4 {
        let place = |block: usize| (2.0 * (block as f64 + 0.5) / n as f64 - 1.0).powi(power);
        let mut curve: Vec<f64> = (0..n).map(place).collect();
        curves.iter().for_each(|known| subtract(&mut curve, known));
        subtract(&mut rest, &curve);
        curves.push(curve);
    }
    rest
}

/// Makes a series orthogonal to another.
fn subtract(series: &mut [f64], other: &[f64]) {
    let product = |one: &[f64]| one.iter().zip(other).map(|(one, other)| one * other).sum::<f64>();
    let part = product(series) / product(other);
    series.iter_mut().zip(other).for_each(|(value, other)| *value -= part * other);
}
