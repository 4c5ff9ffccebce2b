//! The next events of an open packet: found, but not yet handed out.
//!
//! Events are located in chunks, so that the merge finds them ready and the loop that finds them stays tight. Where the
//! clock steps back within a chunk, the chunk is sorted, so that its events still come in order.

use std::ops::RangeInclusive;

use super::open_packet::OpenPacket;
use crate::decode::bits::Bits;
use crate::decode::event_plan::EventPlan;
use crate::decode::fast::stretch::Stretch;
use crate::decode::part::{Cursor, Part, StopReason, begin_event, simple_event};
use crate::decode::stream_plan::StreamPlan;
use crate::decode::tally::Tally;

/// The largest number of events that are located ahead.
const MAX_CHUNK: usize = 512;

/// The smallest.
const MIN_CHUNK: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
pub struct LocatedEvent {
    /// When it happened: nanoseconds since 1970.
    pub timestamp: i64,
    /// The position of its class in the plan.
    pub position: u32,
    /// Where its marks begin, if its fields are read in place.
    marks: u32,
    /// Where it begins in the part, in bits, if it must be decoded.
    pub at: usize,
}

/// Located events of one part of a packet.
#[derive(Debug, Default)]
pub struct Lookahead {
    events: Vec<LocatedEvent>,
    /// The index of the next event to hand out.
    next: usize,
    /// The marks of events whose fields are read in place, and room for more.
    marks: Vec<u32>,
    /// The number of marks that are taken.
    taken: usize,
    /// Why locating events stopped, if it did.
    pub stop: Option<StopReason>,
}

impl Lookahead {
    /// The next event.
    #[inline(always)]
    pub fn peek(&self) -> Option<&LocatedEvent> {
        self.events.get(self.next)
    }

    /// The next events up to a time, at most this number. The events of a chunk are in order.
    #[inline]
    pub fn run(&self, last: i64, most: usize) -> &[LocatedEvent] {
        let rest = &self.events[self.next.min(self.events.len())..];
        let rest = &rest[..most.min(rest.len())];
        let length = rest.iter().position(|event| event.timestamp > last).unwrap_or(rest.len());
        &rest[..length]
    }

    /// Moves on by a number of events.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.next += count;
    }

    /// The marks of an event whose fields are read in place.
    #[inline(always)]
    pub fn marks(&self, event: &LocatedEvent, count: usize) -> &[u32] {
        &self.marks[event.marks as usize..][..count]
    }

    /// Empties it for reuse.
    pub fn clear(&mut self) {
        self.events.clear();
        (self.next, self.taken, self.stop) = (0, 0, None);
    }

    /// Locates the next events of a packet's part, about this number of those within the limits of time. The events before
    /// must have been handed out.
    pub fn fill(
        &mut self,
        packet: &mut OpenPacket,
        count: usize,
        limits: &RangeInclusive<i64>,
        tally: &mut Tally,
    ) {
        self.clear();
        let (plan, part, size) = (&*packet.plan, packet.part(), count.clamp(MIN_CHUNK, MAX_CHUNK));
        let mut chunk = Chunk { ahead: self, plan, part, size, limits, tally, is_sorted: true };
        let cursor = chunk.locate(packet.cursor);
        let is_sorted = chunk.is_sorted;
        packet.cursor = cursor;
        if !is_sorted {
            self.events.sort_by_key(|event| event.timestamp);
        }
    }
}

/// A chunk while its events are being located.
struct Chunk<'c> {
    ahead: &'c mut Lookahead,
    plan: &'c StreamPlan,
    part: Part<'c>,
    /// The number of events to locate.
    size: usize,
    limits: &'c RangeInclusive<i64>,
    tally: &'c mut Tally,
    is_sorted: bool,
}

impl Chunk<'_> {
    /// Locates events from a cursor on, and returns where it got to.
    fn locate(&mut self, mut cursor: Cursor) -> Cursor {
        let bytes = self.part.whole_bytes();
        let mut slots = self.part.slots.to_vec();
        while self.ahead.events.len() < self.size {
            if let Some(next) = self.simple(cursor, bytes) {
                cursor = next;
                continue;
            }
            match self.general(cursor, &mut slots) {
                Ok(next) => cursor = next,
                Err(stop) => {
                    self.ahead.stop = Some(stop);
                    break;
                }
            }
        }
        cursor
    }

    /// Steps over an event of whole bytes after the short form of one of LTTng's headers, if that is what comes next.
    #[inline(always)]
    fn simple(&mut self, cursor: Cursor, bytes: &[u8]) -> Option<Cursor> {
        let simple = simple_event(self.plan, self.part.bytes, cursor.at)?;
        let passed = simple.header.passed(simple.first_bytes, simple.id, cursor.clock)?;
        let clock = cursor.clock.checked_add(passed)?;
        let end = self.step_over(simple.stretch, bytes, cursor.at / 8 + simple.header.size())?;
        self.push(clock, simple.position, simple.stretch.marks(), 0);
        Some(Cursor { at: end * 8, clock, ..cursor })
    }

    /// Steps over an event of whole bytes, and notes its marks. Returns where it ends.
    #[inline(always)]
    fn step_over(&mut self, stretch: &Stretch, bytes: &[u8], at: usize) -> Option<usize> {
        let Lookahead { marks, taken, .. } = &mut *self.ahead;
        let needed = *taken + stretch.marks();
        if marks.len() < needed {
            marks.resize(2 * needed, 0);
        }
        stretch.step_over(bytes, at, &mut marks[*taken..needed])
    }

    /// Steps over an event of any kind.
    #[inline(never)]
    fn general(&mut self, cursor: Cursor, slots: &mut [i128]) -> Result<Cursor, StopReason> {
        let mut bits = Bits::new(self.part.bytes, cursor.at, self.part.end);
        slots.copy_from_slice(self.part.slots);
        let (position, clock) = begin_event(self.plan, &mut bits, cursor, self.part.end, slots)?;
        let marks = match &self.plan.classes[position].plan {
            EventPlan::InPlace(stretch, _) => {
                let (at, bytes) = (bits.at() / 8, self.part.whole_bytes());
                let end = self.step_over(stretch, bytes, at).ok_or(StopReason::Short)?;
                bits.bytes(end - at)?;
                stretch.marks()
            }
            EventPlan::Stages(stages) => {
                stages.skip(&mut bits, slots)?;
                bits.check_end()?;
                0
            }
        };
        if bits.at() == cursor.at {
            return Err(StopReason::NoRoom);
        }
        if clock < cursor.clock {
            let [from, to] = [cursor.clock, clock].map(|clock| self.plan.timebase.time(clock));
            self.tally.steps.step(from, to);
            self.is_sorted = false;
        }
        self.push(clock, position, marks, cursor.at);
        Ok(Cursor { at: bits.at(), clock, empty: bits.empty })
    }

    /// Keeps an event whose marks were noted last, if it is within the limits.
    #[inline(always)]
    fn push(&mut self, clock: u64, position: usize, marks: usize, at: usize) {
        let timestamp = self.plan.timebase.time(clock);
        if !self.limits.contains(&timestamp) {
            return;
        }
        if !self.plan.classes[position].is_wanted {
            self.tally.count(1, timestamp, timestamp);
            return;
        }
        let first = self.ahead.taken as u32;
        self.ahead.taken += marks;
        self.ahead.events.push(LocatedEvent { timestamp, position: position as u32, marks: first, at });
    }
}
