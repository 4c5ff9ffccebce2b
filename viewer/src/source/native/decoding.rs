//! A part of a packet, event by event.

use std::ops::RangeInclusive;

use super::batch::{Batch, Located, Rows};
use super::bits::{Bits, Fault};
use super::clock::Timebase;
use super::decode::Slots;
use super::header::{EventHeader, Lttng};
use super::plan::Plan;
use super::stream::StreamPlan;
use super::stretch::REACH;
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

/// Decodes all events in the bytes at hand, and hands those in the window to the collector.
pub fn decode<'a, C: Collect>(
    plan: &'a StreamPlan<'a>,
    part: Part<'a>,
    cursor: &mut Cursor,
    window: Window,
    slots: &mut Slots,
    collector: &mut C,
) -> (Tally, Stop) {
    let limits = window.since.unwrap_or(i64::MIN)..=window.until.unwrap_or(i64::MAX);
    let batches = plan.classes.iter().map(Batch::new).collect();
    let mut decoding = Decoding { plan, part, limits, slots, batches, tally: Tally::default(), collector };
    let stop = loop {
        if let EventHeader::Lttng(header) = plan.header
            && cursor.at.is_multiple_of(8)
        {
            *cursor = decoding.walk(header, *cursor);
        }
        match decoding.event(*cursor) {
            Ok(next) => *cursor = next,
            Err(stop) => break stop,
        }
    };
    decoding.hand_over_all();
    (decoding.tally, stop)
}

/// The bytes at hand while they are decoded.
struct Decoding<'a, 'c, C> {
    plan: &'a StreamPlan<'a>,
    part: Part<'a>,
    limits: RangeInclusive<i64>,
    slots: &'c mut Slots,
    /// For each class the events that have been walked over. Within one, the clock never goes back.
    batches: Vec<Batch<'a>>,
    tally: Tally,
    collector: &'c mut C,
}

impl<'a, C: Collect> Decoding<'a, '_, C> {
    /// Walks over events for as long as they are what nearly all are: whole bytes behind the short form of one of
    /// LTTng's headers. Stops before any other event, and close to the end.
    fn walk(&mut self, header: Lttng, cursor: Cursor) -> Cursor {
        let bytes = self.part.whole_bytes();
        let (mut at, mut clock) = (cursor.at / 8, cursor.clock);
        while let Some(first_bytes) = bytes.get(at..).and_then(<[u8]>::first_chunk)
            && let Some((id, _)) = header.short(u64::from_le_bytes(*first_bytes), clock)
            && let Some(position) = self.plan.position(id)
            && let Some(batch) = self.batches.get_mut(position)
        {
            let walked = batch.walk(header, id, bytes, at, clock);
            if walked.is_full {
                self.hand_over(position);
            } else if walked.at == at {
                break;
            }
            (at, clock) = (walked.at, walked.clock);
        }
        Cursor { at: at * 8, clock }
    }

    /// Decodes one event, whatever it is.
    #[inline(never)]
    fn event(&mut self, cursor: Cursor) -> Result<Cursor, Stop> {
        let mut bits = Bits::new(self.part.bytes, cursor.at, self.part.end);
        if bits.left() == 0 {
            return Err(if bits.at() >= self.part.end { Stop::End } else { Stop::Short });
        }
        let mut clock = cursor.clock;
        let id = self.plan.header.decode(&mut bits, self.slots, &mut clock)?;
        let position = self.plan.position(id).filter(|&position| position < self.batches.len());
        let position = position.ok_or(Stop::UnknownClass(id))?;
        if clock < cursor.clock {
            self.hand_over_all();
        }
        match &self.plan.classes[position].plan {
            Plan::Walk(stretch, _) => {
                if stretch.is_empty() && bits.at() == cursor.at {
                    return Err(Stop::NoRoom);
                }
                if self.batches[position].is_full() {
                    self.hand_over(position);
                }
                let at = bits.at() / 8;
                let end = self.batches[position].walk_one(self.part.whole_bytes(), at, clock);
                bits.bytes(end.ok_or(Stop::Short)? - at)?;
            }
            Plan::Stages(stages) => {
                let values = stages.decode(&mut bits, self.slots, self.part.context)?;
                bits.check_end()?;
                if bits.at() == cursor.at {
                    return Err(Stop::NoRoom);
                }
                self.hand_over_one(position, clock, &values);
            }
        }
        Ok(Cursor { at: bits.at(), clock })
    }

    fn hand_over_all(&mut self) {
        for position in 0..self.batches.len() {
            if self.batches[position].rows().count() > 0 {
                self.hand_over(position);
            }
        }
    }

    /// Hands over the events of a class that have been walked over, and makes room for others.
    #[inline(never)]
    fn hand_over(&mut self, position: usize) {
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
                self.collector.events(&Events { class: class.index, count, fields: &fields });
            }
        }
        batch.make_room();
    }

    /// Hands over an event that has been decoded.
    fn hand_over_one(&mut self, position: usize, clock: u64, values: &[Value<'_>]) {
        let class = &self.plan.classes[position];
        let timestamp = self.plan.timebase.time(clock);
        if !self.limits.contains(&timestamp) {
            return;
        }
        self.tally.add(Tally { events: 1, first: timestamp, last: timestamp });
        if class.is_wanted {
            self.collector.events(&Decoded { timestamp, values }.events(class.index));
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
