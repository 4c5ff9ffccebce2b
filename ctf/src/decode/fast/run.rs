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
        let clock = clock.checked_add(self.header.passed(first_bytes, self.id, clock)?)?;
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

/// Steps over the events of a run while there is room for them.
#[inline(never)]
pub fn step_run(run: Run<'_>, mut reached: Reached, room: Room<'_>) -> Reached {
    for row in room.rows.chunks_exact_mut(room.width) {
        let Some(next) = run.step(reached, row) else {
            reached.is_stuck = true;
            break;
        };
        reached = next;
    }
    reached
}

/// Steps over the events of two runs in turns, while there is room for both.
#[inline(never)]
pub fn step_both(
    (run, mut reached, room): (Run<'_>, Reached, Room<'_>),
    (other_run, mut other_reached, other_room): (Run<'_>, Reached, Room<'_>),
) -> (Reached, Reached) {
    let rows = room.rows.chunks_exact_mut(room.width);
    let other_rows = other_room.rows.chunks_exact_mut(other_room.width);
    for (row, other_row) in rows.zip(other_rows) {
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
