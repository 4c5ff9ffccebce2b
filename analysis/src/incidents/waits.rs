//! How long clients waited for the end of a stall, as far as events tell.
//!
//! When a request arrives and when its answer is written is in no event, but both are within bounds:
//!
//! ```text
//!   begin                    last event                end    begin      last event   end
//!     │ the stalled turn: requests │ answers are written │      │ the next turn │ answers │
//!     └ who is served in it has asked by now             └──────┴ who is served next asks in these
//! ```
//!
//! A loop looks for requests when a turn begins. So who is served in the next turn did not ask before the stalled one began.

use super::clients::Clients;
use super::finding::{Evidence, IncidentKind, WaitedFinding};
use super::stall::Stall;
use crate::finding::{Ns, Span};
use crate::scheduling::Extent;

/// The probability that the first of some clients asks later than is taken as sure.
const IMPROBABLE: f64 = 0.05;

/// A turn that served clients.
#[derive(Clone, Copy, Debug)]
pub struct Service<'c> {
    pub clients: &'c [u32],
    pub turn: Span,
    /// The end of its last event: answers are written from then on.
    pub written: i64,
}

/// The clients that waited for the end of a stall.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    clients: u64,
    /// The longest wait of any, and what it probably was.
    longest: Extent,
    probable: i64,
    /// The number of those that were served in the stalled turn itself, and the longest wait of these.
    in_turn: u64,
    longest_in_turn: Extent,
    /// Whether the one that the stalled turn was for was served in it.
    serves_culprit: bool,
    /// The first turn after a silence.
    first: Option<Span>,
    /// Those that asked at some moment of the stalled turn: how many, from when to when, and the earliest answer of the last turn
    /// that served them.
    at_some_time: u32,
    asked: Span,
    written: i64,
    answered: i64,
}

impl Waits {
    /// Adds clients that a turn served and that were ready before the stall ended, except the one that it was for and those that
    /// were answered at its end.
    pub fn serve(&mut self, stall: &Stall, clients: &Clients, service: Service<'_>) {
        let (span, turn) = (stall.span, service.turn);
        let culprit = stall.culprit();
        // Who was answered in it did not wait for its end. Its beginning may be off by what two clocks differ.
        let early = span.begin_ns.saturating_add(span.length_ns() / 8);
        let is_second = stall.kind == IncidentKind::Silence && *self.first.get_or_insert(turn) != turn;
        if turn == span {
            let [least, most] = [service.written, turn.end_ns].map(|answered| answered - span.begin_ns);
            self.longest_in_turn = Extent { least, most };
            self.serves_culprit = service.clients.iter().any(|client| Some(*client) == culprit);
            self.in_turn = service.clients.len() as u64 - u64::from(self.serves_culprit);
            return;
        }
        for &client in service.clients.iter().filter(|client| Some(**client) != culprit) {
            // Nearly all of them, so this comes before what takes longer.
            if let Some(answered) = clients.last_answered(client).filter(|answered| *answered > early) {
                // It may have asked again while the others were answered.
                if answered == span.end_ns && self.in_turn > 0 {
                    let written = span.begin_ns + self.longest_in_turn.least;
                    self.longest.most = self.longest.most.max(turn.end_ns - written);
                }
                continue;
            }
            let due = clients.due(client);
            if is_second && due.and_then(|due| due.usually) > Some(span.end_ns) {
                continue;
            }
            let until = turn.begin_ns.max(span.begin_ns);
            let asked = due.map_or(span.begin_ns, |due| due.at_earliest.unwrap_or(due.answered));
            let since = asked.min(stall.kept_since.unwrap_or(until)).clamp(span.begin_ns, until);
            let usually = due.and_then(|due| due.probably).map(|usually| usually.max(since));
            let usually =
                usually.map(|usually| if usually < until { usually } else { since.midpoint(until) });
            let at_latest = due.and_then(|due| due.at_latest).unwrap_or(until);
            // Where nothing tells when it asked, it may have at any moment.
            let is_preempted = stall.evidence == Some(Evidence::Scheduler) && stall.kept_since.is_none();
            let is_turn = matches!(stall.kind, IncidentKind::Turn | IncidentKind::Interval);
            if usually.is_none() && (is_turn || is_preempted) {
                self.ask(Span { begin_ns: since, end_ns: until }, service);
            }
            // Clients that had no CPU come late together, too.
            let asked = match stall.evidence {
                Some(Evidence::Clients) => until,
                _ => at_latest.min(stall.kept_since.unwrap_or(until)).clamp(since, until),
            };
            self.add(service.written - asked, turn.end_ns - since);
            if usually.is_some() || !is_turn && !is_preempted {
                self.probable = self.probable.max(turn.end_ns - usually.unwrap_or(since));
            }
        }
    }

    fn add(&mut self, least: i64, most: i64) {
        self.clients += 1;
        self.longest.least = self.longest.least.max(least);
        self.longest.most = self.longest.most.max(most);
    }

    /// Adds a client that asked at some moment of a stalled turn.
    fn ask(&mut self, asked: Span, service: Service<'_>) {
        let begin = if self.at_some_time == 0 { asked.begin_ns } else { self.asked.begin_ns };
        self.asked = Span { begin_ns: begin.min(asked.begin_ns), end_ns: asked.end_ns };
        self.at_some_time += 1;
        (self.written, self.answered) = (service.written, service.turn.end_ns);
        let first = self.asked.length_ns() / (i64::from(self.at_some_time) + 1);
        self.probable = self.probable.max(self.answered - self.asked.begin_ns - first);
    }

    /// What is said of them, and of the number of clients that were active. If no client is to blame, the one that the stall seemed
    /// to be for waited as well.
    pub fn finding(&self, active: u64, is_anybody_s: bool) -> WaitedFinding {
        let Extent { mut least, mut most } = self.longest;
        let mut probable = self.probable;
        let in_turn = self.in_turn + u64::from(self.serves_culprit && !is_anybody_s);
        let clients = self.clients + in_turn;
        if self.at_some_time > 0 {
            // The first of many independent clients asks soon.
            let share = 1.0 - IMPROBABLE.powf(1.0 / f64::from(self.at_some_time));
            let first = self.asked.begin_ns + (self.asked.length_ns() as f64 * share) as i64;
            least = least.max(self.written - first);
        }
        if in_turn > 0 {
            // One after the other is answered.
            let longest = self.longest_in_turn;
            (least, most) = (least.max(longest.least), most.max(longest.most));
            probable = probable.max(if in_turn == 1 { longest.middle() } else { longest.most });
        }
        let least = least.clamp(0, most.max(0));
        let [least, longest, most] = [least, probable.clamp(least, most.max(least)), most.max(least)];
        let [least, longest, most] = [least, longest, most].map(|time| Ns(time as u128));
        WaitedFinding { clients, of: active.max(clients), longest, least, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn span(begin: i64, end: i64) -> Span {
        Span { begin_ns: begin * MS, end_ns: end * MS }
    }

    fn stall(kind: IncidentKind, span: Span) -> Stall {
        Stall { kind, ..Stall::silence(0, span) }
    }

    /// The least, the probable and the most that clients waited which turns served, in milliseconds; and how many did.
    fn waited(stall: &Stall, clients: &Clients, served: &[(&[u32], Span, i64)]) -> ([u128; 3], u64) {
        let mut waits = Waits::default();
        for &(served, turn, written) in served {
            waits.serve(stall, clients, Service { clients: served, turn, written: written * MS });
        }
        let found = waits.finding(0, stall.culprit().is_some());
        ([found.least, found.longest, found.most].map(|time| time.0 / MS as u128), found.clients)
    }

    #[test]
    fn who_is_served_in_a_stalled_turn_is_answered_after_its_last_event() {
        let (turn, none) = (span(100, 120), Clients::default());
        let stall = stall(IncidentKind::Turn, turn);
        assert_eq!(waited(&stall, &none, &[(&[1, 2], turn, 119)]), ([19, 20, 20], 2));
        // The thread may have lost its CPU before or after it wrote.
        assert_eq!(waited(&stall, &none, &[(&[1], turn, 102)]), ([2, 11, 20], 1));
    }

    #[test]
    fn who_is_served_next_asked_while_the_turn_lasted() {
        let stall = stall(IncidentKind::Turn, span(100, 140));
        let next = |served| waited(&stall, &Clients::default(), &[(served, span(140, 141), 141)]);
        let ([least, probable, most], _) = next(&[1]);
        assert!(least < 5 && (15..30).contains(&probable) && most == 41, "{least} {probable} {most}");
        let many: Vec<u32> = (0..30).collect();
        let ([least, probable, most], count) = next(&many);
        assert!(least > 35 && probable > 35 && most == 41 && count == 30, "{least} {probable} {most}");
    }

    #[test]
    fn who_pauses_regularly_asks_when_it_usually_does() {
        let mut clients = Clients::default();
        // Pauses of 8 ms, the last answer as the stalled turn begins, in which others are served.
        for client in 0..20 {
            (0..=9).for_each(|turn| clients.answered(client, span(turn * 8 + 28, turn * 8 + 28), i64::MAX));
        }
        let (turn, all) = (span(100, 110), (0..20).collect::<Vec<u32>>());
        let stall = stall(IncidentKind::Turn, turn);
        let served = [(&[90, 91][..], turn, 110), (&all[..], span(110, 114), 114)];
        assert_eq!(waited(&stall, &clients, &served), ([10, 10, 10], 22), "they asked at 108");
    }

    #[test]
    fn of_the_second_turn_after_a_silence_only_those_count_that_were_due() {
        let mut clients = Clients::default();
        (0..=9).for_each(|turn| clients.answered(1, span(turn * 10, turn * 10), i64::MAX));
        (0..=9).for_each(|turn| clients.answered(2, span(turn * 10, turn * 10), i64::MAX));
        (0..=9).for_each(|turn| clients.answered(3, span(turn * 10 + 60, turn * 10 + 60), i64::MAX));
        let stopped = stall(IncidentKind::Silence, span(91, 168));
        assert_eq!(waited(&stopped, &clients, &[(&[1, 3], span(168, 169), 169)]).1, 1, "one was answered");
        let two = [(&[1][..], span(140, 141), 141), (&[2, 3][..], span(141, 142), 142)];
        let stopped = stall(IncidentKind::Silence, span(91, 140));
        assert_eq!(waited(&stopped, &clients, &two).1, 2, "the third asks later");
    }

    #[test]
    fn who_was_answered_in_a_stall_did_not_wait_for_its_end() {
        let mut clients = Clients::default();
        clients.answered(1, span(100, 140), i64::MAX);
        let stall = stall(IncidentKind::Turn, span(100, 140));
        assert_eq!(waited(&stall, &clients, &[(&[1], span(140, 141), 141)]).1, 0);
    }

    #[test]
    fn clients_of_a_stopped_process_waited_since_they_ask_at_the_latest() {
        let mut clients = Clients::default();
        (0..=9).for_each(|turn| clients.answered(1, span(turn * 10, turn * 10), i64::MAX));
        let stopped = stall(IncidentKind::Silence, span(91, 300));
        assert_eq!(waited(&stopped, &clients, &[(&[1], span(300, 301), 301)]), ([201, 201, 201], 1));
        // If nothing else shows that it was stopped, they may have come late.
        let likely = Stall { evidence: Some(Evidence::Clients), ..stopped.clone() };
        assert_eq!(waited(&likely, &clients, &[(&[1], span(300, 301), 301)]), ([1, 201, 201], 1));
        // What had made it ready to run was a request.
        let queued = Stall { kept_since: Some(95 * MS), ..stopped };
        assert_eq!(waited(&queued, &clients, &[(&[1], span(300, 301), 301)]).0, [206, 206, 206]);
    }
}
