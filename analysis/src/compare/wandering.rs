//! How far off the levels of recordings may be, if these wander in a way that is not known.
//!
//! A level that wanders keeps a share of itself from block to block (AR(1)). The larger the share, the fewer independent levels a
//! recording has, and 24 blocks do not tell the share well: a level that takes all of a recording to change may look steady by chance.
//! One estimate of it would be wrong too often. So each of several shares is taken for true in turn, and what it says of the change
//! counts by how well it explains the blocks of both recordings. If a level may have wandered over all of a recording, it may be far
//! from that of another one, and little is certain.

use crate::outliers::verdict::{ln_student_tail, student_quantile, tail_quantile};

/// The shares that a block may keep, up to a level that takes a dozen recordings to change, and how likely all but the first are beforehand, compared with it.
const LIKELY: f64 = 1.0;
const KEPT: [f64; 9] = [0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.96, 0.99, 0.997];

/// The level of a block of time, and that of other groups if it is compared with these.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    pub own: f64,
    pub others: f64,
    /// Whether a recording begins: its level has nothing to do with that of the one before.
    pub begins: bool,
}

/// What the levels of two sides say of the change, for each share.
#[derive(Clone, Debug)]
pub struct Wandering([Option<Case>; KEPT.len()]);

#[derive(Clone, Copy, Debug)]
struct Case {
    /// How well it explains the levels (the logarithm).
    ln_weight: f64,
    follows: f64,
    change: f64,
    /// Of the change.
    variance: f64,
    freedom: f64,
}

/// Sums over what each level differs by from what the one before lets expect, in units of its deviation: of a constant, of the others,
/// and of the level itself.
#[derive(Clone, Copy, Default)]
struct Sums {
    blocks: f64,
    ln_scale: f64,
    constant: f64,
    constant_others: f64,
    others: f64,
    constant_own: f64,
    others_own: f64,
    own: f64,
}

impl Sums {
    /// Blocks without durations are none.
    fn of(levels: &[Option<Level>], kept: f64) -> Self {
        let mut sums = Sums::default();
        let (mut before, mut share): (Option<Level>, f64) = (None, 1.0);
        for level in levels {
            share *= kept;
            let Some(level) = level else { continue };
            let last = before.replace(*level).filter(|_| !level.begins);
            let part = if last.is_some() { share } else { 0.0 };
            let last = last.unwrap_or(*level);
            let variance = 1.0 - part * part;
            let [constant, others, own] =
                [1.0 - part, level.others - part * last.others, level.own - part * last.own];
            sums.blocks += 1.0;
            sums.ln_scale += variance.ln();
            sums.constant += constant * constant / variance;
            sums.constant_others += constant * others / variance;
            sums.others += others * others / variance;
            sums.constant_own += constant * own / variance;
            sums.others_own += others * own / variance;
            sums.own += own * own / variance;
            share = 1.0;
        }
        sums
    }

    /// Of the others, of both, and of the level itself, around their means.
    fn around_means(&self) -> [f64; 3] {
        let Sums { constant, constant_others, constant_own, .. } = *self;
        [
            (self.others - constant_others * constant_others / constant).max(0.0),
            self.others_own - constant_others * constant_own / constant,
            // Less is what rounding leaves of equal levels.
            Some(self.own - constant_own * constant_own / constant)
                .filter(|own| *own > 1e-12 * self.own)
                .unwrap_or(0.0),
        ]
    }
}

impl Wandering {
    pub fn new(sides: [&[Option<Level>]; 2]) -> Self {
        let likely = |kept: f64| if kept > 0.0 { LIKELY / (KEPT.len() - 1) as f64 } else { 1.0 };
        Wandering(KEPT.map(|kept| Case::new(sides.map(|side| Sums::of(side, kept)), likely(kept))))
    }

    /// Each case with its weight; these add up to 1.
    fn weighted(&self) -> Vec<(f64, Case)> {
        let cases = || self.0.iter().flatten();
        let most = cases().map(|case| case.ln_weight).fold(f64::NEG_INFINITY, f64::max);
        let weight = |case: &Case| (case.ln_weight - most).exp();
        let sum: f64 = cases().map(weight).sum();
        cases().map(|case| (weight(case) / sum, *case)).collect()
    }

    /// The change that others do not explain, and how strongly levels follow these; none if nothing is known.
    pub fn change(&self) -> Option<(f64, f64)> {
        let cases = self.weighted();
        let mean = |of: fn(&Case) -> f64| cases.iter().map(|(weight, case)| weight * of(case)).sum();
        (!cases.is_empty()).then(|| (mean(|case| case.change), mean(|case| case.follows)))
    }

    /// How likely a change beyond `ignored` is by chance (the logarithm), and whether it is upwards.
    pub fn probability(&self, ignored: f64) -> Option<(f64, bool)> {
        let cases = self.weighted();
        let opposite = |sign: f64| -> f64 {
            cases.iter().map(|(weight, case)| weight * case.beyond(sign * case.change - ignored)).sum()
        };
        let [not_up, not_down] = [opposite(1.0), opposite(-1.0)];
        let probability = (2.0 * not_up.min(not_down)).min(1.0);
        // Not even a logarithm is known of what is too rare for a number.
        (!cases.is_empty()).then(|| (probability.max(f64::MIN_POSITIVE).ln(), not_up < not_down))
    }

    /// How far off the change may be: it is farther in each direction with this probability.
    pub fn reach(&self, beyond: f64) -> f64 {
        let cases = self.weighted();
        let normal = tail_quantile(beyond.ln());
        let of_case = |case: &Case| student_quantile(normal, case.freedom) * case.variance.sqrt();
        let reaches = || cases.iter().map(|(_, case)| of_case(case));
        let (mut low, mut high) = (reaches().fold(f64::INFINITY, f64::min), reaches().fold(0.0, f64::max));
        for _ in 0..40 {
            if high <= low * 1.001 {
                break;
            }
            let middle = (low * high).sqrt().max(high / 1e9);
            let rest: f64 = cases.iter().map(|(weight, case)| weight * case.beyond(middle)).sum();
            *(if rest > beyond { &mut low } else { &mut high }) = middle;
        }
        high
    }
}

impl Case {
    fn new(sides: [Sums; 2], likely: f64) -> Option<Self> {
        let around = sides.each_ref().map(Sums::around_means);
        let [others, both] = [0, 1].map(|place| around[0][place] + around[1][place]);
        let has_others = others > 1e-9 * (sides[0].others + sides[1].others);
        let follows = if has_others { (both / others).max(0.0) } else { 0.0 };
        let rests = around.map(|[others, both, own]| own - 2.0 * follows * both + follows * follows * others);
        let free = sides.map(|side| side.blocks - if has_others { 1.5 } else { 1.0 });
        if free.iter().any(|free| *free <= 0.0) || rests.iter().all(|rest| *rest <= 0.0) {
            return None;
        }
        let of_side = [0, 1].map(|side| rests[side].max(0.0) / free[side] / sides[side].constant);
        let [of_others, of_own] = [|side: &Sums| side.constant_others, |side: &Sums| side.constant_own]
            .map(|of| of(&sides[1]) / sides[1].constant - of(&sides[0]) / sides[0].constant);
        let of_block = (rests[0] + rests[1]) / (free[0] + free[1]);
        let of_follows = if has_others { of_others * of_others * of_block / others } else { 0.0 };
        let of_sides = of_side[0] + of_side[1];
        let parts = of_side[0].powi(2) / free[0] + of_side[1].powi(2) / free[1];
        // Equal levels say nothing of the share.
        let ln_weight = |side: usize| {
            let Sums { ln_scale, constant, .. } = sides[side];
            let is_told = rests[side] > 0.0;
            if is_told { (ln_scale + constant.ln() + free[side] * rests[side].ln()) / -2.0 } else { 0.0 }
        };
        let of_slope = if has_others { others.ln() / -2.0 } else { 0.0 };
        Some(Case {
            ln_weight: likely.ln() + ln_weight(0) + ln_weight(1) + of_slope,
            follows,
            change: of_own - follows * of_others,
            variance: of_sides + of_follows,
            freedom: of_sides * of_sides / parts,
        })
    }

    /// The probability that the change is off by more than this, in one direction.
    fn beyond(&self, distance: f64) -> f64 {
        let tail = ln_student_tail(distance * distance / self.variance, self.freedom).exp();
        if distance > 0.0 { tail } else { 1.0 - tail }
    }
}
