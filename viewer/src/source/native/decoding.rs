//! Parts of packets, event by event.

use std::ops::RangeInclusive;

use super::batch::{Batch, Located, Rows};
use super::bits::{Bits, Fault, MAX_EMPTY};
use super::clock::Timebase;
use super::header::{EventHeader, Lttng};
use super::plan::Plan;
use super::stream::StreamPlan;
use super::stretch::{REACH, Stretch};
use super::walk::{Room, Run, Walked, walk, walk_both};
use crate::source::{Collect, Decoded, Events, Value, Window};

/// Where in a packet decoding is.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    /// In bits from the beginning of the bytes at hand.
    pub at: usize,
    /// The clock's count.
    pub clock: u64,
}

/// The bytes at hand: a part of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// These begin at a multiple of every alignment.
    pub bytes: &'a [u8],
    /// Where the content ends, in bits from the beginning of the bytes.
    pub end: usize,
    /// The values of the packet's context.
    pub context: &'a [Value<'a>],
}

impl<'a> Part<'a> {
    /// The bytes of which all bits are content, as far as marks reach.
    fn whole_bytes(&self) -> &'a [u8] {
        &self.bytes[..self.bytes.len().min(self.end / 8).min(REACH)]
    }
}

/// Why decoding stopped, with the cursor before the event that it stopped at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There is no event there: all have been decoded.
    End,
    /// The event ends behind the bytes at hand.
    Short,
    /// The metadata describes no event with this id.
    UnknownClass(u64),
    /// The event takes no room, so there would be no end of them.
    NoRoom,
    /// The event cannot be decoded.
    Fault(Fault),
}

/// How many events there were, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub events: u64,
    /// The time of the earliest.
    pub first: i64,
    /// The time of the latest.
    pub last: i64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { events: 0, first: i64::MAX, last: i64::MIN }
    }
}

impl Tally {
    /// Takes in another.
    pub fn add(&mut self, other: Tally) {
        self.events += other.events;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// How many events of a class in a row make it likely that more follow.
const STREAK: usize = 8;

/// A part of a packet while its events are decoded.
pub struct Decoding<'a> {
    plan: &'a StreamPlan<'a>,
    part: Part<'a>,
    limits: RangeInclusive<i64>,
    slots: Vec<i128>,
    /// For each class the events that have been walked over. Within one, the clock never goes back.
    batches: Vec<Batch<'a>>,
    /// The position of the class whose events are being walked over.
    walking: usize,
    /// Whether events of different classes take turns.
    is_mixed: bool,
    /// Whether the next event cannot be walked over.
    is_stuck: bool,
    /// How many more elements may take no room, in all events together.
    empty: u32,
    /// Where it is.
    pub cursor: Cursor,
    /// The events that have been handed over.
    pub tally: Tally,
    /// Why it has stopped, once it has.
    pub stop: Option<Stop>,
}

/// Decodes all events of one part or two, and hands those in the window to the collector.
pub fn decode<C: Collect>(parts: &mut [Decoding<'_>], collector: &mut C) {
    if let [one, other] = parts {
        while let Some(run) = one.run(collector)
            && let Some(other_run) = other.run(collector)
        {
            let (walked, other_walked) = walk_both(run, other_run);
            one.keep(walked);
            other.keep(other_walked);
        }
    }
    for part in parts {
        while let Some((run, walked, room)) = part.run(collector) {
            let walked = walk(run, walked, room);
            part.keep(walked);
        }
        part.hand_over_all(collector);
    }
}

/// What is known of an event that looks as if it could be walked over.
struct Simple<'a> {
    header: Lttng,
    first_bytes: u64,
    id: u64,
    /// The position of its class.
    position: usize,
    /// What is behind its header.
    stretch: &'a Stretch<'a>,
}

impl<'a> Decoding<'a> {
    /// A part of a packet, from a place on.
    pub fn new(
        plan: &'a StreamPlan<'a>,
        part: Part<'a>,
        cursor: Cursor,
        window: Window,
        slots: Vec<i128>,
    ) -> Decoding<'a> {
        Decoding {
            plan,
            part,
            limits: window.since.unwrap_or(i64::MIN)..=window.until.unwrap_or(i64::MAX),
            slots,
            batches: plan.classes.iter().map(Batch::new).collect(),
            walking: 0,
            is_mixed: false,
            is_stuck: false,
            empty: MAX_EMPTY,
            cursor,
            tally: Tally::default(),
            stop: None,
        }
    }

    /// The next run of events that can be walked over: they are whole bytes behind the short form of one of LTTng's
    /// headers, as nearly all are. Decodes all events before it the general way. `None` when there are no more.
    fn run<C: Collect>(&mut self, collector: &mut C) -> Option<(Run<'_>, Walked, Room<'_>)> {
        let Simple { header, id, position, stretch, .. } = loop {
            if self.stop.is_some() {
                return None;
            }
            if self.is_mixed {
                self.walk_mixed(collector);
            }
            match self.simple_event() {
                Some(simple) if !self.is_stuck => break simple,
                _ => match self.event(self.cursor, collector) {
                    Ok(next) => (self.cursor, self.is_stuck) = (next, false),
                    Err(stop) => self.stop = Some(stop),
                },
            }
        };
        if self.batches[position].is_full() {
            self.hand_over(position, collector);
        }
        self.walking = position;
        let run = Run { header, id, stretch, bytes: self.part.whole_bytes() };
        let Cursor { at, clock } = self.cursor;
        let walked = Walked { at: at / 8, clock, events: 0, is_stuck: false };
        Some((run, walked, self.batches[position].room()))
    }

    /// Walks over simple events one by one, until there are several of one class in a row, which are better walked over
    /// as a run: to begin one takes as long as to walk over some events.
    fn walk_mixed<C: Collect>(&mut self, collector: &mut C) {
        let bytes = self.part.whole_bytes();
        let (mut last, mut streak) = (u64::MAX, 0);
        self.is_stuck = true;
        while let Some(Simple { header, first_bytes, id, position, stretch }) = self.simple_event()
            && let Cursor { at, clock } = self.cursor
            && let Some(passed) = header.passed(first_bytes, id, clock)
            && let Some(clock) = clock.checked_add(passed)
        {
            streak = if id == last { streak + 1 } else { 0 };
            last = id;
            if streak == STREAK {
                (self.is_mixed, self.is_stuck) = (false, false);
                return;
            }
            if self.batches[position].is_full() {
                self.hand_over(position, collector);
            }
            let end = self.batches[position].walk(stretch, bytes, at / 8 + header.size(), clock);
            let Some(end) = end else { return };
            self.cursor = Cursor { at: end * 8, clock };
        }
    }

    /// The next event, if it looks as if it could be walked over.
    #[inline(always)]
    fn simple_event(&self) -> Option<Simple<'a>> {
        let EventHeader::Lttng(header) = self.plan.header else { return None };
        let at = self.cursor.at;
        let rest = self.part.bytes.get(at / 8..).filter(|_| at.is_multiple_of(8))?;
        let first_bytes = u64::from_le_bytes(*rest.first_chunk()?);
        let id = header.id(first_bytes)?;
        let position = self.plan.position(id)?;
        match &self.plan.classes.get(position)?.plan {
            Plan::Walk(stretch, _) => Some(Simple { header, first_bytes, id, position, stretch }),
            Plan::Stages(_) => None,
        }
    }

    /// Keeps what a run found.
    fn keep(&mut self, walked: Walked) {
        self.batches[self.walking].take(walked.events);
        self.is_stuck = walked.is_stuck && walked.events == 0;
        self.is_mixed = walked.is_stuck && walked.events < STREAK;
        self.cursor = Cursor { at: walked.at * 8, clock: walked.clock };
    }

    /// Decodes one event, whatever it is.
    #[inline(never)]
    fn event<C: Collect>(&mut self, cursor: Cursor, collector: &mut C) -> Result<Cursor, Stop> {
        let mut bits = Bits::new(self.part.bytes, cursor.at, self.part.end);
        bits.empty = self.empty;
        if bits.left() == 0 {
            return Err(if bits.at() >= self.part.end { Stop::End } else { Stop::Short });
        }
        let mut clock = cursor.clock;
        let id = self.plan.header.decode(&mut bits, &mut self.slots, &mut clock)?;
        let position = self.plan.position(id).filter(|&position| position < self.batches.len());
        let position = position.ok_or(Stop::UnknownClass(id))?;
        if clock < cursor.clock {
            self.hand_over_all(collector);
        }
        match &self.plan.classes[position].plan {
            Plan::Walk(stretch, _) => {
                if stretch.is_empty() && bits.at() == cursor.at {
                    return Err(Stop::NoRoom);
                }
                if self.batches[position].is_full() {
                    self.hand_over(position, collector);
                }
                let (at, bytes) = (bits.at() / 8, self.part.whole_bytes());
                let end = self.batches[position].walk(stretch, bytes, at, clock).ok_or(Stop::Short)?;
                bits.bytes(end - at)?;
            }
            Plan::Stages(stages) => {
                let values = stages.decode(&mut bits, &mut self.slots, self.part.context)?;
                self.empty = bits.empty;
                bits.check_end()?;
                if bits.at() == cursor.at {
                    return Err(Stop::NoRoom);
                }
                self.hand_over_one(position, clock, &values, collector);
            }
        }
        Ok(Cursor { at: bits.at(), clock })
    }

    fn hand_over_all<C: Collect>(&mut self, collector: &mut C) {
        for position in 0..self.batches.len() {
            if self.batches[position].rows().count() > 0 {
                self.hand_over(position, collector);
            }
        }
    }

    /// Hands over the events of a class that have been walked over, and makes room for others.
    #[inline(never)]
    fn hand_over<C: Collect>(&mut self, position: usize, collector: &mut C) {
        let batch = &mut self.batches[position];
        let (class, timebase) = (batch.class, &self.plan.timebase);
        let Plan::Walk(_, wanted) = &class.plan else { return };
        let rows = within(&self.limits, batch.rows(), timebase);
        let count = rows.count();
        if count > 0 {
            let [first, last] = [0, count - 1].map(|event| timebase.time(rows.clock(event)));
            self.tally.add(Tally { events: count as u64, first, last });
            if class.is_wanted {
                let Part { bytes, context, .. } = self.part;
                let fields = Located { bytes, context, timebase, rows, wanted };
                collector.events(&Events { class: class.index, count, fields: &fields });
            }
        }
        batch.make_room();
    }

    /// Hands over an event that has been decoded.
    fn hand_over_one<C: Collect>(
        &mut self,
        position: usize,
        clock: u64,
        values: &[Value<'_>],
        collector: &mut C,
    ) {
        let class = &self.plan.classes[position];
        let timestamp = self.plan.timebase.time(clock);
        if !self.limits.contains(&timestamp) {
            return;
        }
        self.tally.add(Tally { events: 1, first: timestamp, last: timestamp });
        if class.is_wanted {
            collector.events(&Decoded { timestamp, values }.events(class.index));
        }
    }
}

/// The events within limits, of some whose times never go back.
fn within<'a>(limits: &RangeInclusive<i64>, rows: Rows<'a>, timebase: &Timebase) -> Rows<'a> {
    let mut times = (0..rows.count()).map(|event| timebase.time(rows.clock(event)));
    let to = times.clone().rposition(|time| time <= *limits.end()).map_or(0, |last| last + 1);
    let from = times.position(|time| time >= *limits.start()).unwrap_or(to);
    rows.between(from.min(to), to)
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        match fault {
            Fault::Short => Stop::Short,
            other => Stop::Fault(other),
        }
    }
}
