//! The durations of a group, block by block of time.

use super::wandering::Level;
use crate::durations::histogram::{Histogram, IMPLAUSIBLE};
use crate::finding::Span;
use crate::groups::group::Extra;

/// The number of blocks that a recording is divided into. Calls of one moment resemble each other, so blocks are what is
/// resampled: a block must be longer than neighbours are alike, and there must be enough of them to tell how they vary.
pub const BLOCKS: usize = 24;

/// Where blocks begin, and how long each is; nanoseconds. The recordings of a side have as many each.
#[derive(Clone, Copy, Debug)]
pub struct Division {
    parts: [Part; BLOCKS],
    count: usize,
}

/// The blocks of one recording.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    begin: i64,
    width: i64,
    first: usize,
    last: usize,
}

impl Division {
    /// Divides the times of recordings, which are in order and do not overlap.
    pub fn new(spans: &[Span]) -> Self {
        // Of more recordings than blocks, neighbours share one.
        let together = spans.len().div_ceil(BLOCKS).max(1);
        let count = spans.len().div_ceil(together);
        let mut parts = [Part::default(); BLOCKS];
        for (number, spans) in spans.chunks(together).enumerate() {
            let [first, last] = [number, number + 1].map(|number| number * BLOCKS / count);
            let (begin, end) = (spans[0].begin_ns, spans[spans.len() - 1].end_ns);
            let width = end.saturating_sub(begin).max(0) / (last - first) as i64 + 1;
            parts[number] = Part { begin, width, first, last: last - 1 };
        }
        Division { parts, count }
    }

    /// Which blocks are the first of a recording.
    pub fn begins(&self) -> [bool; BLOCKS] {
        let parts = &self.parts[..self.count];
        std::array::from_fn(|block| parts.iter().any(|part| part.first == block))
    }

    fn block(&self, time: i64) -> usize {
        let parts = &self.parts[..self.count];
        let after = parts.partition_point(|part| part.begin <= time);
        let Some(part) = parts.get(after.saturating_sub(1)) else { return 0 };
        let block = time.saturating_sub(part.begin).max(0) / part.width;
        (part.first + block as usize).min(part.last)
    }

    /// When the block of a time ends at the earliest.
    fn end(&self, time: i64) -> i64 {
        let parts = &self.parts[..self.count];
        let after = parts.partition_point(|part| part.begin <= time);
        let next = parts.get(after).map_or(i64::MAX, |next| next.begin - 1);
        let Some(part) = after.checked_sub(1).map(|place| parts[place]) else { return next };
        let block = time.saturating_sub(part.begin) / part.width;
        match part.first as i64 + block < part.last as i64 {
            true => part.begin.saturating_add((block + 1) * part.width - 1).min(next),
            false => next,
        }
    }
}

/// The durations of a group in the blocks of one side.
#[derive(Clone, Copy, Debug)]
pub struct Side<'h> {
    pub blocks: &'h [Histogram],
    /// Which of them are the first of a recording.
    pub begins: &'h [bool; BLOCKS],
}

/// Those of both sides, the earlier first.
pub type Sides<'h> = [Side<'h>; 2];

impl Side<'_> {
    /// The levels of the blocks, none where nothing is known.
    pub fn levels(&self, own: impl Iterator<Item = Option<f64>>) -> Vec<Option<Level>> {
        let level =
            |(own, begins): (Option<f64>, &bool)| Some(Level { own: own?, others: 0.0, begins: *begins });
        own.zip(self.begins).map(level).collect()
    }
}

/// The durations of a group in each block; none if it has no durations.
#[derive(Clone, Debug, Default)]
pub struct Blocks(pub Vec<Histogram>);

impl Extra for Blocks {
    type Context = Division;
    /// The number of its block.
    type Moment = usize;

    fn alike_until(time: i64, division: &Division) -> i64 {
        division.end(time)
    }

    fn moment(time: i64, division: &Division) -> usize {
        division.block(time)
    }

    fn take(&mut self, duration: Option<u64>, block: usize, _: &Division) {
        if let Some(ticks) = duration.filter(|&ticks| ticks < IMPLAUSIBLE) {
            self.0.resize_with(BLOCKS, Histogram::default);
            self.0[block].record(ticks);
        }
    }

    fn take_many(&mut self, ticks: u64, count: u64, block: usize, _: &Division) {
        self.0.resize_with(BLOCKS, Histogram::default);
        self.0[block].record_many(ticks, count);
    }

    fn absorb(&mut self, Blocks(other): Self) {
        self.0.resize_with(self.0.len().max(other.len()), Histogram::default);
        self.0.iter_mut().zip(&other).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_have_blocks_of_their_own_and_what_overlaps_is_one() {
        let span = |begin_ns, end_ns| Span { begin_ns, end_ns };
        let spans = Span::merged(vec![span(500, 740), span(0, 200), span(100, 240), span(1000, 1240)]);
        assert_eq!(spans.len(), 3);
        let division = Division::new(&spans);
        let blocks = [0, 29, 31, 239, 500, 739, 999, 1000, 1240, 9999].map(|time| division.block(time));
        assert_eq!(blocks, [0, 0, 1, 7, 8, 15, 15, 16, 23, 23]);
        for time in -10..1300 {
            let end = division.end(time);
            assert!(end >= time && division.block(end) == division.block(time), "{time}");
        }
        let many: Vec<Span> = (0..60).map(|number| span(number * 10, number * 10 + 5)).collect();
        let division = Division::new(&many);
        let used: std::collections::BTreeSet<usize> = (0..600).map(|time| division.block(time)).collect();
        assert!(used.len() >= 20 && used.last() == Some(&(BLOCKS - 1)), "{used:?}");
    }
}
