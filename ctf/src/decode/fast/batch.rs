//! Events of one class that have been stepped over and not yet been handed to the collector.

use super::columns::Marks;
use super::run::{Room, fill};
use super::stretch::Stretch;
use crate::decode::clock::Timebase;
use crate::decode::event_plan::EventPlan;
use crate::decode::stream_plan::ClassPlan;

/// The most events in a batch.
const EVENTS: usize = 256;

/// The most numbers in all rows together, unless a single row has more.
const NUMBERS: usize = 4096;

/// Events of one class, each a row of numbers: the clock's count in two halves, and then the event's marks.
#[derive(Debug)]
pub struct Batch<'a> {
    pub class: &'a ClassPlan,
    /// The number of numbers in a row.
    width: usize,
    rows: Vec<u32>,
    /// The number of numbers that are taken.
    taken: usize,
}

impl<'a> Batch<'a> {
    /// A batch without events. What was the room of another one is used again, whatever is in it.
    pub fn new(class: &'a ClassPlan, mut rows: Vec<u32>) -> Batch<'a> {
        let width = match &class.plan {
            EventPlan::InPlace(stretch, _) => 2 + stretch.marks(),
            EventPlan::Stages(_) => 0,
        };
        rows.resize(NUMBERS.checked_div(width).map_or(0, |rows| rows.clamp(1, EVENTS) * width), 0);
        Batch { class, width, rows, taken: 0 }
    }

    /// Room for more events.
    pub fn room(&mut self) -> Room<'_> {
        Room { rows: &mut self.rows[self.taken..], width: self.width }
    }

    /// Adds events that have been written to the [room](Batch::room) for them.
    pub fn take(&mut self, events: usize) {
        self.taken += events * self.width;
    }

    /// Steps over one event from a position in bytes on, and adds it. Returns where it ends, if there is room for it
    /// and there are enough bytes.
    #[inline(always)]
    pub fn step_over(&mut self, stretch: &Stretch, bytes: &[u8], at: usize, clock: u64) -> Option<usize> {
        let row = self.rows.get_mut(self.taken..)?.get_mut(..self.width)?;
        let end = fill(row, stretch, bytes, at, clock)?;
        self.taken += self.width;
        Some(end)
    }

    /// Whether another event has no room.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.taken == self.rows.len()
    }

    /// Forgets all events.
    pub fn clear(&mut self) {
        self.taken = 0;
    }

    /// Its room, for another batch.
    pub fn into_rows(self) -> Vec<u32> {
        self.rows
    }

    /// The events.
    pub fn rows(&self) -> Rows<'_> {
        Rows { numbers: &self.rows[..self.taken], width: self.width }
    }
}

/// Rows of events.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    numbers: &'a [u32],
    width: usize,
}

impl<'a> Rows<'a> {
    /// The number of rows.
    pub fn count(&self) -> usize {
        self.numbers.len().checked_div(self.width).unwrap_or(0)
    }

    /// Those from one up to another.
    pub fn between(&self, from: usize, to: usize) -> Rows<'a> {
        Rows { numbers: &self.numbers[from * self.width..to * self.width], width: self.width }
    }

    /// The clock's count of one.
    #[inline]
    pub fn clock(&self, event: usize) -> u64 {
        clock(&self.numbers[event * self.width..])
    }

    /// Where one begins, after its header.
    pub fn begin(&self, event: usize) -> u32 {
        self.numbers[event * self.width + 2]
    }

    /// The clock's count of the last one; 0 if there is none.
    pub fn last_clock(&self) -> u64 {
        self.numbers.len().checked_sub(self.width).map_or(0, |row| clock(&self.numbers[row..]))
    }
}

/// Rows, and the times of the clock's counts in them.
pub struct TimedRows<'a> {
    pub rows: Rows<'a>,
    pub timebase: &'a Timebase,
}

impl Marks for TimedRows<'_> {
    fn count(&self) -> usize {
        self.rows.count()
    }

    #[inline(always)]
    fn from(&self, mark: usize) -> impl Iterator<Item = &[u32]> {
        self.rows.numbers.chunks_exact(self.rows.width).map(move |row| &row[2 + mark..])
    }

    #[inline(always)]
    fn each(&self, mark: usize) -> impl Iterator<Item = usize> {
        self.rows.numbers.chunks_exact(self.rows.width).map(move |row| row[2 + mark] as usize)
    }

    #[inline(always)]
    fn timed(&self, mark: usize) -> impl Iterator<Item = (usize, i64)> {
        let origin = self.even_origin();
        self.rows.numbers.chunks_exact(self.rows.width).map(move |row| {
            let time = match origin {
                Some(origin) => origin.wrapping_add_unsigned(clock(row)),
                None => self.timebase.time(clock(row)),
            };
            (row[2 + mark] as usize, time)
        })
    }

    #[inline(always)]
    fn of(&self, event: usize) -> &[u32] {
        &self.rows.numbers[event * self.rows.width..][2..self.rows.width]
    }

    #[inline]
    fn timestamp(&self, event: usize) -> i64 {
        self.timebase.time(self.rows.clock(event))
    }
}

impl TimedRows<'_> {
    /// What to add to the clock's counts, if that is all. LTTng's clocks are these: no branch for each event, also not to see
    /// whether it overflows, as the last one does first.
    #[inline(always)]
    fn even_origin(&self) -> Option<i64> {
        match self.timebase {
            Timebase::Nanoseconds(origin) => {
                origin.checked_add_unsigned(self.rows.last_clock()).map(|_| *origin)
            }
            Timebase::Clock(_) => None,
        }
    }
}

/// The clock's count in a row.
#[inline(always)]
fn clock(row: &[u32]) -> u64 {
    let [low, high] = row.first_chunk().copied().unwrap_or_default();
    u64::from(low) | u64::from(high) << 32
}
