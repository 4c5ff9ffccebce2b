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
    pub fn is_within(&self, outer: &Interval) -> bool {
        match self.length() {
            0 => self.end >= outer.begin,
            length => self.overlap_ns(outer.span()) * 2 > length,
        }
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
