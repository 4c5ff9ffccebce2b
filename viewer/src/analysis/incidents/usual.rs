//! How long the intervals of a name usually take, and from when on that is improbable.

use super::super::histogram::Histogram;
use super::super::tail::Rule;
use crate::unit::TimeUnit;

/// The lengths of the intervals of a name.
#[derive(Debug)]
pub struct Usual {
    lengths: Histogram,
    limit: i64,
    /// How many lengths there are when the limit is worked out anew.
    next: u64,
}

impl Default for Usual {
    fn default() -> Self {
        Usual { lengths: Histogram::default(), limit: 0, next: 16 }
    }
}

impl Usual {
    /// Takes a length, and says whether it is improbable as far as is known.
    pub fn take(&mut self, length: i64) -> bool {
        self.lengths.record(length.max(0) as u64);
        if self.lengths.count() >= self.next {
            self.limit = self.limit();
            self.next *= 2;
        }
        length > self.limit
    }

    /// What is longer than this is improbable; nanoseconds.
    pub fn limit(&self) -> i64 {
        let judged = Rule::default().judge(&self.lengths, &self.lengths, TimeUnit::Nanoseconds);
        judged.map_or(0, |judged| judged.limit.try_into().unwrap_or(i64::MAX))
    }
}
