//! Rates and blocked time, by bins of time.

use std::collections::BTreeMap;

use super::Part;
use crate::finding::Span;

/// The most bins that a timeline is divided into, and the shortest; nanoseconds.
const MOST_BINS: i64 = 500;
const SHORTEST: i64 = 1_000_000;

/// Bins of the same width from a time on.
#[derive(Clone, Copy, Debug)]
pub struct Bins {
    begin: i64,
    end: i64,
    width: i64,
}

/// Divides a span into bins.
pub fn bins(span: Span) -> Bins {
    let length = span.length_ns().max(0);
    Bins { begin: span.begin_ns, end: span.end_ns, width: (length / MOST_BINS + 1).max(SHORTEST) }
}

impl Bins {
    /// The bin of a time.
    fn of(&self, time: i64) -> i64 {
        time.saturating_sub(self.begin).max(0) / self.width
    }

    fn begin_of(&self, bin: i64) -> i64 {
        self.begin.saturating_add(bin.saturating_mul(self.width))
    }
}

/// Counts what processes do, bin by bin, in time order.
pub struct Rates {
    bins: Bins,
    /// The bin of each process that is being counted, and its count.
    counts: BTreeMap<usize, (i64, u64)>,
}

impl Rates {
    pub fn new(bins: Bins) -> Self {
        Rates { bins, counts: BTreeMap::new() }
    }

    /// Counts something that ended, and returns what that says of earlier bins.
    pub fn ended(&mut self, process: usize, time: i64) -> Vec<Part<'static>> {
        let bin = self.bins.of(time);
        let known = self.counts.get(&process).copied();
        let (count, complete) = match known {
            Some((current, count)) if current >= bin => ((current, count + 1), Vec::new()),
            Some((current, count)) => ((bin, 1), self.complete(process, current, count, bin)),
            None => ((bin, 1), Vec::new()),
        };
        self.counts.insert(process, count);
        complete
    }

    /// The rates of the last bins.
    pub fn finish(self) -> Vec<Part<'static>> {
        let last =
            |(&process, &(bin, count)): (&usize, &(i64, u64))| self.complete(process, bin, count, i64::MAX);
        self.counts.iter().flat_map(last).collect()
    }

    /// The rate of a bin, and that nothing happened after it until the next.
    fn complete(&self, process: usize, bin: i64, count: u64, next: i64) -> Vec<Part<'static>> {
        let rate = count as f64 / (self.bins.width as f64 / 1e9);
        let part = |bin, per_second| Part::Rate { process, at_ns: self.bins.begin_of(bin), per_second };
        let silence = (next > bin + 1).then(|| part(bin + 1, 0.0));
        [part(bin, rate)].into_iter().chain(silence).collect()
    }
}

/// For each bin in which that changes, the share of it that any of the spans covers.
pub fn blocked(bins: &Bins, spans: impl Iterator<Item = (i64, i64)>) -> Vec<Part<'static>> {
    let mut spans: Vec<(i64, i64)> = spans.collect();
    if spans.is_empty() {
        return Vec::new();
    }
    spans.sort_unstable();
    let mut covered: BTreeMap<i64, i64> = BTreeMap::new();
    let mut reached = i64::MIN;
    for (begin, end) in spans {
        let (begin, end) = (begin.max(reached).max(bins.begin), end.min(bins.end));
        reached = reached.max(end);
        if begin >= end {
            continue;
        }
        for bin in bins.of(begin)..=bins.of(end - 1) {
            let (from, to) = (bins.begin_of(bin), bins.begin_of(bin + 1));
            *covered.entry(bin).or_default() += end.min(to) - begin.max(from);
        }
    }
    let share = |bin: i64| covered.get(&bin).map_or(0.0, |covered| *covered as f64 / bins.width as f64);
    let changes = (0..=bins.of(bins.end) + 1).filter(|&bin| bin == 0 || share(bin) != share(bin - 1));
    changes.map(|bin| Part::Blocked { at_ns: bins.begin_of(bin), share: share(bin) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// The times and figures of counters.
    fn figures(parts: &[Part<'_>]) -> Vec<(i64, f64)> {
        let figure = |part: &Part<'_>| match *part {
            Part::Rate { at_ns, per_second, .. } => (at_ns, per_second),
            Part::Blocked { at_ns, share } => (at_ns, share),
            ref other => panic!("{other:?}"),
        };
        parts.iter().map(figure).collect()
    }

    #[test]
    fn rates_count_all_and_say_when_nothing_happens() {
        let mut rates = Rates::new(bins(Span { begin_ns: 0, end_ns: 10 * MS }));
        let mut all: Vec<_> = [0, 1, MS, 5 * MS].iter().flat_map(|&time| rates.ended(0, time)).collect();
        all.extend(rates.finish());
        let expected = [(0, 2000.0), (MS, 1000.0), (2 * MS, 0.0), (5 * MS, 1000.0), (6 * MS, 0.0)];
        assert_eq!(figures(&all), expected);
    }

    #[test]
    fn time_that_is_blocked_twice_counts_once() {
        let bins = bins(Span { begin_ns: 0, end_ns: 4 * MS });
        let shares = blocked(&bins, [(MS, 2 * MS), (MS, 2 * MS + MS / 2), (-5, 0)].into_iter());
        assert_eq!(figures(&shares), [(0, 0.0), (MS, 1.0), (2 * MS, 0.5), (3 * MS, 0.0)]);
        assert!(blocked(&bins, std::iter::empty()).is_empty());
    }
}
