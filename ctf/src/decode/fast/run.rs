//! Runs of events of one class: the hot loop.
//!
//! Where an event begins is known only when the one before it has been stepped over: a chain of dependent steps, which
//! leaves most of a processor idle. So nothing in here depends on a lookup by what was read, as all events of a run are of
//! one class, and two packets, which are two chains, take turns.

use super::stretch::Stretch;
use crate::decode::event_header::Lttng;

/// Events of one class, one after the other, each after the short form of one of LTTng's headers.
#[derive(Clone, Copy)]
pub struct Run<'r> {
    pub header: Lttng,
    /// The id of the class.
    pub id: u64,
    /// What follows the header.
    pub stretch: &'r Stretch,
    /// The available bytes.
    pub bytes: &'r [u8],
}

/// Room for events: for each a row with the clock's count in two halves and the event's marks.
pub struct Room<'r> {
    pub rows: &'r mut [u32],
    /// The number of numbers in a row.
    pub width: usize,
}

impl<'r> Room<'r> {
    /// The rows, of a width that is known when this is compiled, or, if it is 0, of any.
    #[inline(always)]
    fn rows_of<const WIDTH: usize>(self) -> impl Iterator<Item = &'r mut [u32]> {
        self.rows.chunks_exact_mut(if WIDTH > 0 { WIDTH } else { self.width })
    }
}

/// A run that is about to be stepped over: the run, where it begins, and room for its events.
pub type ReadyRun<'r> = (Run<'r>, Reached, Room<'r>);

/// How far a run came.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// Where the last event ends.
    pub at: usize,
    /// The clock's count at that event.
    pub clock: u64,
    /// The number of events that have been stepped over.
    pub events: usize,
    /// Whether the next event does not belong to the run, or extends past the available bytes.
    pub is_stuck: bool,
}

impl Run<'_> {
    /// Steps over an event, if it belongs to the run.
    #[inline(always)]
    fn step(&self, reached: Reached, row: &mut [u32]) -> Option<Reached> {
        let Reached { at, clock, events, .. } = reached;
        let first_bytes = u64::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?);
        if !self.header.has_id(first_bytes, self.id) {
            return None;
        }
        let clock = clock.checked_add(self.header.passed(first_bytes, clock))?;
        let at = fill(row, self.stretch, self.bytes, at + self.header.size(), clock)?;
        Some(Reached { at, clock, events: events + 1, is_stuck: false })
    }
}

/// Steps over one event from a position in bytes on, after its header, and fills a row with the clock's count and the
/// event's marks. Returns where it ends, if there are enough bytes.
#[inline(always)]
pub fn fill(row: &mut [u32], stretch: &Stretch, bytes: &[u8], at: usize, clock: u64) -> Option<usize> {
    let [low, high, marks @ ..] = row else { return None };
    let end = stretch.step_over(bytes, at, marks)?;
    (*low, *high) = (clock as u32, (clock >> 32) as u32);
    Some(end)
}

/// Calls a function that is compiled for rows of this width. Those of events with up to four texts, as nearly all are, have their
/// own: without a loop over texts, and without a branch on their number.
macro_rules! for_width {
    ($width:expr, $function:ident $arguments:tt) => {
        match $width {
            3 => $function::<3> $arguments,
            4 => $function::<4> $arguments,
            5 => $function::<5> $arguments,
            6 => $function::<6> $arguments,
            7 => $function::<7> $arguments,
            _ => $function::<0> $arguments,
        }
    };
}

/// Steps over the events of a run while there is room for them.
pub fn step_run(ready: ReadyRun<'_>) -> Reached {
    for_width!(ready.2.width, steps(ready))
}

/// Steps over the events of two runs in turns, while there is room for both.
pub fn step_both(one: ReadyRun<'_>, other: ReadyRun<'_>) -> (Reached, Reached) {
    let width = if one.2.width == other.2.width { one.2.width } else { 0 };
    for_width!(width, turns(one, other))
}

#[inline(never)]
fn steps<const WIDTH: usize>((run, mut reached, room): ReadyRun<'_>) -> Reached {
    for row in room.rows_of::<WIDTH>() {
        let Some(next) = run.step(reached, row) else {
            reached.is_stuck = true;
            break;
        };
        reached = next;
    }
    reached
}

#[inline(never)]
fn turns<const WIDTH: usize>(
    (run, mut reached, room): ReadyRun<'_>,
    (other_run, mut other_reached, other_room): ReadyRun<'_>,
) -> (Reached, Reached) {
    for (row, other_row) in room.rows_of::<WIDTH>().zip(other_room.rows_of::<WIDTH>()) {
        let Some(next) = run.step(reached, row) else {
            reached.is_stuck = true;
            break;
        };
        reached = next;
        let Some(next) = other_run.step(other_reached, other_row) else {
            other_reached.is_stuck = true;
            break;
        };
        other_reached = next;
    }
    (reached, other_reached)
}
