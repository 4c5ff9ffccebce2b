//! From which duration on an event is improbable for its group.
//!
//! The upper end of a group's durations is modelled as a stretched exponential (Weibull) tail, which is a
//! straight line through two of the group's percentiles when ln(duration) is drawn over ln(-ln(probability)).
//! Percentiles are robust: outliers that are rarer than the upper one do not move the line. The line is
//! followed to the probability that the sensitivity asks for. It is never drawn flatter than an
//! exponential tail, so that a group whose percentiles are all 0 or 1 still has a limit above its clock's
//! resolution. Two guards follow: a least excess, below which delays are the scheduler's and no one's
//! concern, and a share of the group above which a duration is not rare, whatever the model says.

use serde::Serialize;

use super::histogram::{Histogram, Quantile};
use crate::unit::TimeUnit;

/// How outliers are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// A duration that is less probable than this is an outlier.
    pub probability: f64,
    /// An outlier exceeds the percentile it is compared with by at least this.
    pub least_excess_ns: u64,
}

impl Default for Rule {
    fn default() -> Self {
        Rule { probability: 1e-6, least_excess_ns: 50_000 }
    }
}

/// What the limit rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The tail of the group's own durations.
    Own,
    /// The tail of all durations of the event, because the group has too few of its own.
    Pooled,
    /// The median of the few durations that the event has.
    Median,
}

/// The limit for a group, and what to say about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// What the limit rests on.
    pub basis: Basis,
    /// Durations above this are outliers, in the kind's unit.
    pub limit: u64,
    /// How many plausible durations the group has.
    pub seen: u64,
    /// How many durations the limit rests on.
    pub compared_with: u64,
    /// The highest percentile that this number of durations can tell.
    pub quantile: Quantile,
    /// Its value, in the kind's unit.
    pub at_quantile: u64,
}

/// With fewer durations than this a group says little of itself.
const ENOUGH: u64 = 20;
/// With fewer durations than this not even a median says anything.
const FEWEST: u64 = 5;
/// This many outliers of a group are never too many.
const ALWAYS_RARE: u64 = 10;
/// How much larger than the model's probability the share of outliers in a group may be.
const MODEL_MARGIN: f64 = 250.0;
/// The shape that is assumed where only a median is known: a tail of 1/k = 1.5, heavier than exponential.
const ASSUMED_STRETCH: f64 = 1.5;

/// The pairs of percentiles that the tail is drawn through, and how many durations each needs.
const ANCHORS: [(u64, Quantile, Quantile); 3] = [
    (ENOUGH, Quantile::P50, Quantile::P90),
    (300, Quantile::P90, Quantile::P99),
    (10_000, Quantile::P99, Quantile::P999),
];

impl Basis {
    /// The name, as findings are serialised.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Own => "own",
            Basis::Pooled => "pooled",
            Basis::Median => "median",
        }
    }
}

impl Rule {
    /// The limit for a group, given all durations of its event; none if there are too few to say anything.
    pub fn judge(&self, own: &Histogram, pool: &Histogram, unit: TimeUnit) -> Option<Judged> {
        let (basis, durations) = match (own.count(), pool.count()) {
            (ENOUGH.., _) => (Basis::Own, own),
            (_, ENOUGH..) => (Basis::Pooled, pool),
            (_, FEWEST..) => (Basis::Median, pool),
            _ => return None,
        };
        let count = durations.count();
        let (quantile, at_quantile) = reference(durations)?;
        let tail = match basis {
            Basis::Median => self.follow(at_quantile, Quantile::P50, ASSUMED_STRETCH),
            Basis::Own | Basis::Pooled => self.follow_lowest(durations)?,
        };
        let excess = self.least_excess_ns.div_ceil(unit.nanoseconds());
        let share = (self.probability * MODEL_MARGIN).min(0.01);
        let rare = ALWAYS_RARE.max((count as f64 * share) as u64);
        // Of a group's durations at most the `rare` longest lie above the bucket of the next longest.
        let common = durations.bucket_at_rank(count.saturating_sub(rare)).map_or(0, |bucket| bucket.high);
        let limit = tail.max(at_quantile.saturating_add(excess)).max(common);
        Some(Judged { basis, limit, seen: own.count(), compared_with: count, quantile, at_quantile })
    }

    /// The lowest limit of all pairs of percentiles that there are enough durations for, but the median and
    /// the 90th percentile only where they are all there is. A group with two modes can fool one pair.
    fn follow_lowest(&self, durations: &Histogram) -> Option<u64> {
        let usable = ANCHORS.iter().filter(|(least, ..)| durations.count() >= *least);
        let usable: Vec<_> = usable.collect();
        let better = if usable.len() > 1 { &usable[1..] } else { &usable };
        better
            .iter()
            .filter_map(|(_, lower, upper)| {
                let (low, high) = (durations.percentile(*lower)?, durations.percentile(*upper)?);
                // A clock that counts whole units says n for anything below n + 1.
                let rise = (high as f64 + 1.0).ln() - (low as f64 + 1.0).ln();
                let stretch = rise / (depth(tail_of(*upper)).ln() - depth(tail_of(*lower)).ln());
                Some(self.follow(high, *upper, stretch.max(1.0)))
            })
            .min()
    }

    /// Where the tail from a percentile on reaches the probability.
    fn follow(&self, from: u64, quantile: Quantile, stretch: f64) -> u64 {
        let ratio = depth(self.probability) / depth(tail_of(quantile));
        ((from as f64 + 1.0) * ratio.powf(stretch)) as u64
    }
}

/// The part of the durations above a percentile.
fn tail_of(quantile: Quantile) -> f64 {
    1.0 - f64::from(quantile.part) / f64::from(quantile.of)
}

/// How deep in an exponential tail a probability lies.
fn depth(probability: f64) -> f64 {
    -probability.ln()
}

/// The highest percentile that at least one duration in the tail supports, with its value.
fn reference(durations: &Histogram) -> Option<(Quantile, u64)> {
    let quantile = match durations.count() {
        1_000.. => Quantile::P999,
        100.. => Quantile::P99,
        ENOUGH.. => Quantile::P90,
        _ => Quantile::P50,
    };
    Some((quantile, durations.percentile(quantile)?))
}

#[cfg(test)]
mod tests;
