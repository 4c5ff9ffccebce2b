//! Clients that were not served although their event loop turned: they were paused, or what they asked for waited elsewhere.
//!
//! A loop wakes up when a request arrives, even if it does not answer it. So where clients were held back, there are turns
//! without any service just after they usually ask; where clients had nothing to ask for, there are none.

use std::collections::VecDeque;

use super::clients::{Clients, Due};
use crate::finding::Span;
use crate::intervals::Interval;
use crate::recent::{drop_first, remember};

/// The number of turns without a service that are remembered, and of a process that has been silent for long.
const MOST_TURNS: usize = 4096;
const LAST_TURNS: usize = 64;

/// How much later than at the latest clients must be: by this share of their pause, and by this many nanoseconds.
const LATER: i64 = 2;
const LATE: i64 = 2_000_000;

/// Without a command that is known to hold clients back, at least this number of them must have been, for this long in
/// nanoseconds, with this number of turns that served nobody.
const FEWEST_CLIENTS: usize = 2;
const LEAST: i64 = 20_000_000;
const FEWEST_TURNS: usize = 2;

/// A command holds clients back that the server does not tell, if at least this many requests would have been answered meanwhile.
const FEWEST_REQUESTS: u64 = 8;

/// Clients that were served this long before a command are active; nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// A command that held nobody back within this time is over; nanoseconds.
const LONGEST_PAUSE: i64 = 60_000_000_000;

/// What may hold back the clients of a thread.
#[derive(Debug, Default)]
pub struct HeldBack {
    /// A command that holds clients back, such as CLIENT PAUSE, and when its turn ended.
    pause: Option<(Interval, i64)>,
    /// The number of clients that were active before it.
    active: u64,
    /// The ends of turns in which nobody was served, and how long all turns up to then took.
    idle_turns: VecDeque<(i64, i64)>,
    busy: i64,
    /// When the last turn that served somebody ended.
    served: i64,
}

/// Clients that were held back until a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldGroup {
    pub span: Span,
    pub clients: Vec<u32>,
    /// The command that held them back; none if it is not known.
    pub by: Option<Interval>,
}

impl HeldBack {
    /// Records a command that holds clients back until it is over, in a turn that ended at a time.
    pub fn pause(&mut self, by: Interval, since: i64, clients: &Clients) {
        self.pause = Some((by, since));
        self.active = clients.active_in(Span { begin_ns: since.saturating_sub(SECOND), end_ns: since });
    }

    /// Adds a turn.
    #[inline]
    pub fn turn(&mut self, turn: Span, is_idle: bool) {
        self.busy += turn.length_ns();
        if is_idle {
            remember(&mut self.idle_turns, MOST_TURNS, (turn.end_ns, self.busy));
        } else {
            self.served = turn.end_ns;
        }
    }

    /// Forgets what was recorded before a gap.
    pub fn forget(&mut self) {
        *self = HeldBack::default();
    }

    /// Forgets all but the last turns, for a process that has been silent for long.
    pub fn rest(&mut self) {
        let old = self.idle_turns.len().saturating_sub(LAST_TURNS);
        drop_first(&mut self.idle_turns, old);
    }

    /// The clients that are served again in a turn and were held back until then.
    #[inline]
    pub fn judge(&mut self, clients: &Clients, served: &[u32], turn: Span) -> Option<HeldGroup> {
        // Nearly all turns follow shortly after one that served somebody.
        match self.pause {
            Some((by, since)) => self.paused(clients, served, turn, by, since),
            None if turn.begin_ns.saturating_sub(self.served) < LEAST || self.idle_turns.is_empty() => None,
            None => self.held(clients, served, turn),
        }
    }

    /// The clients that a command held back until a turn.
    fn paused(
        &mut self,
        clients: &Clients,
        served: &[u32],
        turn: Span,
        by: Interval,
        since: i64,
    ) -> Option<HeldGroup> {
        // A replica goes on asking; when it is over, all that have asked are served at once.
        let is_over = turn.begin_ns.saturating_sub(since) > LONGEST_PAUSE;
        if served.len() == 1 && self.active > FEWEST_CLIENTS as u64 && !is_over {
            return None;
        }
        let group = late(clients, served, turn, |due| {
            let is_late = turn.begin_ns.saturating_sub(due.at_latest?.max(since)) > LATE;
            (is_late && due.answered <= since).then_some(due.usually?.max(since))
        });
        if !group.clients.is_empty() || is_over {
            self.pause = None;
        }
        Some(HeldGroup { by: Some(by), ..group }).filter(|group| !group.clients.is_empty())
    }

    /// The same for a server that does not tell its clients: a command held them all back until this turn, if requests were expected
    /// meanwhile.
    pub fn judge_untold(&mut self, turn: Span, expected: impl Fn(Span) -> u64) -> Option<HeldGroup> {
        let (by, since) = self.pause.take()?;
        let span = Span { begin_ns: since, end_ns: turn.begin_ns };
        let is_held = (LATE..LONGEST_PAUSE).contains(&span.length_ns()) && expected(span) >= FEWEST_REQUESTS;
        is_held.then_some(HeldGroup { span, clients: Vec::new(), by: Some(by) })
    }

    /// The clients that something held back until a turn.
    fn held(&self, clients: &Clients, served: &[u32], turn: Span) -> Option<HeldGroup> {
        let group = late(clients, served, turn, |due| {
            due.usually.filter(|_| is_late(due, turn.begin_ns)).filter(|usually| *usually < turn.begin_ns)
        });
        self.is_held_by_something(group.span, group.clients.len(), served.len()).then_some(group)
    }

    /// Whether turns that served nobody show that clients asked.
    fn is_held_by_something(&self, span: Span, late: usize, of: usize) -> bool {
        let is_idle = |&&(end, _): &&(i64, i64)| end > span.begin_ns && end <= span.end_ns;
        let idle: Vec<&(i64, i64)> = self.idle_turns.iter().rev().take_while(|turn| is_idle(turn)).collect();
        let soon = span.begin_ns + span.length_ns() / 2;
        let asked = idle.iter().filter(|(end, _)| *end < soon).count();
        let busy = idle.last().map_or(0, |(_, busy)| self.busy - busy);
        late >= FEWEST_CLIENTS
            && late * 2 > of
            && span.length_ns() >= LEAST
            && asked >= FEWEST_TURNS
            && busy * 2 < span.length_ns()
    }
}

/// The clients served in a turn that came late, by a function that says when such a one asked.
fn late(clients: &Clients, served: &[u32], turn: Span, asked: impl Fn(&Due) -> Option<i64>) -> HeldGroup {
    let mut group = HeldGroup {
        span: Span { begin_ns: turn.begin_ns, end_ns: turn.begin_ns },
        clients: Vec::new(),
        by: None,
    };
    for &client in served {
        if let Some(asked) = clients.due(client).as_ref().and_then(&asked) {
            group.clients.push(client);
            group.span.begin_ns = group.span.begin_ns.min(asked);
        }
    }
    group
}

/// Whether a client asks much later than at the latest.
pub fn is_late(due: &Due, now: i64) -> bool {
    due.at_latest.is_some_and(|at_latest| {
        now.saturating_sub(at_latest) > LATE + at_latest.saturating_sub(due.answered) / LATER
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::IntervalName;
    use crate::reading::passes::Passes;

    const MS: i64 = 1_000_000;

    fn span(begin: i64, end: i64) -> Span {
        Span { begin_ns: begin * MS, end_ns: end * MS }
    }

    /// Eight clients that are served every 2 ms for 100 ms, and again at a time after some idle turns.
    fn held(pause: Option<i64>, idle: &[i64], again: i64) -> Option<HeldGroup> {
        let (mut clients, mut state) = (Clients::default(), HeldBack::default());
        let all: Vec<u32> = (0..8).collect();
        for turn in 0..50 {
            let turn = span(turn * 2, turn * 2 + 1);
            assert_eq!(state.judge(&clients, &all, turn), None);
            all.iter().for_each(|client| clients.answered(*client, turn, i64::MAX));
            state.turn(turn, false);
        }
        if let Some(since) = pause {
            let name = IntervalName { kind: 0, key: 0 };
            let by = Interval { begin: since, end: since, name, client: Some(9), passes: Passes::ALL };
            state.pause(by, since * MS, &clients);
        }
        // One of them goes on, as replicas do.
        if pause.is_some() {
            let turn = span(again - 10, again - 9);
            assert_eq!(state.judge(&clients, &[7], turn), None);
            clients.answered(7, turn, i64::MAX);
        }
        idle.iter().for_each(|&turn| state.turn(span(turn, turn), true));
        state.judge(&clients, &all, span(again, again + 1))
    }

    #[test]
    fn clients_that_a_command_paused_were_held_back_by_it() {
        let group = held(Some(100), &[], 140).expect("they were paused");
        assert_eq!((group.span, group.clients.len()), (span(100, 140), 7));
        assert_eq!(group.by.and_then(|by| by.client), Some(9));
    }

    #[test]
    fn clients_that_are_not_told_were_held_back_if_they_would_have_asked() {
        let by = Interval {
            begin: 0,
            end: 0,
            name: IntervalName { kind: 0, key: 0 },
            client: None,
            passes: Passes::ALL,
        };
        let held = |again, expected| {
            let mut state = HeldBack::default();
            state.pause(by, 100 * MS, &Clients::default());
            state.judge_untold(span(again, again), |_| expected).map(|group| group.span)
        };
        assert_eq!(held(140, 8), Some(span(100, 140)));
        assert_eq!((held(140, 7), held(101, 100)), (None, None));
    }

    #[test]
    fn clients_that_asked_and_were_not_served_were_held_back() {
        let group = held(None, &[101, 102, 103], 500).expect("they asked");
        assert_eq!((group.span, group.by), (span(100, 500), None));
        assert_eq!(held(None, &[101, 102], 110), None, "too short");
    }

    #[test]
    fn clients_that_did_not_ask_were_not_held_back() {
        assert_eq!(held(None, &[], 500), None);
        assert_eq!(held(None, &[400, 499], 500), None, "turns of a timer");
    }
}
