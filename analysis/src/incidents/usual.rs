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
    names: Vec<Option<Box<OfName>>>,
    kinds: Vec<OfKind>,
}

/// The lengths of a name.
#[derive(Debug, Default)]
struct OfName {
    lengths: Histogram,
    limit: Limit,
}

/// The lengths of a kind: those of its names together, and of what has no name of its own.
#[derive(Debug, Default)]
struct OfKind {
    places: Vec<usize>,
    others: Histogram,
    limit: Limit,
}

/// The length above which an interval is improbable; nanoseconds.
#[derive(Debug)]
struct Limit {
    /// The number of lengths.
    count: u64,
    /// As of its last computation.
    so_far: i64,
    /// The number of lengths from which on it is computed again.
    next: u64,
}

impl UsualLengths {
    /// Adds the length of some intervals.
    pub fn take(&mut self, name: IntervalName, length: i64, count: u64) {
        let (place, length) = (place(name), length.max(0) as u64);
        let of_kind = grown(&mut self.kinds, name.kind as usize);
        let of_name = match grown(&mut self.names, place) {
            Some(known) => known,
            new => {
                of_kind.places.extend(name.place());
                new.insert(Box::default())
            }
        };
        of_name.lengths.record_many(length, count);
        if name.place().is_none() {
            of_kind.others.record_many(length, count);
        }
        of_name.limit.count += count;
        of_kind.limit.count += count;
    }

    /// The length above which an interval of a name is improbable, by its own lengths, or by those of its kind where it has few;
    /// none where both have few.
    pub fn limit(&self, name: IntervalName) -> Option<i64> {
        let own = self.names.get(place(name)).and_then(Option::as_deref).filter(|own| own.limit.is_known());
        let of_kind = || self.kinds.get(name.kind as usize).filter(|of_kind| of_kind.limit.is_known());
        match own {
            Some(own) => Some(limit(&own.lengths)),
            None => of_kind().map(|of_kind| limit(&together(&of_kind.places, &of_kind.others, &self.names))),
        }
    }

    /// Whether the [limit so far](UsualLengths::limit_so_far) may change with at most this number of lengths more.
    pub fn may_change(&self, name: IntervalName, more: u64) -> bool {
        let own = self.names.get(place(name)).and_then(Option::as_deref);
        let own = own.map_or(&Limit::NEW, |own| &own.limit);
        let of_kind = || self.kinds.get(name.kind as usize).map_or(&Limit::NEW, |of_kind| &of_kind.limit);
        own.may_be_due(more) || (!own.is_known() && of_kind().may_be_due(more))
    }

    /// The same as of its last computation, which is repeated when there are twice as many lengths.
    pub fn limit_so_far(&mut self, name: IntervalName) -> Option<i64> {
        let own = self.names.get_mut(place(name)).and_then(Option::as_deref_mut);
        if let Some(OfName { lengths, limit }) = own.filter(|own| own.limit.is_known()) {
            return Some(limit.so_far(|| self::limit(lengths)));
        }
        let of_kind = self.kinds.get_mut(name.kind as usize).filter(|of_kind| of_kind.limit.is_known())?;
        let OfKind { places, others, limit } = of_kind;
        Some(limit.so_far(|| self::limit(&together(places, others, &self.names))))
    }
}

/// The lengths of the names in some places, and others. They are rarely needed.
#[inline(never)]
fn together(places: &[usize], others: &Histogram, names: &[Option<Box<OfName>>]) -> Histogram {
    let mut all = others.clone();
    let of_names = places.iter().filter_map(|place| names[*place].as_ref());
    of_names.for_each(|name| all.merge(&name.lengths));
    all
}

/// Where the lengths of a name are.
#[inline]
fn place(name: IntervalName) -> usize {
    name.place().unwrap_or(IntervalName::MOST_KEYS)
}

impl Default for Limit {
    fn default() -> Self {
        Limit::NEW
    }
}

impl Limit {
    const NEW: Limit = Limit { count: 0, so_far: 0, next: ENOUGH };

    /// Whether its computation is due once there are at most this number of lengths more.
    fn may_be_due(&self, more: u64) -> bool {
        self.count + more >= self.next
    }

    /// As of its last computation, which is repeated if it is due.
    fn so_far(&mut self, compute: impl FnOnce() -> i64) -> i64 {
        if self.count >= self.next {
            (self.so_far, self.next) = (compute(), 2 * self.count);
        }
        self.so_far
    }

    /// Whether there are enough lengths to tell what is usual.
    fn is_known(&self) -> bool {
        self.count >= ENOUGH
    }
}

/// The length above which an interval is improbable.
fn limit(lengths: &Histogram) -> i64 {
    let limit = single_limit(lengths, &Rule::default());
    limit.map_or(0, |limit| limit.try_into().unwrap_or(i64::MAX))
}
