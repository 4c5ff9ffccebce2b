//! Parts of packets, event by event.

use std::ops::{ControlFlow, RangeInclusive};

use super::bits::{Bits, Fault, MAX_EMPTY};
use super::clock::Timebase;
use super::event_header::{EventHeader, Lttng};
use super::event_plan::EventPlan;
use super::fast::batch::{Batch, Rows, TimedRows};
use super::fast::columns::Columns;
use super::fast::run::{Reached, ReadyRun, Run, step_both, step_run};
use super::fast::stretch::{REACH, Stretch};
use super::frozen::Frozen;
use super::stream_plan::StreamPlan;
use super::tally::Tally;
use crate::packets::notes::{NotedEvent, PartNotes};
use crate::{Collect, Decoded, Events, Value, Window};

/// The position of decoding in a packet.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    /// In bits from the beginning of the part's bytes.
    pub at: usize,
    /// The clock's count.
    pub clock: u64,
    /// The number of further elements that may have no size, in all events of the packet together.
    pub empty: u32,
}

impl Cursor {
    /// A cursor at a packet's first event.
    pub fn new(at: usize, clock: u64) -> Cursor {
        Cursor { at, clock, empty: MAX_EMPTY }
    }
}

/// The part of a packet that has been read.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// These begin at a multiple of every alignment.
    pub bytes: &'a [u8],
    /// Where the content ends, in bits from the beginning of the bytes.
    pub end: usize,
    /// The values of the packet's context.
    pub context: &'a [Frozen],
    /// The values in the packet's header and context that events may refer to.
    pub slots: &'a [i128],
}

impl<'a> Part<'a> {
    /// The bytes of which all bits are content, as far as marks reach.
    pub fn whole_bytes(&self) -> &'a [u8] {
        &self.bytes[..self.bytes.len().min(self.end / 8).min(REACH)]
    }
}

/// Why decoding stopped, with the cursor before the event that it stopped at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All events have been decoded.
    End,
    /// The event extends past the available bytes.
    Short,
    /// The metadata describes no event with this id.
    UnknownClass(u64),
    /// The event has no size, so the number of events would be infinite.
    NoRoom,
    /// The event cannot be decoded.
    Fault(Fault),
}

/// The number of events of a class in a row that makes it likely that more follow.
const STREAK: usize = 8;

/// A part of a packet while its events are decoded.
pub struct Decoding<'a> {
    plan: &'a StreamPlan,
    part: Part<'a>,
    limits: RangeInclusive<i64>,
    slots: Vec<i128>,
    /// For each class that the part has events of, those that have been stepped over. Within one, the clock never
    /// goes back.
    batches: Vec<Batch<'a>>,
    /// Room for more batches, from parts before: new room would have to be cleared for each part.
    rows: Vec<Vec<u32>>,
    /// For each class one more than the index of its batch, or 0.
    places: Vec<u32>,
    /// The position of the class of each batch.
    positions: Vec<usize>,
    /// The index of the batch whose class is being stepped over.
    current: usize,
    /// Whether events of different classes take turns.
    is_mixed: bool,
    /// Whether the next event cannot be stepped over.
    is_stuck: bool,
    /// The position of decoding.
    pub cursor: Cursor,
    /// The events that have been handed over.
    pub tally: Tally,
    /// Why it has stopped, once it has.
    pub stop: Option<StopReason>,
    /// The events that the collector will want again.
    pub notes: PartNotes,
}

/// Decodes all events of one part or two, and hands those in the window to the collector.
pub fn decode<C: Collect>(parts: &mut [Decoding<'_>], collector: &mut C) -> ControlFlow<C::Stop> {
    if let [one, other] = parts {
        while let Some(run) = one.run(collector)? {
            let Some(other_run) = other.run(collector)? else { break };
            let (reached, other_reached) = step_both(run, other_run);
            one.keep(reached);
            other.keep(other_reached);
        }
    }
    for part in parts {
        while let Some(run) = part.run(collector)? {
            let reached = step_run(run);
            part.keep(reached);
        }
        part.hand_over_all(collector)?;
        part.notes.is_incomplete |= collector.noted().is_none();
    }
    ControlFlow::Continue(())
}

/// An event that can probably be stepped over.
pub struct Simple<'a> {
    pub header: Lttng,
    pub first_bytes: u64,
    pub id: u64,
    /// The position of its class.
    pub position: usize,
    /// What follows its header.
    pub stretch: &'a Stretch,
}

/// The event at a position, if it can probably be stepped over: it is whole bytes after the short form of one of LTTng's
/// headers, as nearly all are.
#[inline(always)]
pub fn simple_event<'a>(plan: &'a StreamPlan, bytes: &[u8], at: usize) -> Option<Simple<'a>> {
    let EventHeader::Lttng(header) = plan.header else { return None };
    if at % 8 == 0 { simple_event_with(header, plan, bytes, at / 8) } else { None }
}

/// The same with this header, at a whole byte.
#[inline(always)]
pub fn simple_event_with<'a>(
    header: Lttng,
    plan: &'a StreamPlan,
    bytes: &[u8],
    at: usize,
) -> Option<Simple<'a>> {
    let first_bytes = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    let id = header.id(first_bytes)?;
    let position = plan.position(id)?;
    let EventPlan::InPlace(stretch, _) = &plan.classes.get(position)?.plan else { return None };
    Some(Simple { header, first_bytes, id, position, stretch })
}

impl<'a> Decoding<'a> {
    /// A part of a packet, from a cursor on. The rows are those of a part before it.
    pub fn new(
        plan: &'a StreamPlan,
        part: Part<'a>,
        cursor: Cursor,
        window: Window,
        rows: Vec<Vec<u32>>,
    ) -> Decoding<'a> {
        Decoding {
            plan,
            part,
            limits: window.limits(),
            slots: part.slots.to_vec(),
            batches: Vec::new(),
            rows,
            places: vec![0; plan.classes.len()],
            positions: Vec::new(),
            current: 0,
            is_mixed: false,
            is_stuck: false,
            cursor,
            tally: Tally::default(),
            stop: None,
            notes: PartNotes::default(),
        }
    }

    /// Rows for the next part.
    pub fn into_rows(self) -> impl Iterator<Item = Vec<u32>> {
        self.batches.into_iter().map(Batch::into_rows).chain(self.rows)
    }

    /// The next run of events that can be stepped over. Decodes all events before it on the general path. `None` at the end.
    fn run<C: Collect>(&mut self, collector: &mut C) -> ControlFlow<C::Stop, Option<ReadyRun<'_>>> {
        let Simple { header, id, position, stretch, .. } = loop {
            if self.stop.is_some() {
                return ControlFlow::Continue(None);
            }
            if self.is_mixed {
                self.step_mixed(collector)?;
            }
            match simple_event(self.plan, self.part.bytes, self.cursor.at) {
                Some(simple) if !self.is_stuck => break simple,
                _ => match self.event(self.cursor, collector)? {
                    Ok(next) => (self.cursor, self.is_stuck) = (next, false),
                    Err(stop) => self.stop = Some(stop),
                },
            }
        };
        self.current = self.batch_with_room(position, collector)?;
        let run = Run { header, id, stretch, bytes: self.part.whole_bytes() };
        let Cursor { at, clock, .. } = self.cursor;
        let reached = Reached { at: at / 8, clock, events: 0, is_stuck: false };
        ControlFlow::Continue(Some((run, reached, self.batches[self.current].room())))
    }

    /// Steps over simple events one by one, until several of one class follow each other. A run is then faster, but
    /// beginning one costs as much as stepping over some events.
    fn step_mixed<C: Collect>(&mut self, collector: &mut C) -> ControlFlow<C::Stop> {
        let bytes = self.part.whole_bytes();
        let (mut last, mut streak) = (u64::MAX, 0);
        self.is_stuck = true;
        while let Some(simple) = simple_event(self.plan, self.part.bytes, self.cursor.at) {
            let Simple { header, first_bytes, id, position, stretch, .. } = simple;
            let Cursor { at, clock, .. } = self.cursor;
            let Some(clock) = clock.checked_add(header.passed(first_bytes, clock)) else { break };
            streak = if id == last { streak + 1 } else { 0 };
            last = id;
            if streak == STREAK {
                (self.is_mixed, self.is_stuck) = (false, false);
                break;
            }
            let batch = self.batch_with_room(position, collector)?;
            let end = self.batches[batch].step_over(stretch, bytes, at / 8 + header.size(), clock);
            let Some(end) = end else { break };
            self.cursor = Cursor { at: end * 8, clock, ..self.cursor };
        }
        ControlFlow::Continue(())
    }

    /// Hands the events that were noted in this part to the collector, without locating any others.
    pub fn noted<C: Collect>(&mut self, notes: &PartNotes, collector: &mut C) -> ControlFlow<C::Stop> {
        let bytes = self.part.whole_bytes();
        for NotedEvent { class, at, clock } in notes.events() {
            let Some(EventPlan::InPlace(stretch, _)) = self.plan.classes.get(class).map(|class| &class.plan)
            else {
                continue;
            };
            let batch = self.batch_with_room(class, collector)?;
            // Within one, the clock never goes back.
            if clock < self.batches[batch].rows().last_clock() {
                self.hand_over(batch, collector)?;
            }
            // A file that has shrunk since has no such event any more.
            self.batches[batch].step_over(stretch, bytes, at, clock);
        }
        self.hand_over_all(collector)
    }

    /// Keeps what a run found.
    fn keep(&mut self, reached: Reached) {
        self.batches[self.current].take(reached.events);
        self.is_stuck = reached.is_stuck && reached.events == 0;
        self.is_mixed = reached.is_stuck && reached.events < STREAK;
        self.cursor = Cursor { at: reached.at * 8, clock: reached.clock, ..self.cursor };
    }

    /// Decodes one event of any kind.
    #[inline(never)]
    fn event<C: Collect>(
        &mut self,
        cursor: Cursor,
        collector: &mut C,
    ) -> ControlFlow<C::Stop, Result<Cursor, StopReason>> {
        let mut bits = Bits::new(self.part.bytes, cursor.at, self.part.end);
        self.slots.copy_from_slice(self.part.slots);
        let begun = begin_event(self.plan, &mut bits, cursor, self.part.end, &mut self.slots);
        let (position, clock) = match begun {
            Ok(begun) => begun,
            Err(stop) => return ControlFlow::Continue(Err(stop)),
        };
        if clock < cursor.clock {
            let [from, to] = [cursor.clock, clock].map(|clock| self.plan.timebase.time(clock));
            self.tally.steps.step(from, to);
            self.hand_over_all(collector)?;
        }
        let decoded = match &self.plan.classes[position].plan {
            EventPlan::InPlace(stretch, _) if stretch.is_empty() && bits.at() == cursor.at => {
                return ControlFlow::Continue(Err(StopReason::NoRoom));
            }
            EventPlan::InPlace(stretch, _) => {
                let batch = self.batch_with_room(position, collector)?;
                let (at, bytes) = (bits.at() / 8, self.part.whole_bytes());
                match self.batches[batch].step_over(stretch, bytes, at, clock) {
                    Some(end) => bits.bytes(end - at).map(|_| ()),
                    None => Err(Fault::Short),
                }
            }
            EventPlan::Stages(stages) => match stages.decode(&mut bits, &mut self.slots, self.part.context) {
                Ok(values) if bits.check_end().is_ok() && bits.at() > cursor.at => {
                    self.hand_over_one(position, clock, &values, collector)?;
                    Ok(())
                }
                Ok(_) => bits.check_end(),
                Err(fault) => Err(fault),
            },
        };
        ControlFlow::Continue(match decoded {
            Ok(()) if bits.at() == cursor.at => Err(StopReason::NoRoom),
            Ok(()) => Ok(Cursor { at: bits.at(), clock, empty: bits.empty }),
            Err(fault) => Err(fault.into()),
        })
    }

    /// The index of a class's batch, which has room for an event.
    #[inline(always)]
    fn batch_with_room<C: Collect>(
        &mut self,
        position: usize,
        collector: &mut C,
    ) -> ControlFlow<C::Stop, usize> {
        let place = match self.places[position].checked_sub(1) {
            Some(place) => place as usize,
            None => self.enter(position),
        };
        if self.batches[place].is_full() {
            self.hand_over(place, collector)?;
        }
        ControlFlow::Continue(place)
    }

    /// Adds a batch for a class, and returns its index.
    #[cold]
    #[inline(never)]
    fn enter(&mut self, position: usize) -> usize {
        let rows = self.rows.pop().unwrap_or_default();
        self.batches.push(Batch::new(&self.plan.classes[position], rows));
        self.positions.push(position);
        self.places[position] = self.batches.len() as u32;
        self.batches.len() - 1
    }

    fn hand_over_all<C: Collect>(&mut self, collector: &mut C) -> ControlFlow<C::Stop> {
        for place in 0..self.batches.len() {
            if self.batches[place].rows().count() > 0 {
                self.hand_over(place, collector)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands over the events of a class that have been stepped over, and makes room for others.
    #[inline(never)]
    fn hand_over<C: Collect>(&mut self, place: usize, collector: &mut C) -> ControlFlow<C::Stop> {
        let batch = &mut self.batches[place];
        let (class, timebase) = (batch.class, &self.plan.timebase);
        let EventPlan::InPlace(_, wanted) = &class.plan else { return ControlFlow::Continue(()) };
        let rows = within(&self.limits, batch.rows(), timebase);
        let count = rows.count();
        let mut flow = ControlFlow::Continue(());
        if count > 0 {
            let [first, last] = [0, count - 1].map(|event| timebase.time(rows.clock(event)));
            self.tally.count(count as u64, first, last);
            if class.is_wanted {
                let Part { bytes, context, .. } = self.part;
                let columns = Columns { bytes, context, wanted, marks: TimedRows { rows, timebase } };
                flow = collector.events(&Events::new(class.class.index, count, &columns));
                match collector.noted() {
                    Some(noted) => {
                        let events = noted.iter().map(|&event| (rows.clock(event), rows.begin(event)));
                        self.notes.add(self.positions[place], events);
                    }
                    None => self.notes.is_incomplete = true,
                }
            }
        }
        batch.clear();
        flow
    }

    /// Hands over an event that has been decoded.
    fn hand_over_one<C: Collect>(
        &mut self,
        position: usize,
        clock: u64,
        values: &[Value<'_>],
        collector: &mut C,
    ) -> ControlFlow<C::Stop> {
        let class = &self.plan.classes[position];
        let timestamp = self.plan.timebase.time(clock);
        if !self.limits.contains(&timestamp) {
            return ControlFlow::Continue(());
        }
        self.tally.count(1, timestamp, timestamp);
        if class.is_wanted {
            collector.events(&Decoded { timestamp, values }.events(class.class.index))?;
            self.notes.is_incomplete |= collector.noted().is_none_or(|noted| !noted.is_empty());
        }
        ControlFlow::Continue(())
    }
}

/// Decodes the header of the event at a cursor: the position of its class, and the clock's count.
pub fn begin_event(
    plan: &StreamPlan,
    bits: &mut Bits<'_>,
    cursor: Cursor,
    end: usize,
    slots: &mut [i128],
) -> Result<(usize, u64), StopReason> {
    bits.empty = cursor.empty;
    if bits.left() == 0 {
        return Err(if bits.at() >= end { StopReason::End } else { StopReason::Short });
    }
    let mut clock = cursor.clock;
    let id = plan.header.decode(bits, slots, &mut clock)?;
    let position = plan.position(id).filter(|&position| position < plan.classes.len());
    Ok((position.ok_or(StopReason::UnknownClass(id))?, clock))
}

/// Those of the events that are within the limits. Their times never go back.
fn within<'a>(limits: &RangeInclusive<i64>, rows: Rows<'a>, timebase: &Timebase) -> Rows<'a> {
    let mut times = (0..rows.count()).map(|event| timebase.time(rows.clock(event)));
    let to = times.clone().rposition(|time| time <= *limits.end()).map_or(0, |last| last + 1);
    let from = times.position(|time| time >= *limits.start()).unwrap_or(to);
    rows.between(from.min(to), to)
}

impl From<Fault> for StopReason {
    fn from(fault: Fault) -> StopReason {
        match fault {
            Fault::Short => StopReason::Short,
            other => StopReason::Fault(other),
        }
    }
}
