//! Positions in a packet at which later readings can begin and end.
//!
//! A packet can only be decoded from its beginning, event by event. The first reading of all its events notes where each part
//! began; a later one of a window of time then leaves out the parts before and after it:
//!
//! ```text
//! packet  │ part ───────│ part ───────│ part ───────│ part ───────│
//!                       ^ mark                      ^ mark
//! window                    └───────────────────┘
//! ```
//!
//! A mark takes 32 bytes, for a quarter of a megabyte. Only packets that are whole, and within which the clock never runs
//! backwards, have any.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use crate::decode::clock::Timebase;
use crate::decode::part::Cursor;

/// A position in a packet, between two events.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// Where a part begins, in bytes from the packet's beginning.
    pub base: u64,
    /// Where in that part the next event begins. The clock's count is the last event's.
    pub cursor: Cursor,
}

impl Mark {
    /// In bits from the packet's beginning.
    pub fn position(&self) -> u64 {
        self.base * 8 + self.cursor.at as u64
    }
}

/// The marks of a packet, once it has been read; none if it has only one part, or cannot have any.
#[derive(Clone, Debug, Default)]
pub struct Marks(OnceLock<Arc<[Mark]>>);

impl Marks {
    /// Notes the marks of a packet, unless another reading has.
    pub fn note(&self, marks: Vec<Mark>) {
        if !marks.is_empty() {
            self.0.get_or_init(|| marks.into());
        }
    }

    /// The last mark that no event within limits of time precedes, and the first that none follows.
    pub fn around(&self, limits: &RangeInclusive<i64>, timebase: &Timebase) -> [Option<Mark>; 2] {
        let Some(marks) = self.0.get() else { return [None; 2] };
        let time = |mark: &Mark| timebase.time(mark.cursor.clock);
        let before = marks.partition_point(|mark| time(mark) < *limits.start());
        let upto = marks.partition_point(|mark| time(mark) <= *limits.end());
        [before.checked_sub(1).map(|last| marks[last]), marks.get(upto).copied()]
    }
}
