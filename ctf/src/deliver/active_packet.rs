//! A packet that takes part in the merge: its next event is known until it has no more.

use std::ops::RangeInclusive;

use super::lookahead::{LocatedEvent, Lookahead};
use super::open_packet::OpenPacket;
use super::ordered_event::{OrderedEvent, Values};
use super::packet_source::Storage;
use crate::Damage;
use crate::decode::bits::Bits;
use crate::decode::event_plan::EventPlan;
use crate::decode::tally::Tally;
use crate::packets::pool::FilePool;

/// A packet that is open, and the events that have been located in it.
pub struct ActivePacket {
    pub packet: OpenPacket,
    pub ahead: Lookahead,
    pub storage: Storage,
    /// Where in its storage it begins, and its length, in bytes.
    pub offset: u64,
    pub length: u64,
    /// Its stream, and its number there.
    pub stream: usize,
    pub number: u64,
}

impl ActivePacket {
    /// The time of the next event, if one has been located.
    #[inline(always)]
    pub fn next_time(&self) -> Option<i64> {
        self.ahead.peek().map(|next| next.timestamp)
    }

    /// Makes sure that the next event has been located, and returns its time; `None` at the end.
    pub fn refill(
        &mut self,
        chunk: usize,
        limits: &RangeInclusive<i64>,
        files: &mut FilePool,
        tally: &mut Tally,
    ) -> Result<Option<i64>, Damage> {
        loop {
            if let Some(time) = self.next_time() {
                return Ok(Some(time));
            }
            if let Some(stop) = self.ahead.stop {
                if !self.packet.goes_on(self.packet.cursor, stop) {
                    return Ok(None);
                }
                let read = self.storage.open(files).and_then(|bytes| self.packet.read(&bytes));
                if let Err(error) = read {
                    self.ahead.clear();
                    return Err(self.storage.unreadable(self.offset, &error));
                }
            }
            self.ahead.fill(&mut self.packet, chunk, limits, tally);
        }
    }

    /// An event that has been located.
    #[inline(always)]
    pub fn event(&self, next: &LocatedEvent) -> OrderedEvent<'_> {
        let plan = &self.packet.plan.classes[next.position as usize];
        let part = self.packet.part();
        let values = match &plan.plan {
            EventPlan::InPlace(stretch, wanted) => Values::InPlace {
                wanted,
                bytes: part.bytes,
                marks: self.ahead.marks(next, stretch.marks()),
                context: part.context,
            },
            EventPlan::Stages(stages) => {
                let mut bits = Bits::new(part.bytes, next.at, part.end);
                let mut slots = part.slots.to_vec();
                let header = self.packet.plan.header.decode(&mut bits, &mut slots, &mut 0);
                let values = header.and_then(|_| stages.decode(&mut bits, &mut slots, part.context));
                // It could be decoded when it was located.
                Values::Decoded(values.unwrap_or_default())
            }
        };
        OrderedEvent { plan, timestamp: next.timestamp, stream: self.stream, values }
    }

    /// What is wrong with the packet, now that it has no more events.
    pub fn damage(&self) -> Option<Damage> {
        let (offset, reason) = self.packet.verdict(self.ahead.stop?)?;
        Some(self.storage.damage(offset, reason))
    }

    /// Releases bytes that are in memory.
    pub fn release(&mut self) {
        self.storage.release();
        self.packet.release();
    }

    /// Takes the memory of a packet that is closed, for reuse.
    pub fn take_memory(&mut self) -> (Lookahead, Vec<u8>) {
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.clear();
        (ahead, self.packet.take_buffer())
    }
}
