//! The usual lengths of intervals, and above which length they are improbable.

use crate::durations::histogram::Histogram;
use crate::intervals::IntervalName;
use crate::outliers::verdict::{Rule, single_limit};
use crate::reading::grown::grown;

/// The number of lengths needed to tell what is usual.
const ENOUGH: u64 = 20;

/// The lengths of the intervals of all names and kinds.
#[derive(Debug, Default)]
pub struct UsualLengths {
    /// By the place of the key; after them, those of all others together.
    names: Vec<Option<Box<Usual>>>,
    kinds: Vec<Usual>,
}

impl UsualLengths {
    /// Adds the length of an interval.
    pub fn take(&mut self, name: IntervalName, length: i64) {
        grown(&mut self.names, place(name)).get_or_insert_default().take(length);
        grown(&mut self.kinds, name.kind as usize).take(length);
    }

    /// What is usual for a name, by its own lengths, or by those of its kind where it has few; none where both have few.
    pub fn of(&self, name: IntervalName) -> Option<&Usual> {
        let own = self.names.get(place(name)).and_then(Option::as_deref);
        own.into_iter().chain(self.kinds.get(name.kind as usize)).find(|usual| usual.is_known())
    }
}

/// Where the lengths of a name are.
fn place(name: IntervalName) -> usize {
    name.place().unwrap_or(IntervalName::MOST_KEYS)
}

/// The lengths of the intervals of a name or of a kind.
#[derive(Debug)]
pub struct Usual {
    lengths: Histogram,
    count: u64,
    limit: i64,
    /// The number of lengths at which the limit is computed again.
    next: u64,
}

impl Default for Usual {
    fn default() -> Self {
        Usual { lengths: Histogram::default(), count: 0, limit: 0, next: ENOUGH }
    }
}

impl Usual {
    /// Adds a length.
    fn take(&mut self, length: i64) {
        self.lengths.record(length.max(0) as u64);
        self.count += 1;
        if self.count >= self.next {
            self.limit = self.limit();
            self.next *= 2;
        }
    }

    /// Whether there are enough lengths to tell what is usual.
    fn is_known(&self) -> bool {
        self.count >= ENOUGH
    }

    /// The limit as of its last computation; nanoseconds.
    pub fn limit_so_far(&self) -> i64 {
        self.limit
    }

    /// The length above which an interval is improbable; nanoseconds.
    pub fn limit(&self) -> i64 {
        let limit = single_limit(&self.lengths, &Rule::default());
        limit.map_or(0, |limit| limit.try_into().unwrap_or(i64::MAX))
    }
}
