//! The durations of a group, block by block of time.

use crate::durations::histogram::{Histogram, IMPLAUSIBLE};
use crate::groups::group::Extra;

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

/// The durations of a group in each block; none if it has no durations.
#[derive(Clone, Debug, Default)]
pub struct Blocks(pub Vec<Histogram>);

impl Extra for Blocks {
    type Context = Division;

    fn take(&mut self, duration: Option<u64>, time: impl FnOnce() -> i64, division: &Division) {
        if let Some(ticks) = duration.filter(|&ticks| ticks < IMPLAUSIBLE) {
            self.0.resize_with(BLOCKS, Histogram::default);
            self.0[division.block(time())].record(ticks);
        }
    }

    fn absorb(&mut self, Blocks(other): &Self, _: &Division) {
        self.0.resize_with(self.0.len().max(other.len()), Histogram::default);
        self.0.iter_mut().zip(other).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}
