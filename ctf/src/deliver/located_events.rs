//! Events of a packet that have been found, but not yet handed out.
//!
//! Some hundreds of events are located at once, so that the merge finds them ready, another thread may locate them ahead,
//! and the loop that does stays tight. Where the clock steps back among them, they are sorted, so that they still come in
//! order.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::digest::{ByClass, Digest, Digester, Picked};
use super::open_packet::{OpenPacket, ReadPart};
use super::ordered_event::{OrderedEvent, Values};
use crate::Events;
use crate::decode::bits::Bits;
use crate::decode::event_header::{EventHeader, Lttng};
use crate::decode::event_plan::EventPlan;
use crate::decode::fast::columns::Columns;
use crate::decode::fast::stretch::Stretch;
use crate::decode::part::{Cursor, Part, Simple, StopReason, begin_event, simple_event_with};
use crate::decode::stream_plan::StreamPlan;
use crate::decode::tally::Tally;

#[derive(Clone, Copy, Debug, Default)]
pub struct LocatedEvent {
    /// When it happened: nanoseconds since 1970.
    pub timestamp: i64,
    /// The position of its class in the plan.
    pub position: u32,
    /// Where its marks begin.
    pub marks: u32,
}

/// Located events, all of one part of a packet.
#[derive(Debug, Default)]
pub struct LocatedEvents {
    /// How to decode them, and the part; none if there are no events.
    source: Option<(Arc<StreamPlan>, Arc<ReadPart>)>,
    events: Vec<LocatedEvent>,
    /// The index of the next event to hand out.
    next: usize,
    /// The marks of events whose fields are read in place, and where the others begin in the part; and room for more.
    marks: Vec<u32>,
    /// The number of marks that are taken.
    taken: usize,
    /// What a consumer made of each event, if it wanted to; and room to do that.
    digests: Vec<Digest>,
    by_class: ByClass,
    of_class: Vec<Digest>,
    /// For each class, by its position in the plan, whether its events are only counted, and the number of these.
    is_counted: Vec<bool>,
    counts: Vec<u64>,
    /// Memory for the next part.
    pub buffer: Vec<u8>,
}

impl LocatedEvents {
    /// The next event.
    #[inline(always)]
    pub fn peek(&self) -> Option<&LocatedEvent> {
        self.events.get(self.next)
    }

    /// The next events, in order.
    #[inline]
    pub fn rest(&self) -> &[LocatedEvent] {
        &self.events[self.next.min(self.events.len())..]
    }

    /// The place of the next event among all.
    #[inline(always)]
    pub fn next_place(&self) -> usize {
        self.next
    }

    /// Moves on by a number of events.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.next += count;
    }

    /// What all of them have in common, if there are any.
    #[inline(always)]
    pub fn view(&self, stream: usize) -> Option<View<'_>> {
        let (plan, read) = self.source.as_ref()?;
        Some(View { plan, part: read.part(), marks: &self.marks, digests: &self.digests, stream })
    }

    /// Empties it, and returns the memory of its part, if nobody else has it.
    pub fn clear(&mut self) -> Option<Vec<u8>> {
        self.events.clear();
        (self.next, self.taken) = (0, 0);
        self.source.take().and_then(|(_, read)| ReadPart::into_buffer(read))
    }

    /// Locates the next events of a packet's part, at most this number of those within the limits of time. Returns where it
    /// got to, and why it stopped there unless there are enough.
    pub fn fill(
        &mut self,
        packet: &OpenPacket,
        count: usize,
        limits: &RangeInclusive<i64>,
        digester: Option<&dyn Digester>,
        tally: &mut Tally,
    ) -> (Cursor, Option<StopReason>) {
        self.clear();
        self.source = Some((Arc::clone(&packet.plan), packet.read_part()));
        self.prepare_counts(&packet.plan, digester);
        let (plan, part) = (&*packet.plan, packet.part());
        let limits = [*limits.start(), *limits.end()];
        let mut locating = Locating { located: self, plan, part, count, limits, tally, is_sorted: true };
        let reached = locating.all_from(packet.cursor);
        let is_sorted = locating.is_sorted;
        if !is_sorted {
            self.events.sort_by_key(|event| event.timestamp);
        }
        if let Some(digester) = digester {
            let counts = plan.classes.iter().zip(&self.counts).filter(|(_, count)| **count > 0);
            counts.for_each(|(class, count)| digester.count(class.class.index, *count));
        }
        reached
    }

    /// Finds out which classes are only counted: those that are not wanted, and those that the digester marks.
    fn prepare_counts(&mut self, plan: &StreamPlan, digester: Option<&dyn Digester>) {
        let LocatedEvents { is_counted, counts, .. } = self;
        is_counted.clear();
        is_counted.extend(plan.classes.iter().map(|class| !class.is_wanted));
        counts.clear();
        counts.resize(plan.classes.len(), 0);
        if let Some(digester) = digester {
            let indexes = plan.classes.iter().map(|class| class.class.index);
            digester.mark_counted(&mut indexes.zip(is_counted));
        }
    }

    /// Has its events digested, those of each class together.
    pub fn digest(&mut self, digester: &dyn Digester) {
        let LocatedEvents { source, events, marks, by_class, of_class, .. } = self;
        let Some((plan, read)) = source else { return };
        // Each is overwritten.
        let mut digests = std::mem::take(&mut self.digests);
        digests.resize(events.len(), Digest::default());
        let part = read.part();
        by_class.sort(events, marks, plan.classes.len());
        for (position, spots) in by_class.classes() {
            let class = &plan.classes[position];
            let EventPlan::InPlace(_, wanted) = &class.plan else {
                let view = View { plan, part, marks, digests: &[], stream: 0 };
                for place in spots.iter().map(|spot| spot.place as usize) {
                    let event = view.event(&events[place], 0);
                    digests[place] = Digest::default();
                    digester.digest(&event.events(), std::slice::from_mut(&mut digests[place]));
                }
                continue;
            };
            let (bytes, context) = (part.bytes, part.context);
            let columns = Columns { bytes, context, wanted, marks: Picked { events, spots, marks } };
            of_class.clear();
            of_class.resize(spots.len(), Digest::default());
            digester.digest(&Events::new(class.class.index, spots.len(), &columns), of_class);
            for (spot, digest) in spots.iter().zip(&*of_class) {
                digests[spot.place as usize] = *digest;
            }
        }
        self.digests = digests;
    }

    /// Whether there were ever events in it.
    pub fn has_memory(&self) -> bool {
        self.events.capacity() > 0
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

/// What located events have in common.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub plan: &'a StreamPlan,
    part: Part<'a>,
    marks: &'a [u32],
    pub digests: &'a [Digest],
    stream: usize,
}

impl<'a> View<'a> {
    /// An event that has been located, and its place among all.
    #[inline(always)]
    pub fn event(&self, located: &LocatedEvent, place: usize) -> OrderedEvent<'a> {
        let plan = &self.plan.classes[located.position as usize];
        let Part { bytes, context, .. } = self.part;
        let marks = &self.marks[located.marks as usize..];
        let values = match &plan.plan {
            EventPlan::InPlace(..) => Values::InPlace { bytes, marks, context },
            EventPlan::Stages(stages) => {
                let mut bits = Bits::new(bytes, joined(marks), self.part.end);
                let mut slots = self.part.slots.to_vec();
                let header = self.plan.header.decode(&mut bits, &mut slots, &mut 0);
                let values = header.and_then(|_| stages.decode(&mut bits, &mut slots, context));
                // It could be decoded when it was located.
                Values::Decoded(values.unwrap_or_default())
            }
        };
        let digest = self.digests.get(place);
        OrderedEvent { plan, timestamp: located.timestamp, stream: self.stream, values, digest }
    }
}

/// A part while its events are being located.
struct Locating<'c> {
    located: &'c mut LocatedEvents,
    plan: &'c StreamPlan,
    part: Part<'c>,
    /// The number of events to locate.
    count: usize,
    /// The first time and the last one of events that are kept.
    limits: [i64; 2],
    tally: &'c mut Tally,
    is_sorted: bool,
}

impl Locating<'_> {
    /// Locates events from a cursor on, and returns where it got to, and why it stopped if there were not enough.
    fn all_from(&mut self, mut cursor: Cursor) -> (Cursor, Option<StopReason>) {
        let bytes = self.part.whole_bytes();
        let mut slots = self.part.slots.to_vec();
        while self.located.events.len() < self.count {
            if let Some(next) = self.simple(cursor, bytes) {
                cursor = next;
                continue;
            }
            match self.general(cursor, &mut slots) {
                Ok(next) => cursor = next,
                Err(stop) => return (cursor, Some(stop)),
            }
        }
        (cursor, None)
    }

    /// Steps over events, each of whole bytes after the short form of one of LTTng's headers, if such come next.
    #[inline(always)]
    fn simple(&mut self, cursor: Cursor, bytes: &[u8]) -> Option<Cursor> {
        if cursor.at % 8 != 0 {
            return None;
        }
        match self.plan.header {
            EventHeader::Lttng(Lttng::COMPACT) => self.compact(cursor, bytes),
            EventHeader::Lttng(_) => self.large(cursor, bytes),
            _ => None,
        }
    }

    // Compiled for each header, whose sizes are constants there.

    #[inline(never)]
    fn compact(&mut self, cursor: Cursor, bytes: &[u8]) -> Option<Cursor> {
        self.steps(Lttng::COMPACT, cursor, bytes)
    }

    #[inline(never)]
    fn large(&mut self, cursor: Cursor, bytes: &[u8]) -> Option<Cursor> {
        self.steps(Lttng::LARGE, cursor, bytes)
    }

    /// Steps over events with this header. Neighbours are mostly of different classes.
    #[inline(always)]
    fn steps(&mut self, header: Lttng, cursor: Cursor, bytes: &[u8]) -> Option<Cursor> {
        let mut clock = cursor.clock;
        let first = cursor.at / 8;
        let mut at = first;
        while self.located.events.len() < self.count {
            let Some(event) = simple_event_with(header, self.plan, bytes, at) else { break };
            let Simple { first_bytes, position, stretch, .. } = event;
            let Some(now) = clock.checked_add(header.passed(first_bytes, clock)) else { break };
            let Some(end) = self.step_over(stretch, bytes, at + header.size()) else { break };
            (at, clock) = (end, now);
            self.push(clock, position, stretch.marks());
        }
        (at > first).then_some(Cursor { at: at * 8, clock, ..cursor })
    }

    /// Steps over an event of whole bytes, and notes its marks. Returns where it ends.
    #[inline(always)]
    fn step_over(&mut self, stretch: &Stretch, bytes: &[u8], at: usize) -> Option<usize> {
        stretch.step_over(bytes, at, self.room(stretch.marks()))
    }

    /// Room for the marks of the next event.
    #[inline(always)]
    fn room(&mut self, count: usize) -> &mut [u32] {
        let LocatedEvents { marks, taken, .. } = &mut *self.located;
        let needed = *taken + count;
        if marks.len() < needed {
            grow(marks, needed);
        }
        &mut marks[*taken..needed]
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
                self.room(2).copy_from_slice(&halves(cursor.at));
                2
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
        self.push(clock, position, marks);
        Ok(Cursor { at: bits.at(), clock, empty: bits.empty })
    }

    /// Keeps an event whose marks were noted last, if it is of a class that is not only counted, and within the limits.
    #[inline(always)]
    fn push(&mut self, clock: u64, position: usize, marks: usize) {
        let timestamp = self.plan.timebase.time(clock);
        if timestamp < self.limits[0] || timestamp > self.limits[1] {
            return;
        }
        if self.located.is_counted[position] {
            self.located.counts[position] += 1;
            self.tally.count(1, timestamp, timestamp);
            return;
        }
        let first = self.located.taken as u32;
        self.located.taken += marks;
        self.located.events.push(LocatedEvent { timestamp, position: position as u32, marks: first });
    }
}

#[cold]
#[inline(never)]
fn grow(marks: &mut Vec<u32>, needed: usize) {
    marks.resize(2 * needed, 0);
}

/// A position in bits, as marks.
fn halves(at: usize) -> [u32; 2] {
    [at as u32, (at as u64 >> 32) as u32]
}

/// A position in bits that begins these marks.
fn joined(marks: &[u32]) -> usize {
    let [low, high] = [0, 1].map(|half| u64::from(marks.get(half).copied().unwrap_or(0)));
    (low | high << 32) as usize
}
