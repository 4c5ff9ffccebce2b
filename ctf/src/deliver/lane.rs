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
    /// The earliest of the other packets' next events.
    pub other: Option<Head>,
    /// The earliest time of what is not open yet.
    pub floor: Option<i64>,
}

impl Current {
    /// Up to when its events come before all others.
    #[inline(always)]
    pub fn last_time(&self) -> i64 {
        let before_floor = self.floor.map_or(i64::MAX, |floor| floor.saturating_sub(1));
        let before_other = self.other.map_or(i64::MAX, |(time, stream, number, _)| {
            let is_second = (self.stream, self.number) > (stream, number);
            time.saturating_sub(i64::from(is_second))
        });
        before_floor.min(before_other)
    }

    /// The next event of the others, if it comes before what is not open yet.
    #[inline(always)]
    pub fn other_before_floor(&self) -> Option<Head> {
        self.other.filter(|other| self.floor.is_none_or(|floor| other.0 < floor))
    }
}
