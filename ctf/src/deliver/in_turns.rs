//! The innermost loop of the merge: events of two packets in turns.

use std::ops::ControlFlow;

use super::active_packet::ActivePacket;
use super::digest::DigestedRun;
use super::located_events::{LocatedEvent, View};

/// A packet whose events are handed out in turns with those of another one.
pub struct Side<'a> {
    pub view: View<'a>,
    /// Its next events, in order.
    pub events: &'a [LocatedEvent],
    /// The place of the first of them.
    pub place: usize,
    /// Whether events of the other one go first if they have the same time.
    pub is_second: bool,
}

/// How events were handed out.
pub struct Turns {
    /// How many of each packet.
    pub taken: [usize; 2],
    /// Which one the last came from.
    pub side: usize,
    /// Whether no more are wanted.
    pub is_stopped: bool,
}

/// A packet and another one, if there is one that has events.
#[inline(always)]
pub fn sides<'a>(first: &'a ActivePacket, second: Option<&'a ActivePacket>) -> Option<[Side<'a>; 2]> {
    let others = second.map_or(&[][..], |second| second.events.rest());
    let second = second.unwrap_or(first);
    let [place, other_place] = [first, second].map(|packet| packet.events.next_place());
    let is_second = (first.stream, first.number) > (second.stream, second.number);
    Some([
        Side { view: first.view()?, events: first.events.rest(), place, is_second },
        Side { view: second.view()?, events: others, place: other_place, is_second: !is_second },
    ])
}

/// Hands out events of two packets in the order of time, beginning with the first one's, up to a time and at most a number of
/// them, until either has no more that are known. Nothing is put in order anew between them, as among more than two.
#[inline(always)]
pub fn in_turns(
    sides: &[Side<'_>; 2],
    last: i64,
    most: usize,
    mut take: impl FnMut(DigestedRun<'_>) -> ControlFlow<usize>,
) -> Turns {
    let mut turns = Turns { taken: [0, 0], side: 0, is_stopped: false };
    loop {
        let Side { view, events, place, is_second } = &sides[turns.side];
        let place = place + turns.taken[turns.side];
        let left = most - turns.taken[0] - turns.taken[1];
        let events = &events[turns.taken[turns.side]..];
        let events = &events[..events.len().min(left)];
        let other = sides[1 - turns.side].events.get(turns.taken[1 - turns.side]).map(|next| next.timestamp);
        let until = other.map_or(last, |time| last.min(time.saturating_sub(i64::from(*is_second))));
        // Where one stream at a time is busy, it is all of them.
        let mut count = match events.last().is_some_and(|last| last.timestamp <= until) {
            true => events.len(),
            false => events.iter().take_while(|next| next.timestamp <= until).count(),
        };
        if count > 0 {
            let run = DigestedRun { view, events: &events[..count], place };
            if let ControlFlow::Break(taken) = take(run) {
                // What was looked at first has been taken: it is not handed out again.
                (count, turns.is_stopped) = (taken.clamp(1, count), true);
            }
        }
        turns.taken[turns.side] += count;
        // The other one goes on only if it has what comes next, so the last event is always of this one.
        if turns.is_stopped || count == events.len() || other.is_none_or(|time| time > last) {
            return turns;
        }
        turns.side = 1 - turns.side;
    }
}
