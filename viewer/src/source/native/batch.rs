//! Events of one class that have been walked over and not yet been handed to the collector.

use super::clock::Timebase;
use super::header::Lttng;
use super::plan::{Plan, Wanted};
use super::stream::ClassPlan;
use super::stretch::{Form, Read, Stretch};
use crate::source::{Brief, Fields, Value};

/// How many events there may be.
const EVENTS: usize = 64;

/// How many numbers all rows may have together, unless a single one has more.
const NUMBERS: usize = 4096;

/// Events of one class, each a row of numbers: the clock's count in two halves, and then the event's marks.
#[derive(Debug)]
pub struct Batch<'a> {
    /// The class.
    pub class: &'a ClassPlan<'a>,
    /// How to walk over its events, if they are that simple.
    stretch: Option<&'a Stretch<'a>>,
    /// How many numbers there are in a row.
    width: usize,
    rows: Vec<u32>,
    /// How many of the numbers are taken.
    taken: usize,
}

/// How far a walk over events came.
#[derive(Clone, Copy, Debug)]
pub struct Walked {
    /// Where the last event ends.
    pub at: usize,
    /// Its clock's count.
    pub clock: u64,
    /// Whether it ended because there is no room for another event.
    pub is_full: bool,
}

impl<'a> Batch<'a> {
    /// No event of a class yet, and no room for any.
    pub fn new(class: &'a ClassPlan<'a>) -> Batch<'a> {
        let stretch = match &class.plan {
            Plan::Walk(stretch, _) => Some(stretch),
            Plan::Stages(_) => None,
        };
        let width = stretch.map_or(0, |stretch| 2 + stretch.marks());
        Batch { class, stretch, width, rows: Vec::new(), taken: 0 }
    }

    /// Walks over events from a place in bytes on, and takes them in, for as long as they are of this class and have the
    /// short form of a header.
    ///
    /// This is where the time goes when all is well. Nothing in here is looked up by what was read, so the processor
    /// need not wait for one event before it begins with the next.
    #[inline(never)]
    pub fn walk(&mut self, header: Lttng, id: u64, bytes: &[u8], mut at: usize, mut clock: u64) -> Walked {
        let Some(stretch) = self.stretch else { return Walked { at, clock, is_full: false } };
        let mut is_full = true;
        for row in self.rows[self.taken..].chunks_exact_mut(self.width) {
            let [low, high, marks @ ..] = row else { break };
            if let Some(first_bytes) = bytes.get(at..).and_then(<[u8]>::first_chunk)
                && let Some((next, passed)) = header.short(u64::from_le_bytes(*first_bytes), clock)
                && next == id
                && let Some(count) = clock.checked_add(passed)
                && let Some(end) = stretch.walk(bytes, at + header.size(), marks)
            {
                (*low, *high) = (count as u32, (count >> 32) as u32);
                (at, clock) = (end, count);
                self.taken += self.width;
            } else {
                is_full = false;
                break;
            }
        }
        Walked { at, clock, is_full }
    }

    /// Walks over one event whose header has been decoded, and takes it in. Returns where it ends, if there are enough
    /// bytes. There must be room for it.
    pub fn walk_one(&mut self, bytes: &[u8], at: usize, clock: u64) -> Option<usize> {
        let row = self.rows.get_mut(self.taken..)?.get_mut(..self.width)?;
        let [low, high, marks @ ..] = row else { return None };
        let end = self.stretch?.walk(bytes, at, marks)?;
        (*low, *high) = (clock as u32, (clock >> 32) as u32);
        self.taken += self.width;
        Some(end)
    }

    /// Whether there is no room for another event.
    pub fn is_full(&self) -> bool {
        self.taken == self.rows.len()
    }

    /// Forgets all events, and makes room for others.
    pub fn make_room(&mut self) {
        self.taken = 0;
        if self.rows.is_empty() && self.width > 0 {
            self.rows.resize((NUMBERS / self.width).clamp(1, EVENTS) * self.width, 0);
        }
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
    /// How many there are.
    pub fn count(&self) -> usize {
        self.numbers.len().checked_div(self.width).unwrap_or(0)
    }

    /// Those from one up to another.
    pub fn between(&self, from: usize, to: usize) -> Rows<'a> {
        Rows { numbers: &self.numbers[from * self.width..to * self.width], width: self.width }
    }

    /// The clock's count of one.
    pub fn clock(&self, event: usize) -> u64 {
        let row = &self.numbers[event * self.width..];
        u64::from(row[0]) | u64::from(row[1]) << 32
    }

    fn marks(&self, event: usize) -> &'a [u32] {
        &self.numbers[event * self.width..][2..self.width]
    }

    /// For each event its marks from one on.
    #[inline(always)]
    fn marks_from(&self, mark: usize) -> impl Iterator<Item = &'a [u32]> {
        self.numbers.chunks_exact(self.width).map(move |row| &row[2 + mark..])
    }
}

/// The fields of events, which are where the events' marks say.
pub struct Located<'a> {
    /// What the marks are places in.
    pub bytes: &'a [u8],
    /// The values of the packet's context.
    pub context: &'a [Value<'a>],
    /// The times of the clock's counts.
    pub timebase: &'a Timebase,
    /// The events.
    pub rows: Rows<'a>,
    /// The fields.
    pub wanted: &'a [Wanted<'a>],
}

impl Fields for Located<'_> {
    fn timestamp(&self, event: usize) -> i64 {
        self.timebase.time(self.rows.clock(event))
    }

    fn value(&self, event: usize, field: usize) -> Value<'_> {
        match &self.wanted[field] {
            Wanted::Field(field) => field.value(self.bytes, self.rows.marks(event)),
            Wanted::Constant(constant) => constant.value(self.context),
        }
    }

    fn briefs(&self, field: usize, into: &mut Vec<Brief>) {
        match &self.wanted[field] {
            Wanted::Field(field) if let Form::Text = field.form => {
                let (bytes, behind) = (self.bytes, field.behind);
                into.extend(self.rows.marks_from(field.mark).map(|marks| match *marks {
                    [mark, end, ..] => {
                        let at = mark as usize + behind;
                        Brief::text(&bytes[at..], end as usize - 1 - at)
                    }
                    _ => Brief::OTHER,
                }));
            }
            _ => {
                into.extend((0..self.rows.count()).map(|event| Brief::from(&self.value(event, field))));
            }
        }
    }

    fn integers(&self, field: usize, into: &mut Vec<u64>) {
        match &self.wanted[field] {
            Wanted::Field(field) if let Form::Integer(read) = field.form => {
                let (bytes, behind) = (self.bytes, field.behind);
                let places = self.rows.marks_from(field.mark).map(|marks| marks[0] as usize + behind);
                match read {
                    // What durations mostly are, without a choice for each event.
                    Read::U64 => into.extend(places.map(|at| Read::U64.raw(bytes, at))),
                    _ => into.extend(places.map(|at| read.raw(bytes, at))),
                }
            }
            _ => into.extend((0..self.rows.count()).map(|event| self.value(event, field).raw())),
        }
    }
}
