//! A packet that takes part in the merge: its next event is known until it has no more.

use std::sync::Arc;

use super::ahead::{Crew, Place};
use super::located_events::{LocatedEvents, View};
use crate::Damage;
use crate::decode::tally::Tally;
use crate::packets::pool::FilePool;

/// A packet that is open: the events that are handed out, and where the next ones will be.
pub struct ActivePacket {
    pub events: LocatedEvents,
    pub next: Option<Arc<Place>>,
    /// What is wrong with it, once that is known.
    pub damage: Option<Damage>,
    /// Its length in bytes.
    pub length: u64,
    /// Its stream, and its number there.
    pub stream: usize,
    pub number: u64,
}

impl ActivePacket {
    /// The time of the next event, if one has been located.
    #[inline(always)]
    pub fn next_time(&self) -> Option<i64> {
        self.events.peek().map(|next| next.timestamp)
    }

    /// What its located events have in common, if there are any.
    #[inline(always)]
    pub fn view(&self) -> Option<View<'_>> {
        self.events.view(self.stream)
    }

    /// Makes sure that the next event is known, and returns its time; `None` at the end.
    pub fn refill(&mut self, crew: &mut Crew, files: &mut FilePool, tally: &mut Tally) -> Option<i64> {
        while self.next_time().is_none() {
            // What they were read from is then free for what comes next.
            crew.reuse(std::mem::take(&mut self.events));
            let next = crew.come_back(self.next.as_ref()?, files);
            tally.add(next.tally);
            (self.events, self.damage) = (next.events, next.damage);
            if next.is_last {
                self.next = None;
            }
        }
        self.next_time()
    }
}
