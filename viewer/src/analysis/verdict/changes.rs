//! When the level of a group's durations jumped: change points in a series of time bins.
//!
//! The level of a bin is the mean logarithm of its durations, which a few stalls hardly move and of which even a power law
//! has a variance. Intervals of all lengths are compared with the rest (circular binary segmentation over a dyadic scan);
//! where one differs more than chance allows, its edges are moved until it differs most. A slow period has sharp edges:
//! what drifts, or follows the hours of a day, has none, and is not reported.

use std::ops::Range;

use super::rule::{PERIOD_EVENTS, PERIOD_JUMP, PERIOD_OVER_NOISE, PERIOD_SURE, PERIOD_WORTH};
use super::series::Series;

/// The body of a group in a time bin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bin {
    /// The number of the bin.
    pub number: u64,
    pub count: f64,
    /// The sum of the durations.
    pub sum: f64,
    /// The sum of their logarithms.
    logarithms: f64,
    /// The sum of the squares of those.
    squares: f64,
}

/// Up to this many bins are too short to have an edge that could be looked at.
const SHORT: usize = 3;
/// How often what is left and right of a change is searched again.
const DEPTH: usize = 6;

/// The bins of a series, with the durations that are not above a limit.
pub(super) fn bins(series: &Series, above: u64) -> Vec<Bin> {
    let mut bins: Vec<Bin> = Vec::new();
    for cell in series.cells() {
        let mean = cell.sum as f64 / cell.count as f64;
        if mean > above as f64 {
            continue;
        }
        if bins.last().is_none_or(|bin| bin.number != cell.bin()) {
            bins.push(Bin { number: cell.bin(), ..Bin::default() });
        }
        if let Some(bin) = bins.last_mut() {
            let (count, level) = (cell.count as f64, (mean + 1.0).ln());
            bin.count += count;
            bin.sum += cell.sum as f64;
            bin.logarithms += count * level;
            bin.squares += count * level * level;
        }
    }
    bins
}

/// The times in which the level was higher, as ranges of bins.
pub(super) fn changes(bins: &[Bin], probability: f64, least_factor: f64) -> Vec<Range<usize>> {
    let course = PrefixSums::new(bins);
    if course.count(&(0..bins.len())) < (PERIOD_EVENTS as f64) || bins.len() < 2 {
        return Vec::new();
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut pieces = vec![(0..bins.len(), DEPTH)];
    while let Some((piece, depth)) = pieces.pop() {
        let Some(change) = course.strongest(&piece, probability) else { continue };
        let raised = course.raised(&piece, &change);
        match raised.filter(|raised| course.is_slow_period(raised, least_factor)) {
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

/// The end of a straight line, and its variance for a variance of 1.
struct Extrapolation {
    at: f64,
    error: f64,
}

/// Sums from the first bin up to each, so that any interval's mean is a subtraction.
struct PrefixSums {
    counts: Vec<f64>,
    logarithms: Vec<f64>,
    sums: Vec<f64>,
    /// The variance of a single duration's logarithm, from durations near each other.
    variance: f64,
}

impl PrefixSums {
    fn new(bins: &[Bin]) -> Self {
        let running = |value: fn(&Bin) -> f64| {
            let mut sum = 0.0;
            let sums = bins.iter().map(|bin| {
                sum += value(bin);
                sum
            });
            [0.0].into_iter().chain(sums.collect::<Vec<_>>()).collect::<Vec<f64>>()
        };
        let level = |bin: &Bin| bin.logarithms / bin.count;
        let within: f64 = bins.iter().map(|bin| bin.squares - bin.logarithms * level(bin)).sum();
        let step = |pair: &[Bin]| {
            let difference = level(&pair[1]) - level(&pair[0]);
            difference * difference / (1.0 / pair[0].count + 1.0 / pair[1].count)
        };
        let between: f64 = bins.windows(2).map(step).sum();
        let counts = running(|bin| bin.count);
        let freedom = (counts[bins.len()] - 1.0).max(1.0);
        // Durations of one octave are taken to be equal: what they differ by is added.
        let variance = (within.max(0.0) + between) / freedom + 0.02;
        PrefixSums {
            counts,
            logarithms: running(|bin| bin.logarithms),
            sums: running(|bin| bin.sum),
            variance,
        }
    }

    fn bins(&self) -> usize {
        self.counts.len() - 1
    }

    fn count(&self, range: &Range<usize>) -> f64 {
        self.counts[range.end] - self.counts[range.start]
    }

    fn level(&self, range: &Range<usize>) -> f64 {
        (self.logarithms[range.end] - self.logarithms[range.start]) / self.count(range)
    }

    /// By how many standard errors the level of a range differs from the rest of a piece.
    fn score(&self, range: &Range<usize>, piece: &Range<usize>) -> f64 {
        let (inside, whole) = (self.count(range), self.count(piece));
        let outside = whole - inside;
        if inside < 1.0 || outside < 1.0 {
            return 0.0;
        }
        let all = self.logarithms[piece.end] - self.logarithms[piece.start];
        let logarithms = self.logarithms[range.end] - self.logarithms[range.start];
        let difference = logarithms / inside - (all - logarithms) / outside;
        difference / (self.variance * (1.0 / inside + 1.0 / outside)).sqrt()
    }

    /// The range of a piece that differs most from the rest, if more than chance allows.
    fn strongest(&self, piece: &Range<usize>, probability: f64) -> Option<Range<usize>> {
        let length = piece.len();
        let mut best: Option<(f64, Range<usize>)> = None;
        let mut consider = |range: Range<usize>| {
            let score = self.score(&range, piece).abs();
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
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
        let (_, range) = best?;
        let range = self.refined(range, piece);
        let score = self.score(&range, piece);
        // The chance is shared out over all that was looked at.
        let looked_at = 10.0 * self.bins() as f64;
        (score * score / 2.0 > (looked_at / probability).ln()).then_some(range)
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

    /// Which part of a piece a change raised: the range itself, or the rest where the level fell at the end or rose after
    /// the beginning. What is left before or after it is part of it if that is too little to tell.
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

    /// Whether a raised range is a slow period: slower by enough, with sharp edges, and more than the usual ups and downs.
    fn is_slow_period(&self, range: &Range<usize>, least_factor: f64) -> bool {
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
        if difference.exp().max(ratio) < least_factor || difference <= 0.0 {
            return false;
        }
        if sum - inside * rest / outside < PERIOD_WORTH * (sum + rest) {
            return false;
        }
        let error = (self.variance * (1.0 / inside + 1.0 / outside)).sqrt();
        if difference / (error * self.noise(range.len())) < PERIOD_OVER_NOISE {
            return false;
        }
        range.len() <= SHORT
            || [range.start, range.end]
                .into_iter()
                .filter(|&edge| edge > 0 && edge < whole.end)
                .all(|edge| self.is_sharp(edge, range, difference))
    }

    /// Whether the level jumps at an edge by most of the difference. What drifts across the edge is no jump: straight lines
    /// are drawn through what lies before and after it, and compared where they meet (regression discontinuity).
    fn is_sharp(&self, edge: usize, range: &Range<usize>, difference: f64) -> bool {
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
        jump >= PERIOD_JUMP * difference && jump >= PERIOD_SURE * error
    }

    /// The straight line through the levels of a range, over the number of events, at a place.
    fn line(&self, range: &Range<usize>, at: f64) -> Option<Extrapolation> {
        let n = self.count(range);
        if range.is_empty() || n < 1.0 {
            return None;
        }
        let (mut x, mut xx, mut xy) = (0.0, 0.0, 0.0);
        for bin in range.clone() {
            let place = (self.counts[bin] + self.counts[bin + 1]) / 2.0 - at;
            let count = self.count(&(bin..bin + 1));
            x += count * place;
            xx += count * place * place;
            xy += place * (self.logarithms[bin + 1] - self.logarithms[bin]);
        }
        let (mean, y) = (x / n, self.level(range));
        let spread = xx - n * mean * mean;
        if range.len() < 4 || spread <= 0.0 {
            return Some(Extrapolation { at: y, error: 1.0 / n });
        }
        let slope = (xy - n * mean * y) / spread;
        Some(Extrapolation { at: y - slope * mean, error: 1.0 / n + mean * mean / spread })
    }

    /// The bins up to an edge with this many events.
    fn before(&self, edge: usize, events: f64) -> Range<usize> {
        let from = self.counts[..=edge].partition_point(|&count| count <= self.counts[edge] - events);
        from.saturating_sub(1).min(edge.saturating_sub(1))..edge
    }

    /// The bins from an edge on with this many events.
    fn after(&self, edge: usize, events: f64) -> Range<usize> {
        let to = self.counts.partition_point(|&count| count < self.counts[edge] + events);
        edge..to.max(edge + 1).min(self.bins())
    }

    /// How many times more levels differ from one time to the next, at this scale, than independent durations would.
    fn noise(&self, length: usize) -> f64 {
        const BLOCKS: usize = 9;
        let size = (length / 2).min(self.bins() / BLOCKS).max(1);
        let blocks: Vec<Range<usize>> =
            (0..self.bins() / size).map(|block| block * size..(block + 1) * size).collect();
        let mut ratios: Vec<f64> = blocks
            .windows(2)
            .map(|pair| {
                let (one, other) = (self.count(&pair[0]), self.count(&pair[1]));
                let error = (self.variance * (1.0 / one + 1.0 / other)).sqrt();
                (self.level(&pair[1]) - self.level(&pair[0])).abs() / error
            })
            .collect();
        if ratios.len() < BLOCKS - 1 {
            return 1.0;
        }
        ratios.sort_by(f64::total_cmp);
        // The median of a normal distribution's absolute values.
        (ratios[ratios.len() / 2] / 0.674_5).max(1.0)
    }
}
