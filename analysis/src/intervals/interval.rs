//! An interval and its name.

use crate::finding::Span;
use crate::reading::passes::Passes;

/// The name of an interval: a kind of event and the key of its group, both interned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntervalName {
    pub kind: u32,
    pub key: u32,
}

impl IntervalName {
    /// The most keys that are told apart.
    pub const MOST_KEYS: usize = 1 << 17;

    /// The place of its key among all; none if there were too many to tell it from others.
    #[inline]
    pub fn place(self) -> Option<usize> {
        Some(self.key as usize).filter(|place| *place < IntervalName::MOST_KEYS)
    }
}

/// An interval that has ended. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    pub begin: i64,
    pub end: i64,
    pub name: IntervalName,
    /// The client on whose behalf it was, interned.
    pub client: Option<u32>,
    /// Whether its event passes the filters.
    pub passes: Passes,
}

/// An interval that passes all filters and lasts for at most four seconds, in less than half a line of the cache: many of them go
/// from one processor to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BriefInterval {
    pub end: i64,
    /// Nanoseconds.
    pub length: u32,
    /// A client, or [`BriefInterval::NOBODY`].
    pub client: u32,
    pub name: IntervalName,
}

impl BriefInterval {
    /// Stands for no client.
    pub const NOBODY: u32 = u32::MAX;

    /// The same as an interval, if that is possible.
    pub fn new(interval: &Interval) -> Option<Self> {
        let &Interval { end, name, client, passes, .. } = interval;
        let length = u32::try_from(interval.length()).ok().filter(|_| passes.all())?;
        Some(BriefInterval { end, length, client: client.unwrap_or(BriefInterval::NOBODY), name })
    }

    /// All of it.
    #[inline(always)]
    pub fn interval(&self) -> Interval {
        let &BriefInterval { end, length, client, name } = self;
        let client = Some(client).filter(|client| *client != BriefInterval::NOBODY);
        Interval { begin: end - i64::from(length), end, name, client, passes: Passes::ALL }
    }
}

impl Interval {
    /// Nanoseconds. Times are never so far from 1970 that this could overflow.
    #[inline]
    pub fn length(&self) -> i64 {
        self.end - self.begin
    }

    /// How much of it lies in a span of time.
    pub fn overlap_ns(&self, span: Span) -> i64 {
        self.span().overlap_ns(span)
    }

    /// Whether it lies within another one, which ended later. Durations are truncated to whole units, and events are recorded a
    /// little late, so nested intervals may appear to cross: the larger part decides.
    #[inline]
    pub fn is_within(&self, outer: &Interval) -> bool {
        // Nearly all do not even seem to cross.
        (outer.begin <= self.begin && self.end <= outer.end)
            || match self.length() {
                0 => self.end >= outer.begin,
                length => self.overlap_ns(outer.span()) * 2 > length,
            }
    }

    /// Whether it has the name and the client of another one.
    #[inline]
    pub fn is_like(&self, other: &Interval) -> bool {
        (self.name, self.client) == (other.name, other.client)
    }

    /// When it was.
    pub fn span(&self) -> Span {
        Span { begin_ns: self.begin, end_ns: self.end }
    }
}

/// The sum of lengths, saturating.
pub fn total(lengths: impl Iterator<Item = i64>) -> i64 {
    lengths.fold(0, i64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_interval_says_all_of_it() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let random = &mut fastrand::Rng::with_seed(seed);
        let mut brief_ones = 0;
        for _ in 0..10_000 {
            let end = random.i64(-1 << 61..1 << 62);
            let bits = [1, 20, 32, 33, 56][random.usize(..5)];
            let length = random.i64(0..1 << bits);
            let passes = Passes { by_duration: random.u32(..9) > 0, otherwise: random.u32(..9) > 0 };
            let name = IntervalName { kind: random.u32(..), key: random.u32(..) };
            let client = random.bool().then(|| random.u32(..BriefInterval::NOBODY));
            let interval = Interval { begin: end - length, end, name, client, passes };
            let brief = BriefInterval::new(&interval);
            assert_eq!(brief.is_some(), passes.all() && length < 1 << 32);
            assert!(brief.is_none_or(|brief| brief.interval() == interval), "{interval:?}");
            brief_ones += i32::from(brief.is_some());
        }
        assert!((1000..9000).contains(&brief_ones), "{brief_ones}");
    }
}
