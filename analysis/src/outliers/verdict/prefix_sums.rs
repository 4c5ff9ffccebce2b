//! Levels over time: the mean logarithm of durations in any range of time bins, by subtraction of running sums.

use std::cell::RefCell;
use std::ops::Range;

use super::series::Series;

/// The main body of a group in a time bin.
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

/// The end of a straight line, and its variance for a variance of 1.
pub(super) struct Extrapolation {
    pub at: f64,
    pub error: f64,
}

/// Sums from the first bin up to each, so that any interval's mean is a subtraction.
pub(super) struct PrefixSums {
    /// The number of durations.
    pub counts: Vec<f64>,
    /// The sum of their logarithms.
    pub logarithms: Vec<f64>,
    /// Their sum.
    pub sums: Vec<f64>,
    /// The variance of a single duration's logarithm, from durations near each other.
    pub variance: f64,
    /// What was found out about blocks of a number of bins: most numbers are asked for several times.
    blocks: RefCell<Vec<(usize, Differences)>>,
}

/// By how many errors of independent durations neighbouring blocks of bins differ.
#[derive(Clone, Copy)]
struct Differences {
    /// The upper median, if there are enough pairs.
    median: Option<f64>,
    /// The largest but one, if there are enough pairs.
    high: Option<f64>,
}

impl PrefixSums {
    pub fn new(bins: &[Bin]) -> Self {
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
        // Durations of one octave are treated as equal; the constant accounts for their spread.
        let variance = (within.max(0.0) + between) / freedom + 0.02;
        PrefixSums {
            counts,
            logarithms: running(|bin| bin.logarithms),
            sums: running(|bin| bin.sum),
            variance,
            blocks: RefCell::default(),
        }
    }

    /// The number of bins.
    pub fn bins(&self) -> usize {
        self.counts.len() - 1
    }

    /// The number of durations in a range.
    pub fn count(&self, range: &Range<usize>) -> f64 {
        self.counts[range.end] - self.counts[range.start]
    }

    /// The level of a range.
    pub fn level(&self, range: &Range<usize>) -> f64 {
        (self.logarithms[range.end] - self.logarithms[range.start]) / self.count(range)
    }

    /// By how many standard errors the level of a range differs from the rest of a piece.
    pub fn score(&self, range: &Range<usize>, piece: &Range<usize>) -> f64 {
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

    /// The straight line through the levels of a range, over the number of events, at a place.
    pub fn line(&self, range: &Range<usize>, at: f64) -> Option<Extrapolation> {
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

    /// The bins up to an edge with this number of events.
    pub fn before(&self, edge: usize, events: f64) -> Range<usize> {
        let from = self.counts[..=edge].partition_point(|&count| count <= self.counts[edge] - events);
        from.saturating_sub(1).min(edge.saturating_sub(1))..edge
    }

    /// The bins from an edge on with this number of events.
    pub fn after(&self, edge: usize, events: f64) -> Range<usize> {
        let to = self.counts.partition_point(|&count| count < self.counts[edge] + events);
        edge..to.max(edge + 1).min(self.bins())
    }

    /// How many times more the level fluctuates, from one range of this length to the next, than it would for
    /// independent durations. Where the trace has too few of such ranges, it grows as it does from shorter ones on.
    pub fn noise(&self, length: usize) -> f64 {
        const BLOCKS: usize = 16;
        let wanted = (length / 2).max(1);
        let size = wanted.min(self.bins() / BLOCKS).max(1);
        let noise = self.fluctuation(size);
        let growth = match size {
            0..4 => 1.0,
            _ => (noise / self.fluctuation(size / 4)).sqrt().clamp(1.0, 1.5),
        };
        let grown = noise * growth.powf((wanted as f64 / size as f64).log2());
        // What goes up and down faster than this averages out.
        match self.differences(wanted).high {
            Some(high) => grown.min((2.0 * high).max(1.0)),
            None => grown,
        }
    }

    /// By how many errors of independent durations neighbouring blocks of a number of bins differ.
    fn differences(&self, size: usize) -> Differences {
        let known = self.blocks.borrow().iter().find(|(known, _)| *known == size).map(|(_, known)| *known);
        known.unwrap_or_else(|| {
            let found = Differences::new(self.ratios(size));
            self.blocks.borrow_mut().push((size, found));
            found
        })
    }

    /// The same, for each pair of neighbours.
    fn ratios(&self, size: usize) -> Vec<f64> {
        let edges = || self.counts.iter().zip(&self.logarithms).step_by(size);
        let mut blocks = edges().zip(edges().skip(1)).map(|((from, below), (to, above))| {
            let count = to - from;
            (1.0 / count, (above - below) / count)
        });
        let Some(mut before) = blocks.next() else { return Vec::new() };
        let ratio = |(inverse, level): (f64, f64)| {
            let (inverse_before, level_before) = std::mem::replace(&mut before, (inverse, level));
            let error = (self.variance * (inverse_before + inverse)).sqrt();
            (level - level_before).abs() / error
        };
        blocks.map(ratio).collect()
    }

    /// The noise of blocks of a number of bins, by the median of the differences between neighbours.
    pub fn fluctuation(&self, size: usize) -> f64 {
        // The median of a normal distribution's absolute values.
        self.differences(size).median.map_or(1.0, |median| (median / 0.674_5).max(1.0))
    }
}

impl Differences {
    fn new(mut ratios: Vec<f64>) -> Differences {
        /// The fewest pairs that a median is taken of, and the fewest that tell how large differences become.
        const FEWEST: usize = 8;
        const FEWEST_HIGH: usize = 4;
        let count = ratios.len();
        // Both are selected, as nothing else of their order matters.
        let mut rest = &mut *ratios;
        let median = (count >= FEWEST).then(|| {
            let (_, median, above) =
                std::mem::take(&mut rest).select_nth_unstable_by(count / 2, f64::total_cmp);
            rest = above;
            *median
        });
        let high = (count >= FEWEST_HIGH).then(|| {
            let last = rest.len() - 2;
            *rest.select_nth_unstable_by(last, f64::total_cmp).1
        });
        Differences { median, high }
    }
}
