//! Walking over events: the loop in which the time goes when all is well.
//!
//! Where an event begins is known only when the one before it has been walked over. A processor can do several times as
//! much as such a chain of steps asks for, if it need not wait: so nothing in here is looked up by what was read, as all
//! events of a run are of one class, and two packets, which are two chains, are walked over in turns.

use super::header::Lttng;
use super::stretch::Stretch;

/// Events of one class, one after the other, behind the short form of one of LTTng's headers.
#[derive(Clone, Copy)]
pub struct Run<'r> {
    /// The header.
    pub header: Lttng,
    /// The id of the class.
    pub id: u64,
    /// What is behind the header.
    pub stretch: &'r Stretch<'r>,
    /// The bytes at hand.
    pub bytes: &'r [u8],
}

/// Room for events: for each a row with the clock's count in two halves and the event's marks.
pub struct Room<'r> {
    /// All rows.
    pub rows: &'r mut [u32],
    /// How many numbers there are in a row.
    pub width: usize,
}

/// How far a walk came.
#[derive(Clone, Copy, Debug)]
pub struct Walked {
    /// Where the last event ends.
    pub at: usize,
    /// The clock's count at that event.
    pub clock: u64,
    /// How many events have been walked over.
    pub events: usize,
    /// Whether the next event does not belong to the run, or ends behind the bytes at hand.
    pub is_stuck: bool,
}

impl Run<'_> {
    /// Walks over an event, if it belongs to the run.
    #[inline(always)]
    fn step(&self, walked: Walked, row: &mut [u32]) -> Option<Walked> {
        let Walked { at, clock, events, .. } = walked;
        let first_bytes = u64::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?);
        let clock = clock.checked_add(self.header.passed(first_bytes, self.id, clock)?)?;
        let at = fill(row, self.stretch, self.bytes, at + self.header.size(), clock)?;
        Some(Walked { at, clock, events: events + 1, is_stuck: false })
    }
}

/// Walks over one event from a place in bytes on, behind its header, and fills a row with the clock's count and the
/// event's marks. Returns where it ends, if there are enough bytes.
#[inline(always)]
pub fn fill(row: &mut [u32], stretch: &Stretch<'_>, bytes: &[u8], at: usize, clock: u64) -> Option<usize> {
    let [low, high, marks @ ..] = row else { return None };
    let end = stretch.walk(bytes, at, marks)?;
    (*low, *high) = (clock as u32, (clock >> 32) as u32);
    Some(end)
}

/// Walks over the events of a run for as long as there is room for them.
#[inline(never)]
pub fn walk(run: Run<'_>, mut walked: Walked, room: Room<'_>) -> Walked {
    for row in room.rows.chunks_exact_mut(room.width) {
        let Some(next) = run.step(walked, row) else {
            walked.is_stuck = true;
            break;
        };
        walked = next;
    }
    walked
}

/// Walks over the events of two runs in turns, for as long as there is room for both.
#[inline(never)]
pub fn walk_both(
    (run, mut walked, room): (Run<'_>, Walked, Room<'_>),
    (other_run, mut other_walked, other_room): (Run<'_>, Walked, Room<'_>),
) -> (Walked, Walked) {
    let rows = room.rows.chunks_exact_mut(room.width);
    let other_rows = other_room.rows.chunks_exact_mut(other_room.width);
    for (row, other_row) in rows.zip(other_rows) {
        let Some(next) = run.step(walked, row) else {
            walked.is_stuck = true;
            break;
        };
        walked = next;
        let Some(next) = other_run.step(other_walked, other_row) else {
            other_walked.is_stuck = true;
            break;
        };
        other_walked = next;
    }
    (walked, other_walked)
}
