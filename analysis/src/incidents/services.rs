//! How many requests a process answered over time, and how many it would have answered in a stall.

use std::collections::VecDeque;

use crate::finding::Span;
use crate::recent::{drop_first, remember};

/// The rate is that of this long before a stall and this long after it; nanoseconds.
pub const AROUND: i64 = 500_000_000;

/// Answers are counted with this resolution, and this number of counts is kept.
const RESOLUTION: i64 = 1_000_000;
const MOST: usize = 1 << 14;

/// Shorter times say nothing about a rate; nanoseconds.
const SHORTEST: i64 = 10_000_000;

/// Another stall is left out of the rate if it is at least this long, in nanoseconds, and answers came at less than half of the
/// rate in it. The number of those that are remembered.
const LONG: i64 = 20_000_000;
const MOST_LONG: usize = 256;

/// The answers of a process.
#[derive(Debug)]
pub struct Services {
    /// Times, and the number of answers up to each; and the last of those that are forgotten.
    counts: VecDeque<(i64, u64)>,
    forgotten: Option<(i64, u64)>,
    total: u64,
    /// Before this time nothing is known.
    since: i64,
    /// The end of the last turn: nothing is known of the time after it.
    until: i64,
    /// What both were before the last loss, which may come before the stalls in front of it are judged.
    before_loss: (i64, i64),
    /// The last long stalls.
    long: VecDeque<Span>,
}

impl Default for Services {
    fn default() -> Self {
        Services {
            counts: VecDeque::new(),
            forgotten: None,
            total: 0,
            since: i64::MIN,
            until: i64::MIN,
            before_loss: (i64::MIN, i64::MIN),
            long: VecDeque::new(),
        }
    }
}

impl Services {
    /// Counts answers at the end of a turn.
    #[inline]
    pub fn answered(&mut self, turn: Span, count: u64) {
        if self.since == i64::MIN {
            self.since = turn.begin_ns;
        }
        self.total += count;
        self.until = turn.end_ns;
        match self.counts.back_mut() {
            Some(last) if turn.end_ns - last.0 < RESOLUTION => last.1 = self.total,
            _ => {
                let oldest = self.counts.front().copied().filter(|_| self.counts.len() == MOST);
                self.forgotten = oldest.or(self.forgotten);
                remember(&mut self.counts, MOST, (turn.end_ns, self.total));
            }
        }
    }

    /// Takes some of the last answers back, which were parts of another one.
    pub fn retract(&mut self, count: u64) {
        self.total -= count.min(self.total);
        if let Some(last) = self.counts.back_mut() {
            last.1 = last.1.min(self.total);
        }
    }

    /// Records a stall, which may have to be left out of the rate around others.
    pub fn stalled(&mut self, span: Span) {
        if span.length_ns() >= LONG {
            remember(&mut self.long, MOST_LONG, span);
        }
    }

    /// Records that up to this time answers may be missing.
    pub fn lose(&mut self, until: i64) {
        // One may be told of several times.
        if self.until > self.since {
            self.before_loss = (self.since, self.until);
        }
        self.since = self.since.max(until);
    }

    /// Forgets what no stall from now on is compared with, for a process that has been silent for long.
    pub fn rest(&mut self) {
        let before = self.until.saturating_sub(AROUND);
        let old = self.counts.partition_point(|(at, _)| *at < before).saturating_sub(1);
        self.forgotten = old.checked_sub(1).map(|last| self.counts[last]).or(self.forgotten);
        drop_first(&mut self.counts, old);
        let old = self.long.iter().take_while(|stall| stall.end_ns < before).count();
        drop_first(&mut self.long, old);
    }

    /// The number of answers in a span.
    pub fn count(&self, span: Span) -> u64 {
        let until = |time: i64| match self.counts.partition_point(|(at, _)| *at <= time).checked_sub(1) {
            Some(place) => self.counts[place].1,
            None => self.forgotten.map_or(0, |last| last.1),
        };
        until(span.end_ns).saturating_sub(until(span.begin_ns))
    }

    /// The number of requests that were not answered in a stall, in which `answered` were: as many as were answered in as much of
    /// the time around it.
    pub fn not_served(&self, stall: Span, answered: u64) -> u64 {
        let oldest = self.forgotten.map_or(i64::MIN, |last| last.0);
        let (since, until) = match stall.end_ns <= self.before_loss.1 && stall.end_ns <= self.since {
            true => self.before_loss,
            false => (self.since, self.until),
        };
        let before = stall.begin_ns.saturating_sub(AROUND).max(since).max(oldest);
        let around = [
            Span { begin_ns: before, end_ns: stall.begin_ns },
            Span { begin_ns: stall.end_ns, end_ns: stall.end_ns.saturating_add(AROUND).min(until) },
        ];
        let mut time: i64 = around.iter().map(|span| span.length_ns().max(0)).sum();
        let mut count: u64 =
            around.iter().filter(|span| span.length_ns() > 0).map(|span| self.count(*span)).sum();
        let overall = count as f64 / time.max(1) as f64;
        for other in self.long.iter().filter(|other| **other != stall) {
            for part in around {
                let both = Span {
                    begin_ns: part.begin_ns.max(other.begin_ns),
                    end_ns: part.end_ns.min(other.end_ns),
                };
                let length = both.length_ns();
                let inside = if length > 0 { self.count(both) } else { 0 };
                if length > 0 && (inside as f64) < overall * length as f64 / 2.0 {
                    time -= length;
                    count -= inside.min(count);
                }
            }
        }
        if time < SHORTEST {
            return 0;
        }
        let expected = count as f64 * stall.length_ns() as f64 / time as f64;
        (expected - answered as f64).round().max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn span(begin: i64, end: i64) -> Span {
        Span { begin_ns: begin * MS, end_ns: end * MS }
    }

    /// 10 answers each millisecond up to `until`, but in stalls.
    fn busy(stalls: &[Span], until: i64) -> Services {
        let mut services = Services::default();
        for time in 0..until {
            let turn = span(time, time + 1);
            if !stalls.iter().any(|stall| stall.overlap_ns(turn) > 0) {
                services.answered(turn, 10);
            }
        }
        stalls.iter().for_each(|stall| services.stalled(*stall));
        services
    }

    #[test]
    fn the_rate_is_that_of_the_time_around_whatever_else_was_recorded() {
        let stall = span(1000, 1100);
        for services in [busy(&[stall], 2000), busy(&[stall], 10_000), busy(&[stall, span(600, 900)], 2000)] {
            let not_served = services.not_served(stall, 3);
            assert!(not_served.abs_diff(997) < 20, "{not_served}");
        }
        let mut lost = busy(&[stall], 2000);
        lost.lose(950 * MS);
        assert!(lost.not_served(stall, 0).abs_diff(1000) < 20);
    }

    #[test]
    fn a_server_that_answers_in_long_turns_only_has_their_rate() {
        let mut services = Services::default();
        for turn in 0..40 {
            services.answered(span(turn * 50, turn * 50 + 50), 1000);
            services.stalled(span(turn * 50, turn * 50 + 50));
        }
        assert!(services.not_served(span(1000, 1050), 1000) < 100);
        let silent = services.not_served(span(1000, 1050), 0);
        assert!(silent.abs_diff(1000) < 100, "{silent}");
    }

    #[test]
    fn a_moment_makes_no_rate_and_memory_is_bounded() {
        let mut services = Services::default();
        assert_eq!(services.not_served(span(0, 10), 0), 0);
        services.answered(span(0, 1), 100);
        assert_eq!(services.not_served(span(1, 1000), 0), 0);
        (0..1_000_000).for_each(|time| services.answered(span(time, time + 1), 1));
        assert_eq!(services.counts.len(), MOST);
    }
}
