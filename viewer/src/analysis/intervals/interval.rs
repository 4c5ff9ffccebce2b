//! An interval and what it is called.

/// What an interval is called: a kind of event, and the key of a group of it, both as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntervalName {
    pub kind: u32,
    pub key: u32,
}

/// An interval that has ended. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub begin: i64,
    pub end: i64,
    pub name: IntervalName,
    /// On whose behalf it was, as a number.
    pub client: Option<u32>,
}

impl Interval {
    #[inline]
    pub fn length(&self) -> i64 {
        self.end.saturating_sub(self.begin)
    }

    /// How much of it lies between two times.
    pub fn overlap(&self, begin: i64, end: i64) -> i64 {
        self.end.min(end).saturating_sub(self.begin.max(begin)).max(0)
    }
}

/// What lengths add up to; as much as there can be if that is too much.
pub fn total(lengths: impl Iterator<Item = i64>) -> i64 {
    lengths.fold(0, i64::saturating_add)
}
