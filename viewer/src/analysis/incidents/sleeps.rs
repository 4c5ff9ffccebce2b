//! The time between two turns of an event loop, and when it is too long.
//!
//! A loop sleeps until a request arrives or a timer fires, and records nothing meanwhile. A process that is stopped,
//! or gets no CPU, records nothing either. Two signs distinguish them: a regular timer bounds all sleeps, so a longer
//! one ended late; and a loop that was busy, and whose clients come back afterwards, would not have slept.

use std::collections::VecDeque;

use crate::analysis::finding::Span;
use crate::analysis::recent::remember;

/// The number of long sleeps, and of sleeps of any length, that are remembered.
const RECENT: usize = 256;
const BUSY: usize = 64;

/// Shorter sleeps say nothing about timers; nanoseconds.
const LONG: i64 = 1_000_000;

/// The number of long sleeps of about the same length that indicate a timer.
const REGULAR: usize = 3;

/// Shorter pauses of a busy loop are normal; nanoseconds.
const PAUSE: i64 = 5_000_000;

/// How many times longer than nearly all recent sleeps a pause must be.
const FACTOR: i64 = 16;

/// The sleeps of a thread between its turns.
#[derive(Debug, Default)]
pub struct Sleeps {
    last_end: Option<i64>,
    /// The lengths of the last long sleeps.
    long: VecDeque<i64>,
    /// The lengths of the last sleeps of any length.
    recent: VecDeque<i64>,
    /// The longest sleep that was seen twice.
    longest: i64,
    second_longest: i64,
}

/// A sleep that was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The loop woke up later than its timer fires.
    Late(Span),
    /// The loop was busy before. If none of its clients comes back, it had nothing to do.
    Pause(Span),
}

impl Sleeps {
    /// When the last turn ended.
    pub fn last_end(&self) -> Option<i64> {
        self.last_end
    }

    /// Adds a turn, and returns the sleep before it if that was too long by at least `least`.
    #[inline]
    pub fn turn(&mut self, begin: i64, end: i64, least: i64) -> Option<Silence> {
        let before = self.last_end.replace(end)?;
        let length = begin.saturating_sub(before);
        if length < LONG {
            remember(&mut self.recent, BUSY, length);
            return None;
        }
        let silence = self.judge(before, begin, least);
        remember(&mut self.recent, BUSY, length);
        remember(&mut self.long, RECENT, length);
        let [longest, second] = [self.longest, self.second_longest];
        (self.longest, self.second_longest) =
            if length > longest { (length, longest) } else { (longest, second.max(length)) };
        silence
    }

    /// Forgets the last turn: events are missing, and a sleep across the gap means nothing.
    pub fn forget(&mut self) {
        self.last_end = None;
    }

    fn judge(&self, before: i64, begin: i64, least: i64) -> Option<Silence> {
        let length = begin - before;
        let longest = self.recent.iter().copied().max().unwrap_or(0);
        let is_pause = self.recent.len() == BUSY && length > PAUSE.max(least);
        let pause = || Silence::Pause(Span { begin_ns: before, end_ns: begin });
        if is_pause && length / FACTOR > longest {
            return Some(pause());
        }
        let late = self.late(before, begin, least).map(Silence::Late);
        late.or_else(|| (is_pause && length / FACTOR > self.usual()).then(pause))
    }

    /// The part of a sleep after its timer was due, if there is a timer and that is too long.
    fn late(&self, before: i64, begin: i64, least: i64) -> Option<Span> {
        let length = begin - before;
        let timer = self.timer()?;
        let late = length - timer;
        // A length seen before is not late, even if it is rare: a timer may have several rates.
        let is_new = length - length / 20 > self.second_longest;
        let is_late = is_new && late > least.max(2_000_000) && late > timer / 20;
        is_late.then_some(Span { begin_ns: before + timer, end_ns: begin })
    }

    /// The length that nearly all of the last sleeps do not exceed. A few longer ones are pauses themselves, as where a
    /// process is throttled again and again.
    fn usual(&self) -> i64 {
        let mut lengths: Vec<i64> = self.recent.iter().copied().collect();
        let place = lengths.len() * 7 / 8;
        if lengths.is_empty() { 0 } else { *lengths.select_nth_unstable(place).1 }
    }

    /// The length of the sleeps that a timer ends: the longest that occurred several times.
    fn timer(&self) -> Option<i64> {
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

    /// Turns of 0.1 ms after sleeps of these lengths; returns the silences.
    fn silences(sleeps: impl IntoIterator<Item = i64>) -> Vec<Silence> {
        let mut state = Sleeps::default();
        state.turn(0, 0, MS);
        let mut time = 0;
        let mut found = Vec::new();
        for sleep in sleeps {
            found.extend(state.turn(time + sleep, time + sleep + MS / 10, MS));
            time += sleep + MS / 10;
        }
        found
    }

    #[test]
    fn a_loop_with_a_timer_that_wakes_up_late_was_stopped() {
        let mut sleeps = vec![100 * MS; 20];
        sleeps[12] = 130 * MS;
        let begin = 12 * (100 * MS + MS / 10) + 100 * MS;
        assert_eq!(silences(sleeps), [Silence::Late(Span { begin_ns: begin, end_ns: begin + 30 * MS })]);
    }

    #[test]
    fn sleeps_of_an_idle_loop_are_not_silences() {
        assert_eq!(silences((0..1000).map(|sleep| 100 * MS - (sleep * 7919 % 100) * MS)), []);
        assert_eq!(silences([100 * MS, 50 * MS, 30 * MS, 200 * MS, 10 * MS]), []);
        assert_eq!(silences([]), []);
    }

    #[test]
    fn a_busy_loop_that_pauses_is_noticed() {
        let mut sleeps = vec![MS / 50; 500];
        sleeps[300] = 80 * MS;
        let begin = 300 * (MS / 50 + MS / 10);
        assert_eq!(silences(sleeps), [Silence::Pause(Span { begin_ns: begin, end_ns: begin + 80 * MS })]);
    }

    #[test]
    fn pauses_that_repeat_are_noticed_each_time() {
        let round = [60 * MS].into_iter().chain([MS / 2; 40]);
        let sleeps = [MS / 2; 200].into_iter().chain((0..20).flat_map(|_| round.clone()));
        let pauses = silences(sleeps).into_iter().filter(|silence| matches!(silence, Silence::Pause(_)));
        assert_eq!(pauses.count(), 20);
    }

    #[test]
    fn two_rates_of_a_timer_are_not_late() {
        let sleeps =
            [10 * MS; 50].into_iter().chain([100 * MS; 50]).chain([10 * MS; 50]).chain([100 * MS; 50]);
        // The first long one may have been late; it is known to be regular when it comes again.
        assert!(silences(sleeps).len() <= 2);
    }

    #[test]
    fn a_gap_tells_nothing() {
        let mut state = Sleeps::default();
        for turn in 0..300 {
            state.turn(turn * MS / 10, turn * MS / 10, MS);
        }
        state.forget();
        assert_eq!(state.turn(500 * MS, 500 * MS, MS), None);
    }
}
