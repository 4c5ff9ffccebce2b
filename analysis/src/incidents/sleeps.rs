//! The time between two turns of an event loop, and whether its timer was overdue.
//!
//! A loop sleeps until a request arrives or a timer fires, and records nothing meanwhile. A process that is stopped,
//! or gets no CPU, records nothing either. But a regular timer bounds all sleeps, so a longer one ended late.

use std::collections::VecDeque;

use crate::finding::Span;
use crate::intervals::Interval;
use crate::recent::remember;

/// A thread slept if this much time, in nanoseconds, lies between two turns. A loop that finds requests when it looks for
/// them begins its next turn after 2 to 10 µs, and one that is woken up after 20 µs or more.
pub const SLEPT: i64 = 20_000;

/// The kernel takes up to this long, in nanoseconds, for each connection that it looks at: those that were ready the last time, and
/// those that are now.
pub const POLL: i64 = 500;

/// The number of long sleeps that are remembered.
const RECENT: usize = 256;

/// Shorter sleeps say nothing about timers; nanoseconds.
const LONG: i64 = 1_000_000;

/// The number of long sleeps of about the same length that indicate a timer.
const REGULAR: usize = 3;

/// Every loop may sleep for this long; nanoseconds.
const USUAL: i64 = 100_000_000;

/// A timer that is late by less than this, in nanoseconds, is as usual.
const LATE: i64 = 2_000_000;

/// A time between two turns.
#[derive(Clone, Copy, Debug)]
pub struct Silent {
    pub span: Span,
    /// The part of it in which a timer was overdue.
    pub late: Option<Span>,
    /// The turn that ended it.
    pub turn: Interval,
    /// Whether tracing may have been stopped meanwhile, so that only the scheduler can tell.
    pub is_untraced: bool,
    /// When a client that came late usually asks, if the first turn served it alone: it may be the one that had woken the loop up
    /// before it was stopped, and the others follow.
    pub first: Option<i64>,
}

/// The sleeps of a thread between its turns.
#[derive(Debug, Default)]
pub struct Sleeps {
    last_end: Option<i64>,
    /// The lengths of the last long sleeps.
    long: VecDeque<i64>,
    /// The longest sleep that was seen twice.
    longest: i64,
    second_longest: i64,
}

impl Sleeps {
    /// When the last turn ended.
    pub fn last_end(&self) -> Option<i64> {
        self.last_end
    }

    /// Adds a turn, and returns the part of the sleep before it in which a timer was overdue. A turn that served nobody was
    /// due to a timer; others may be as regular, but by their clients.
    #[inline]
    pub fn turn(&mut self, begin: i64, end: i64, is_idle: bool) -> Option<Span> {
        let before = self.last_end.replace(end)?;
        let length = begin.saturating_sub(before);
        if length < LONG {
            return None;
        }
        let late = self.late(before, begin);
        if is_idle {
            remember(&mut self.long, RECENT, length);
        }
        let [longest, second] = [self.longest, self.second_longest];
        (self.longest, self.second_longest) =
            if length > longest { (length, longest) } else { (longest, second.max(length)) };
        late
    }

    /// Whether a loop slept for this long, in nanoseconds, more than once.
    pub fn is_usual(&self, time: i64) -> bool {
        time <= self.second_longest.max(USUAL)
    }

    /// Forgets the last turn: events are missing, and a sleep across the gap means nothing.
    pub fn forget(&mut self) {
        self.last_end = None;
    }

    /// The part of a sleep after its timer was due, if there is a timer and that is too long.
    fn late(&self, before: i64, begin: i64) -> Option<Span> {
        let length = begin - before;
        let timer = self.timer(length)?;
        let late = length - timer;
        // A length seen before is not late, even if it is rare: a timer may have several rates.
        let is_new = length - length / 20 > self.second_longest;
        (is_new && late > LATE && late > timer / 20)
            .then_some(Span { begin_ns: before + timer, end_ns: begin })
    }

    /// The length of the sleeps that a timer ends, which this one is longer than: the longest that occurred several times.
    fn timer(&self, length: i64) -> Option<i64> {
        // Most sleeps are not longer than the ones before.
        if length <= self.second_longest {
            return None;
        }
        let mut lengths: Vec<i64> = self.long.iter().copied().collect();
        lengths.sort_unstable();
        let group =
            lengths.windows(REGULAR).rev().find(|group| group[REGULAR - 1] - group[0] < group[0] / 128)?;
        let timer = group[REGULAR - 1];
        // Without a timer, lengths vary, and a few similar ones are rarely the longest.
        (timer >= self.second_longest - self.second_longest / 32).then_some(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Turns of 0.1 ms after sleeps of these lengths; returns the times in which the timer was overdue.
    fn late(sleeps: impl IntoIterator<Item = i64>) -> Vec<Span> {
        let mut state = Sleeps::default();
        state.turn(0, 0, true);
        let mut time = 0;
        let mut found = Vec::new();
        for sleep in sleeps {
            found.extend(state.turn(time + sleep, time + sleep + MS / 10, true));
            time += sleep + MS / 10;
        }
        found
    }

    #[test]
    fn a_loop_with_a_timer_that_wakes_up_late_was_stopped() {
        let mut sleeps = vec![100 * MS; 20];
        sleeps[12] = 130 * MS;
        let begin = 12 * (100 * MS + MS / 10) + 100 * MS;
        assert_eq!(late(sleeps), [Span { begin_ns: begin, end_ns: begin + 30 * MS }]);
    }

    #[test]
    fn sleeps_of_an_idle_loop_are_not_late() {
        assert_eq!(late((0..1000).map(|sleep| 100 * MS - (sleep * 7919 % 100) * MS)), []);
        assert_eq!(late([100 * MS, 50 * MS, 30 * MS, 200 * MS, 10 * MS]), []);
        assert_eq!(late([]), []);
    }

    #[test]
    fn two_rates_of_a_timer_are_not_late() {
        let sleeps =
            [10 * MS; 50].into_iter().chain([100 * MS; 50]).chain([10 * MS; 50]).chain([100 * MS; 50]);
        // The first long one may have been late; it is known to be regular when it comes again.
        assert!(late(sleeps).len() <= 2);
    }

    #[test]
    fn a_gap_tells_nothing() {
        let mut state = Sleeps::default();
        (0..30).for_each(|turn| _ = state.turn(turn * 100 * MS, turn * 100 * MS, true));
        state.forget();
        assert_eq!(state.turn(50_000 * MS, 50_000 * MS, true), None);
    }
}
