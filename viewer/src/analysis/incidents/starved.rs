//! Clients that were served regularly and then were not, although their event loop turned: they were paused, or what
//! they asked for waited elsewhere.
//!
//! A loop wakes up when a request arrives, even if it does not answer it. So where clients were held back, there are turns
//! without any service just after the last ones; where clients had nothing to ask for, there are none.

use std::collections::VecDeque;

use crate::analysis::finding::Span;
use crate::analysis::reading::grown::grown;
use crate::analysis::recent::remember;

/// The number of services after which it is known how regularly a client is served.
const ENOUGH: u32 = 32;

/// A gap must be at least this long, in nanoseconds, and this many times the longest recent one.
const LEAST: i64 = 20_000_000;
const FACTOR: i64 = 8;

/// The gaps of several clients are one if they end within this time; nanoseconds.
const TOGETHER: i64 = 5_000_000;

/// The number of clients that must have been held back, and of turns without a service just after that began.
const FEWEST_CLIENTS: usize = 2;
const FEWEST_TURNS: usize = 2;

/// The number of turns without a service that are remembered.
const MOST_TURNS: usize = 4096;

/// How regularly the clients of a process are served.
#[derive(Debug, Default)]
pub struct Starvation {
    /// By the number of the client.
    clients: Vec<Regularity>,
    /// The ends of turns in which nobody was served.
    idle_turns: VecDeque<i64>,
    /// Clients that are served again, which may be joined by others.
    group: Option<StarvedGroup>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Regularity {
    last: i64,
    count: u32,
    /// The longest recent gap; it shrinks with each shorter one.
    longest: i64,
}

/// Clients that were not served for about the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StarvedGroup {
    /// From the last service of the last of them to the first service after it.
    pub span: Span,
    pub clients: usize,
    /// How long one of them was not served at most, in nanoseconds.
    pub longest_ns: i64,
    /// Whether any of them passes the filters.
    pub is_selected: bool,
    /// When the last of them was served again.
    latest: i64,
    /// The longest of their usual gaps.
    usual: i64,
}

impl Starvation {
    /// Records a service, and returns the clients that were served again before it and that nobody joins any more.
    /// `passes` says whether it passes the filters if its client was not served for this long.
    #[inline]
    pub fn served(
        &mut self,
        client: u32,
        end: i64,
        passes: impl FnOnce(i64) -> bool,
    ) -> Option<StarvedGroup> {
        let known = grown(&mut self.clients, client as usize);
        let gap = end.saturating_sub(known.last);
        let limit = LEAST.max(known.longest.saturating_mul(FACTOR));
        let is_starved = known.count >= ENOUGH && gap > limit;
        let (last, usual) = (known.last, known.longest);
        if known.count > 0 {
            known.longest = gap.max(known.longest - known.longest / 16);
        }
        known.last = end;
        known.count = known.count.saturating_add(1);
        if is_starved { self.join(last, end, usual, passes(gap)) } else { self.over(end) }
    }

    fn join(&mut self, last: i64, end: i64, usual: i64, is_selected: bool) -> Option<StarvedGroup> {
        let over = self.over(end);
        let new = StarvedGroup {
            span: Span { begin_ns: last, end_ns: end },
            clients: 0,
            longest_ns: 0,
            is_selected: false,
            latest: end,
            usual,
        };
        let group = self.group.get_or_insert(new);
        group.span.begin_ns = group.span.begin_ns.max(last);
        group.clients += 1;
        group.longest_ns = group.longest_ns.max(end - last);
        group.is_selected |= is_selected;
        group.latest = end;
        group.usual = group.usual.max(usual);
        over
    }

    /// The clients that are served again, if nobody joins them at this time any more.
    #[inline]
    fn over(&mut self, now: i64) -> Option<StarvedGroup> {
        let group = self.group.take_if(|group| now.saturating_sub(group.latest) > TOGETHER)?;
        self.judged(group)
    }

    /// The clients that are served again, at the end of the trace.
    pub fn finish(&mut self) -> Option<StarvedGroup> {
        let group = self.group.take()?;
        self.judged(group)
    }

    fn judged(&self, group: StarvedGroup) -> Option<StarvedGroup> {
        let since = group.span.begin_ns;
        let soon = since.saturating_add(TOGETHER.max(group.usual.saturating_mul(FACTOR)));
        let asked = self.idle_turns.iter().rev().skip_while(|turn| **turn > soon);
        let asked = asked.take_while(|turn| **turn > since).take(FEWEST_TURNS).count();
        let is_starved = group.clients >= FEWEST_CLIENTS && asked >= FEWEST_TURNS;
        (is_starved && group.span.length_ns() >= LEAST).then_some(group)
    }

    /// Records a turn in which nobody was served.
    pub fn idle_turn(&mut self, end: i64) {
        remember(&mut self.idle_turns, MOST_TURNS, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Clients that are served every millisecond for 100 ms, not for `gap`, and then again.
    fn found(clients: u32, gap: i64, idle_turns: usize) -> Option<StarvedGroup> {
        let mut state = Starvation::default();
        let mut found = None;
        for round in 0..100 {
            for client in 0..clients {
                let end = round * MS + i64::from(client) * 1000;
                found = found.or(state.served(client, end, |_| true));
            }
        }
        (0..idle_turns as i64).for_each(|turn| state.idle_turn(100 * MS + turn * 100_000));
        state.idle_turn(100 * MS + gap / 2);
        for client in 0..clients {
            found = found.or(state.served(client, 99 * MS + gap + i64::from(client) * 1000, |_| true));
        }
        found.or(state.finish())
    }

    #[test]
    fn clients_that_asked_and_were_not_served_are_starved() {
        let group = found(8, 390 * MS, 6).expect("they are starved");
        assert_eq!((group.clients, group.longest_ns), (8, 390 * MS));
        assert_eq!(group.span, Span { begin_ns: 99 * MS + 7000, end_ns: 489 * MS });
    }

    #[test]
    fn clients_that_did_not_ask_are_not_starved() {
        assert_eq!(found(8, 390 * MS, 0), None);
        assert_eq!(found(8, 7 * MS, 6), None, "too short");
        assert_eq!(found(1, 390 * MS, 6), None, "one client may just be idle");
    }
}
