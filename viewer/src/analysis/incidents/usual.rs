//! How long the intervals of a name usually take, and from when on that is improbable.

use super::super::histogram::Histogram;
use super::super::verdict::{Rule, single_limit};

/// With fewer lengths nothing is usual.
const ENOUGH: u64 = 20;

/// The lengths of the intervals of a name.
#[derive(Debug)]
pub struct Usual {
    lengths: Histogram,
    count: u64,
    limit: i64,
    /// How many lengths there are when the limit is worked out anew.
    next: u64,
}

impl Default for Usual {
    fn default() -> Self {
        Usual { lengths: Histogram::default(), count: 0, limit: 0, next: ENOUGH }
    }
}

impl Usual {
    /// Takes a length in.
    pub fn take(&mut self, length: i64) {
        self.lengths.record(length.max(0) as u64);
        self.count += 1;
        if self.count >= self.next {
            self.limit = self.limit();
            self.next *= 2;
        }
    }

    /// Whether there are enough lengths to tell what is usual.
    pub fn is_known(&self) -> bool {
        self.count >= ENOUGH
    }

    /// What is longer than this is improbable, by what was known when the limit was last worked out; nanoseconds.
    pub fn limit_so_far(&self) -> i64 {
        self.limit
    }

    /// What is longer than this is improbable; nanoseconds.
    pub fn limit(&self) -> i64 {
        let limit = single_limit(&self.lengths, &Rule::default());
        limit.map_or(0, |limit| limit.try_into().unwrap_or(i64::MAX))
    }
}
