//! What the merge of one lane compares.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Traces among whose events there is an order.
#[derive(Default)]
pub struct Lane {
    /// The open packets by their next events, except for the current one.
    pub heads: BinaryHeap<Reverse<Head>>,
    /// Whether it had nothing when it was last asked, and is not asked again while others have more.
    pub is_waiting: bool,
}

/// What the merge compares: the time of a packet's next event, its stream and its number there. The last is its slot.
pub type Head = (i64, usize, u64, usize);

/// The packet whose events are being handed out, and what the next one is compared with.
#[derive(Clone, Copy)]
pub struct Current {
    pub slot: usize,
    pub stream: usize,
    pub number: u64,
    /// Up to when its events come before all others.
    pub last: i64,
    /// The earliest time of what is not open yet.
    pub floor: Option<i64>,
}

impl Lane {
    /// A packet as the current one, beside the others.
    #[inline(always)]
    pub fn current(&self, (_, stream, number, slot): Head, floor: Option<i64>) -> Current {
        let before_floor = floor.map_or(i64::MAX, |floor| floor.saturating_sub(1));
        let before_other = self.heads.peek().map_or(i64::MAX, |&Reverse((time, other, other_number, _))| {
            let is_second = (stream, number) > (other, other_number);
            time.saturating_sub(i64::from(is_second))
        });
        Current { slot, stream, number, last: before_floor.min(before_other), floor }
    }

    /// The earliest packet beside the current one, whose next event is at this time, and up to when the events of both come
    /// before all others; or none, and up to when those of the current one do.
    #[inline(always)]
    pub fn beside(&self, current: &Current, time: i64) -> (Option<Head>, i64) {
        let before = |time: i64| time.saturating_sub(1);
        let (first, others) = self.heads.as_slice().split_first().unzip();
        // The earliest of the others is one of the two that a heap has after its first.
        let third = others.into_iter().flatten().take(2).map(|Reverse(head)| before(head.0)).min();
        let last = current.floor.map_or(i64::MAX, before).min(third.unwrap_or(i64::MAX));
        match first {
            Some(Reverse(first)) if time <= last => (Some(*first), last),
            _ => (None, current.last),
        }
    }

    /// Replaces the earliest packet beside the current one.
    #[inline(always)]
    pub fn replace_first(&mut self, head: Head) {
        if let Some(mut first) = self.heads.peek_mut() {
            *first = Reverse(head);
        }
    }

    /// Puts the current packet, whose next event is at this time, in the place of the earliest other one, and returns that, if
    /// it comes before what is not open yet.
    #[inline(always)]
    pub fn take_turns(&mut self, current: Current, time: i64) -> Option<Current> {
        let mut first = self.heads.peek_mut()?;
        let Reverse(other) = *first;
        if current.floor.is_some_and(|floor| other.0 >= floor) {
            return None;
        }
        *first = Reverse((time, current.stream, current.number, current.slot));
        drop(first);
        Some(self.current(other, current.floor))
    }
}
