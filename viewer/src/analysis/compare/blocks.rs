//! The durations of a group, block by block of time.

use crate::analysis::durations::histogram::{Histogram, IMPLAUSIBLE};
use crate::analysis::groups::group::{Figures, Tally};

/// The number of blocks that a recording is divided into. Calls of one moment resemble each other, so blocks are what is
/// resampled: a block must be longer than neighbours are alike, and there must be enough of them to tell how they vary.
pub const BLOCKS: usize = 24;

/// Where blocks begin, and how long each is; nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Division {
    pub begin: i64,
    pub width: i64,
}

impl Division {
    /// Divides a time.
    pub fn new(begin: i64, end: i64) -> Self {
        let length = end.saturating_sub(begin).max(0);
        Division { begin, width: length / BLOCKS as i64 + 1 }
    }

    fn block(&self, time: i64) -> usize {
        let block = time.saturating_sub(self.begin).max(0) / self.width;
        (block as usize).min(BLOCKS - 1)
    }
}

/// The figures of a group, and its durations in each block.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    figures: Figures,
    blocks: Vec<Histogram>,
}

impl Tally for Blocks {
    type Context = Division;
    type Extra = Vec<Histogram>;

    fn take(&mut self, duration: Option<u64>, time: impl FnOnce() -> i64, division: &Division) {
        if let Some(ticks) = duration.filter(|&ticks| ticks < IMPLAUSIBLE) {
            self.blocks.resize_with(BLOCKS, Histogram::default);
            self.blocks[division.block(time())].record(ticks);
        }
        self.figures.record(duration);
    }

    fn absorb(&mut self, other: &Self, _: &Division) {
        self.figures.merge(&other.figures);
        if !other.blocks.is_empty() {
            self.blocks.resize_with(BLOCKS, Histogram::default);
        }
        self.blocks.iter_mut().zip(&other.blocks).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    fn figures(&self) -> &Figures {
        &self.figures
    }

    fn finish(self, _: &Division) -> (Figures, Vec<Histogram>) {
        (self.figures, self.blocks)
    }
}
