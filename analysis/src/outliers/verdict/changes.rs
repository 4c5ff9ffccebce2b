//! When the level of a group's durations jumped: change points in a series of time bins.
//!
//! The level of a bin is the mean logarithm of its durations, which a few stalls hardly move and which has a finite
//! variance even for a power law. Intervals of all lengths are compared with the rest (circular binary segmentation
//! over a dyadic scan); where one differs more than chance allows, its edges are moved until it differs most. A slow
//! period has sharp edges: a drift, or a daily cycle, has none and is not reported. At the beginning or the end of a trace that
//! is level otherwise, an edge may be gradual: a server warms up, or becomes slower when the recording ends.

use std::ops::Range;

use super::prefix_sums::PrefixSums;
use super::rule::{PERIOD_EVENTS, PERIOD_JUMP, PERIOD_OVER_NOISE, PERIOD_SURE, PERIOD_WORTH, SHIFT};

/// Ranges of at most this number of bins are too short for a test of their edges.
const SHORT: usize = 3;
/// How many times the noise a jump at an edge is, at least.
const EDGE_OVER_NOISE: f64 = 2.0;
/// From this noise on, durations resemble those shortly before so much that whole ranges say little, and single steps more.
const ALIKE_NOISE: f64 = 2.0;
/// The number of lengths on each side of a step, each twice the one before.
const STEP_SIZES: usize = 6;
/// The fewest events on each side of a step.
const STEP_EVENTS: f64 = 4.0;
/// The number of blocks of the rest of a trace that are compared where an edge is gradual, and how many times what they differ by
/// the level is raised at least.
const LEVEL_BLOCKS: usize = 12;
const OVER_LEVEL: f64 = 3.0;
/// How often what is left and right of a change is searched again.
const DEPTH: usize = 6;

/// The times in which the level was higher, as ranges of bins.
pub(super) fn changes(course: &PrefixSums, probability: f64, least_factor: f64) -> Vec<Range<usize>> {
    let bins = course.bins();
    if course.count(&(0..bins)) < (PERIOD_EVENTS as f64) || bins < 2 {
        return Vec::new();
    }
    let noise = course.noises();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut pieces = vec![(0..bins, DEPTH)];
    while let Some((piece, depth)) = pieces.pop() {
        let Some(change) = course.strongest(&piece, probability, &noise) else { continue };
        let raised = course.raised(&piece, &change);
        match raised.filter(|raised| course.is_slow_period(raised, least_factor, probability)) {
            Some(raised) => {
                let rest = [piece.start..raised.start, raised.end..piece.end];
                found.push(raised);
                if depth > 0 {
                    pieces.extend(rest.map(|rest| (rest, depth - 1)));
                }
            }
            None if depth > 0 => {
                let parts = [piece.start..change.start, change.clone(), change.end..piece.end];
                pieces.extend(parts.map(|part| (part, depth - 1)));
            }
            None => {}
        }
    }
    found.sort_by_key(|range| range.start);
    joined(found)
}

/// Ranges that touch are one.
fn joined(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The search for changes.
impl PrefixSums {
    /// The noise of ranges by the power of two of their length.
    fn noises(&self) -> Vec<f64> {
        (0..=self.bins().ilog2()).map(|power| self.noise(1 << power)).collect()
    }

    /// The range of a piece that differs most from the rest, if more than chance allows. Where durations are similar to
    /// those shortly before, chance allows more: the noise of each length is part of its error.
    fn strongest(&self, piece: &Range<usize>, probability: f64, noise: &[f64]) -> Option<Range<usize>> {
        let length = piece.len();
        // The shorter one of the range and the rest decides how uncertain their difference is.
        let over_noise = |range: &Range<usize>| {
            let shorter = range.len().min(length - range.len()).max(1);
            self.score(range, piece).abs() / noise[shorter.ilog2() as usize]
        };
        let range = self.refined(self.highest(piece)?, piece);
        let score = over_noise(&range);
        // Bonferroni: the probability is divided by the number of ranges examined.
        let looked_at = 10.0 * self.bins() as f64;
        if score * score / 2.0 > (looked_at / probability).ln() {
            return Some(range);
        }
        let shorter = range.len().min(length - range.len()).max(1);
        let is_alike = noise[shorter.ilog2() as usize] >= ALIKE_NOISE && score >= PERIOD_OVER_NOISE;
        is_alike.then(|| self.between_steps(&range, piece, probability)).flatten()
    }

    /// The range of a piece with the highest score, among those up to any place and those of any power of two.
    fn highest(&self, piece: &Range<usize>) -> Option<Range<usize>> {
        let length = piece.len();
        let (whole, all) = (self.count(piece), self.logarithms[piece.end] - self.logarithms[piece.start]);
        let mut best: Option<(f64, Range<usize>)> = None;
        // Nearly all ranges have lower scores than the best so far, which is found out without a division or a root: the
        // square of a score is that of `excess`, divided by the numbers inside and outside and by what all ranges share.
        let mut bar = -1.0;
        let mut consider = |range: Range<usize>| {
            let inside = self.count(&range);
            let excess = (self.logarithms[range.end] - self.logarithms[range.start]) * whole - all * inside;
            if excess * excess <= bar * (inside * (whole - inside)) {
                return;
            }
            let score = self.score(&range, piece).abs();
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
                // By how much the two ways may differ is far below a hundredth where a score is not next to nothing.
                bar = if score > 1.0 { 0.99 * score * score * self.variance * whole } else { -1.0 };
                best = Some((score, range));
            }
        };
        (1..length).for_each(|cut| consider(piece.start..piece.start + cut));
        let mut size = 1;
        while size < length {
            let starts = (piece.start..=piece.end - size).step_by((size / 4).max(1));
            starts.for_each(|start| consider(start..start + size));
            size *= 2;
        }
        best.map(|(_, range)| range)
    }

    /// The range between the largest steps near the edges of another one, if both are larger than chance allows.
    ///
    /// Where each duration resembles the one before, the level wanders far, but slowly: a step from a few durations to the
    /// next ones is improbable even if the level was as high at other times.
    fn between_steps(
        &self,
        range: &Range<usize>,
        piece: &Range<usize>,
        probability: f64,
    ) -> Option<Range<usize>> {
        let noise = self.step_noises();
        let sign = self.score(range, piece).signum();
        let near = range.len() / 4;
        let largest = |edge: usize, sign: f64| {
            if edge == piece.start || edge == piece.end {
                return Some(edge);
            }
            let places = edge.saturating_sub(near).max(piece.start + 1)..=(edge + near).min(piece.end - 1);
            let sized = places.map(|place| (sign * self.step(place, sign, &noise), place));
            let (size, place) = sized.max_by(|one, other| one.0.total_cmp(&other.0))?;
            self.is_improbable_step(size, probability).then_some(place)
        };
        let (start, end) = (largest(range.start, sign)?, largest(range.end, -sign)?);
        (start < end).then_some(start..end)
    }

    /// The noise of the lengths on each side of a step.
    fn step_noises(&self) -> [f64; STEP_SIZES] {
        std::array::from_fn(|power| self.fluctuation(1 << power))
    }

    /// By how many times the usual difference the level rises at an edge, from a few durations before it to those after it;
    /// of several numbers of durations that with the largest one in the direction of `sign`.
    fn step(&self, edge: usize, sign: f64, noise: &[f64; STEP_SIZES]) -> f64 {
        let mut largest = 0.0;
        for (power, noise) in noise.iter().enumerate() {
            let size = 1 << power;
            if edge < size || edge + size > self.bins() {
                break;
            }
            let (before, after) = (edge - size..edge, edge..edge + size);
            let [one, other] = [&before, &after].map(|range| self.count(range));
            if one.min(other) < STEP_EVENTS {
                continue;
            }
            let error = noise * (self.variance * (1.0 / one + 1.0 / other)).sqrt();
            let step = sign * (self.level(&after) - self.level(&before)) / error;
            largest = step.max(largest);
        }
        sign * largest
    }

    /// Whether a step is larger than chance allows at any of all places.
    fn is_improbable_step(&self, size: f64, probability: f64) -> bool {
        let looked_at = (STEP_SIZES * self.bins()) as f64;
        size * size / 2.0 > (looked_at / probability).ln()
    }

    /// Moves the edges of a range until it differs most.
    fn refined(&self, mut range: Range<usize>, piece: &Range<usize>) -> Range<usize> {
        let mut step = (range.len() / 4).max(1);
        loop {
            let score = self.score(&range, piece).abs();
            let moved = [
                range.start.saturating_sub(step).max(piece.start)..range.end,
                (range.start + step).min(range.end - 1)..range.end,
                range.start..(range.end + step).min(piece.end),
                range.start..range.end.saturating_sub(step).max(range.start + 1),
            ];
            let better = moved.into_iter().filter(|moved| self.score(moved, piece).abs() > score);
            let best =
                better.max_by(|a, b| self.score(a, piece).abs().total_cmp(&self.score(b, piece).abs()));
            match best {
                Some(moved) => range = moved,
                None if step == 1 => return range,
                None => step /= 2,
            }
        }
    }

    /// The part of a piece in which the level was raised: the range itself, or the rest where the level fell at the
    /// end or rose after the beginning. A remainder before or after it that is too small to judge is part of it.
    fn raised(&self, piece: &Range<usize>, change: &Range<usize>) -> Option<Range<usize>> {
        let is_raised = self.score(change, piece) > 0.0;
        let whole = 0..self.bins();
        let few = (PERIOD_EVENTS as f64).min(self.count(&whole) / 20.0);
        let change = Range {
            start: if self.count(&(0..change.start)) < few { 0 } else { change.start },
            end: if self.count(&(change.end..whole.end)) < few { whole.end } else { change.end },
        };
        match (is_raised, *piece == whole) {
            (true, _) => Some(change),
            (false, true) if change.start == 0 => Some(change.end..whole.end),
            (false, true) if change.end == whole.end => Some(0..change.start),
            (false, _) => None,
        }
    }

    /// Whether a raised range is a slow period: slow enough, with sharp edges, and above the usual fluctuation.
    fn is_slow_period(&self, range: &Range<usize>, least_factor: f64, probability: f64) -> bool {
        let whole = 0..self.bins();
        let (inside, all) = (self.count(range), self.count(&whole));
        let outside = all - inside;
        let at_border = range.start == 0 || range.end == whole.end;
        if inside < (PERIOD_EVENTS as f64)
            || outside < (PERIOD_EVENTS as f64)
            || (!at_border && inside > outside)
        {
            return false;
        }
        let logarithms =
            self.logarithms[whole.end] - self.logarithms[range.end] + self.logarithms[range.start];
        let difference = self.level(range) - logarithms / outside;
        let sum = self.sums[range.end] - self.sums[range.start];
        let rest = self.sums[whole.end] - sum;
        let ratio = (sum / inside) / (rest / outside).max(f64::MIN_POSITIVE);
        if ratio < least_factor || difference <= 0.0 {
            return false;
        }
        if sum - inside * rest / outside < PERIOD_WORTH * (sum + rest) {
            return false;
        }
        let noise = self.noise(range.len().min(whole.end - range.len()));
        let error = noise * (self.variance * (1.0 / inside + 1.0 / outside)).sqrt();
        if difference / error < PERIOD_OVER_NOISE {
            return false;
        }
        let steps = (noise >= ALIKE_NOISE).then(|| self.step_noises());
        let is_step = |edge: usize, sign: f64| {
            let size = steps.as_ref().map(|noise| sign * self.step(edge, sign, noise));
            size.is_some_and(|size| self.is_improbable_step(size, probability))
        };
        range.len() <= SHORT
            || self.is_gradual(range)
            || [(range.start, 1.0), (range.end, -1.0)]
                .into_iter()
                .filter(|&(edge, _)| edge > 0 && edge < whole.end)
                .all(|(edge, sign)| self.is_sharp(edge, range, difference, noise) || is_step(edge, sign))
    }

    /// Whether the level is raised at the beginning or at the end, and all the rest is level but for what lies next to it: a drift
    /// or a cycle would go on in the rest.
    fn is_gradual(&self, range: &Range<usize>) -> bool {
        let (whole, events) = (0..self.bins(), self.count(range));
        let (outer, rest) = match (range.start == 0, range.end == whole.end) {
            (true, false) => (self.after(0, events / 2.0), self.after(range.end, events).end..whole.end),
            (false, true) => {
                (self.before(whole.end, events / 2.0), 0..self.before(range.start, events).start)
            }
            _ => return false,
        };
        let count = self.count(&rest);
        if rest.len() < LEVEL_BLOCKS || count * 2.0 < self.count(&whole) {
            return false;
        }
        let edge = |block: usize| {
            let until = self.counts[rest.start] + count * block as f64 / LEVEL_BLOCKS as f64;
            self.counts.partition_point(|&count| count < until - 0.5).clamp(rest.start, rest.end)
        };
        let blocks = (0..LEVEL_BLOCKS).map(|block| edge(block)..edge(block + 1));
        let levels: Vec<f64> =
            blocks.filter(|block| !block.is_empty()).map(|block| self.level(&block)).collect();
        let most = levels.iter().copied().fold(f64::MIN, f64::max);
        let least = levels.iter().copied().fold(f64::MAX, f64::min);
        let outer = self.level(&outer);
        outer - most >= SHIFT.ln() && outer - self.level(&rest) >= OVER_LEVEL * (most - least)
    }

    /// Whether the level jumps at an edge by most of the difference. A drift across the edge is not a jump: straight
    /// lines are fitted before and after it, and compared at the edge (regression discontinuity).
    fn is_sharp(&self, edge: usize, range: &Range<usize>, difference: f64, noise: f64) -> bool {
        let events = self.count(range) / 2.0;
        // The bin of the edge may have both levels.
        let gap = usize::from(range.len() >= 8);
        let before = self.before(edge.saturating_sub(gap), events);
        let after = self.after((edge + gap).min(self.bins()), events);
        let at = self.counts[edge];
        let (Some(before), Some(after)) = (self.line(&before, at), self.line(&after, at)) else {
            return false;
        };
        let jump = if edge == range.start { after.at - before.at } else { before.at - after.at };
        let error = (self.variance * (before.error + after.error)).sqrt();
        let is_sure = jump >= PERIOD_SURE * error && jump >= EDGE_OVER_NOISE * noise * error;
        jump >= PERIOD_JUMP * difference && is_sure
    }
}
