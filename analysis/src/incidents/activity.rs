//! The number of recent events of a process, in slots of ten milliseconds.

use crate::finding::Span;

const PIECE: i64 = 10_000_000;
const PIECES: usize = 256;

/// The last 2.56 s of a process.
#[derive(Debug)]
pub struct Activity {
    /// The number of the latest piece, and when it begins.
    latest: i64,
    begin: i64,
    counts: [u32; PIECES],
}

impl Default for Activity {
    fn default() -> Self {
        Activity { latest: i64::MIN, begin: i64::MIN, counts: [0; PIECES] }
    }
}

impl Activity {
    /// Counts an event.
    #[inline]
    pub fn event(&mut self, time: i64) {
        // Nearly all events are in the latest piece, and need no division.
        if (time.wrapping_sub(self.begin) as u64) < PIECE as u64 {
            let count = &mut self.counts[self.latest as usize % PIECES];
            *count = count.saturating_add(1);
        } else {
            self.other_piece(time.div_euclid(PIECE));
        }
    }

    /// Counts events, of which none is earlier than the one before it.
    #[inline]
    pub fn events(&mut self, times: impl DoubleEndedIterator<Item = i64> + ExactSizeIterator + Clone) {
        let is_latest = |time: i64| (time.wrapping_sub(self.begin) as u64) < PIECE as u64;
        let mut ends = times.clone();
        if ends.next().is_some_and(is_latest) && ends.next_back().is_none_or(is_latest) {
            let count = &mut self.counts[self.latest as usize % PIECES];
            *count = count.saturating_add(times.len() as u32);
        } else {
            times.for_each(|time| self.event(time));
        }
    }

    #[inline(never)]
    fn other_piece(&mut self, piece: i64) {
        if piece > self.latest {
            self.advance(piece);
        }
        if self.latest - piece < PIECES as i64 {
            let count = &mut self.counts[piece.rem_euclid(PIECES as i64) as usize];
            *count = count.saturating_add(1);
        }
    }

    fn advance(&mut self, piece: i64) {
        let first = (self.latest.saturating_add(1)).max(piece - PIECES as i64 + 1);
        (first..=piece).for_each(|new| self.counts[new.rem_euclid(PIECES as i64) as usize] = 0);
        (self.latest, self.begin) = (piece, piece.saturating_mul(PIECE));
    }

    /// When it was last active: nanoseconds, in steps of a piece.
    pub fn active_at(&self) -> i64 {
        self.begin
    }

    /// The approximate number of events in a span, as far as they are remembered.
    pub fn count(&self, span: Span) -> u64 {
        let first = span.begin_ns.div_euclid(PIECE).max(self.latest.saturating_sub(PIECES as i64 - 1));
        let last = span.end_ns.div_euclid(PIECE).min(self.latest);
        let in_piece = |piece: i64| {
            let count = f64::from(self.counts[piece.rem_euclid(PIECES as i64) as usize]);
            let (begin, end) = (piece * PIECE, piece * PIECE + PIECE);
            let part = (span.end_ns.min(end) - span.begin_ns.max(begin)).max(0) as f64 / PIECE as f64;
            count * part
        };
        (first..=last).map(in_piece).sum::<f64>().round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_for_as_long_as_they_are_remembered() {
        let mut activity = Activity::default();
        assert_eq!(activity.count(Span { begin_ns: 0, end_ns: PIECE }), 0);
        for event in 0..1000 {
            activity.event(event * PIECE / 10);
        }
        assert_eq!(activity.count(Span { begin_ns: 0, end_ns: 10 * PIECE }), 100);
        assert_eq!(activity.count(Span { begin_ns: PIECE / 2, end_ns: PIECE }), 5);
        activity.event(10_000 * PIECE);
        assert_eq!(activity.count(Span { begin_ns: 0, end_ns: 1000 * PIECE }), 0);
        assert_eq!(activity.count(Span { begin_ns: 10_000 * PIECE, end_ns: 10_001 * PIECE }), 1);
        activity.event(0);
        assert_eq!(activity.count(Span { begin_ns: 0, end_ns: PIECE }), 0, "too long ago");
    }
}
