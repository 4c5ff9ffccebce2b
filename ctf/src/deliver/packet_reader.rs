//! One packet, read by whichever thread comes to it.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::digest::Digester;
use super::located_events::LocatedEvents;
use super::open_packet::{OpenPacket, PART};
use super::packet_source::Storage;
use crate::Damage;
use crate::decode::stream_plan::StreamPlan;
use crate::decode::tally::Tally;
use crate::layout::Layout;
use crate::packets::LocatedPacket;
use crate::packets::pool::FilePool;

/// The parts of all open packets together take about this much memory, and five times that if they are read ahead; unless
/// there are very many streams.
const MEMORY: usize = 2 << 20;

/// A part is not smaller than this.
const SMALLEST_PART: usize = 8 << 10;

/// The bytes of a part for each event that is located at once, and the most events. One thread soon hands out what it has
/// located, and finds it in the nearest cache.
const ALONE: (usize, usize) = (256, 512);

/// How much is read ahead at once: threads wait for each other less often if they hand over more.
const AHEAD: (usize, usize) = (128 << 10, 8 << 10);

/// How many portions of all open packets, and of each, are read ahead. A thread may be kept from running for as long as it takes
/// others to read some, and where streams take turns of seconds, all is read from one packet.
const PORTIONS_AHEAD: usize = 32;
const OF_PACKET: [usize; 2] = [3, 8];

/// With more streams than these, which share the memory, handing over takes longer than reading.
const MAX_STREAMS_AHEAD: usize = 32;

/// How much of a packet is read, and how many of its events are located, at a time.
#[derive(Clone, Copy, Debug)]
pub struct Portion {
    pub bytes: usize,
    pub events: usize,
    /// The number of portions that another thread may read ahead.
    pub ahead: usize,
}

impl Portion {
    /// The portion for this number of streams: the more there are, the less.
    pub fn of(streams: usize, is_alone: bool) -> Portion {
        let bytes = (MEMORY / streams.max(1)).clamp(SMALLEST_PART, PART);
        if is_alone || streams > MAX_STREAMS_AHEAD {
            let (bytes_an_event, most) = ALONE;
            return Portion { bytes, events: (bytes / bytes_an_event).min(most), ahead: 0 };
        }
        let (most_bytes, events) = AHEAD;
        let ahead = (PORTIONS_AHEAD / streams.max(1)).clamp(OF_PACKET[0], OF_PACKET[1]);
        Portion { bytes: bytes.min(most_bytes), events, ahead }
    }
}

/// Reads a packet, and locates its events.
pub struct PacketReader {
    storage: Storage,
    packet: LocatedPacket,
    portion: Portion,
    /// The times of events that are located.
    limits: RangeInclusive<i64>,
    digester: Option<Arc<dyn Digester>>,
    state: State,
}

enum State {
    /// It was not opened, and has this layout, and this plan.
    New(Arc<Layout>, Arc<StreamPlan>),
    /// There may be more events in the part that has been read.
    Read(OpenPacket),
    /// There may be more in the next part.
    Passed(OpenPacket),
    /// It has no more events.
    Ended,
}

/// The next events of a packet.
#[derive(Default)]
pub struct NextEvents {
    /// They are none only at the end.
    pub events: LocatedEvents,
    /// Whether there are no more.
    pub is_last: bool,
    /// The events that nobody wants, and how the clock stepped.
    pub tally: Tally,
    /// What is wrong with the packet.
    pub damage: Option<Damage>,
    /// What is still to digest the events.
    digester: Option<Arc<dyn Digester>>,
}

impl NextEvents {
    /// Has the events digested, unless that was done.
    pub fn digest(&mut self) {
        if let Some(digester) = self.digester.take() {
            self.events.digest(&*digester);
        }
    }
}

impl PacketReader {
    /// A packet that is to be opened.
    pub fn new(
        storage: Storage,
        packet: LocatedPacket,
        layout: Arc<Layout>,
        plan: Arc<StreamPlan>,
        portion: Portion,
        limits: RangeInclusive<i64>,
        digester: Option<Arc<dyn Digester>>,
    ) -> PacketReader {
        PacketReader { storage, packet, portion, limits, digester, state: State::New(layout, plan) }
    }

    /// The number of portions that another thread may read ahead.
    pub fn ahead(&self) -> usize {
        self.portion.ahead
    }

    /// Locates the packet's next events, in memory that is empty and used again. They are still to be digested.
    pub fn next(&mut self, memory: LocatedEvents, files: &mut FilePool) -> NextEvents {
        let mut next = NextEvents { events: memory, ..NextEvents::default() };
        if let Err(error) = self.locate(&mut next, files) {
            next.damage = Some(self.storage.unreadable(self.packet.offset, &error));
            self.state = State::Ended;
        }
        next.digester.clone_from(&self.digester);
        next.is_last = matches!(self.state, State::Ended);
        next
    }

    fn locate(&mut self, next: &mut NextEvents, files: &mut FilePool) -> io::Result<()> {
        let NextEvents { events, tally, damage, .. } = next;
        while events.is_empty() {
            let mut open = match std::mem::replace(&mut self.state, State::Ended) {
                State::New(layout, plan) => {
                    let (bytes, buffer) = (self.storage.open(files)?, std::mem::take(&mut events.buffer));
                    let (metadata, size) = (&layout.metadata, self.portion.bytes);
                    OpenPacket::open(metadata, plan, &self.packet, &bytes, (size, &self.limits), buffer)?
                }
                State::Read(open) => open,
                State::Passed(mut open) => {
                    // The last part may have had no events that are wanted.
                    events.clear();
                    open.read(&*self.storage.open(files)?, || std::mem::take(&mut events.buffer))?;
                    open
                }
                State::Ended => return Ok(()),
            };
            let digester = self.digester.as_deref();
            let (cursor, stop) = events.fill(&open, self.portion.events, &self.limits, digester, tally);
            self.state = match stop {
                None => {
                    open.cursor = cursor;
                    State::Read(open)
                }
                Some(stop) if open.goes_on(cursor, stop) => State::Passed(open),
                Some(stop) => {
                    let wrong = open.verdict(stop);
                    *damage = wrong.map(|(offset, reason)| self.storage.damage(offset, reason));
                    State::Ended
                }
            };
        }
        Ok(())
    }
}
