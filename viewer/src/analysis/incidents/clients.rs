//! Which clients a process served recently, and which of them waited for an incident to end.

use std::collections::VecDeque;

use hashbrown::HashSet;

use super::finding::WaitedFinding;
use crate::analysis::finding::{Ns, Span};
use crate::analysis::reading::grown;
use crate::analysis::recent::remember;

/// The number of services that are remembered.
const MOST: usize = 1 << 16;

/// How far back to look for the rate at which clients are served, and the time that it is at least computed over: a few
/// services in a moment do not make a rate; nanoseconds.
const FARTHEST: i64 = 10_000_000_000;
const SHORTEST: i64 = 10_000_000;

/// The time outside of stalls is enough to tell the rate if it is at least one part in this number.
const LEAST_FREE: i64 = 20;

/// The services of a process, in the order in which they ended.
#[derive(Debug, Default)]
pub struct Clients {
    recent: VecDeque<(i64, u32)>,
    /// When each client was last served.
    latest: Vec<i64>,
}

impl Clients {
    /// Records that a client was served.
    #[inline]
    pub fn served(&mut self, end: i64, client: u32) {
        remember(&mut self.recent, MOST, (end, client));
        *grown(&mut self.latest, client as usize) = end;
    }

    /// Removes the last services of a client that were parts of a larger one, such as the calls of a transaction.
    pub fn retract(&mut self, client: u32, since: i64) {
        while self.recent.back().is_some_and(|(end, served)| *served == client && *end >= since) {
            self.recent.pop_back();
        }
    }

    /// The services that ended in a span, the last first.
    fn within(&self, span: Span) -> impl ExactSizeIterator<Item = (i64, u32)> {
        let until = self.recent.partition_point(|(end, _)| *end <= span.end_ns);
        let since = self.before(span.begin_ns).min(until);
        self.recent.range(since..until).rev().copied()
    }

    /// The number of services that ended before a time.
    fn before(&self, time: i64) -> usize {
        self.recent.partition_point(|(end, _)| *end < time)
    }

    /// The clients that were served in a span.
    fn active(&self, span: Span) -> HashSet<u32> {
        // No more than were served since then: mostly all of them are found long before the beginning of the span.
        let most = self.latest.iter().filter(|&&end| end >= span.begin_ns).count();
        let mut active = HashSet::new();
        for (_, client) in self.within(span) {
            active.insert(client);
            if active.len() == most {
                break;
            }
        }
        active
    }

    /// The number of services that would have ended in a time of this length from `end` on, at the rate before it.
    ///
    /// The rate is that of the last `wanted` nanoseconds outside of `stalls`: neither their time nor what was served
    /// in them counts. A server that does nearly all of its work in stalls has only its overall rate.
    pub fn expected(&self, stalls: &VecDeque<Span>, end: i64, wanted: i64, length: i64) -> u64 {
        let Some(&(oldest, _)) = self.recent.front() else { return 0 };
        let reach = oldest.max(end.saturating_sub(FARTHEST));
        let mut free: Vec<Span> = Vec::new();
        let (mut time, mut since) = (0, end);
        let edges = stalls.iter().rev().copied().chain([Span { begin_ns: reach, end_ns: reach }]);
        for stall in edges {
            let begin_ns = stall.end_ns.max(reach).max(since.saturating_sub(wanted - time));
            if begin_ns < since {
                time += since - begin_ns;
                free.push(Span { begin_ns, end_ns: since });
            }
            since = since.min(begin_ns);
            if time >= wanted || since <= reach {
                break;
            }
            since = since.min(stall.begin_ns).max(reach);
        }
        if time.saturating_mul(LEAST_FREE) < end - since {
            free = vec![Span { begin_ns: since, end_ns: end }];
            time = end - since;
        }
        let served: usize =
            free.iter().map(|span| self.before(span.end_ns).saturating_sub(self.before(span.begin_ns))).sum();
        (served as f64 * length as f64 / time.max(SHORTEST) as f64).round() as u64
    }

    /// The number of services that ended in a span.
    pub fn count(&self, span: Span) -> u64 {
        self.within(span).len() as u64
    }
}

/// Clients that may have waited for an incident to end.
#[derive(Debug)]
pub struct Waiting {
    /// When the incident began.
    begin: i64,
    /// Those that have not been served since.
    clients: HashSet<u32>,
    waited: WaitedFinding,
}

impl Waiting {
    /// The clients served before an incident, except the one that caused it. Those served within the incident after
    /// `cause_end` have waited until then; those served by another thread have not. An incident between turns is
    /// known only at the end of the next turn: those served in that turn have waited too.
    pub fn new(
        clients: &Clients,
        before: Span,
        stall: Span,
        cause_end: Option<i64>,
        culprit: Option<u32>,
    ) -> Self {
        let mut active = clients.active(before);
        culprit.map(|culprit| active.remove(&culprit));
        let waited = WaitedFinding { of: active.len() as u64, ..WaitedFinding::default() };
        let mut waiting = Waiting { begin: stall.begin_ns, clients: active, waited };
        let since: Vec<(i64, u32)> = clients.within(Span { end_ns: i64::MAX, ..stall }).collect();
        for (end, client) in since.into_iter().rev() {
            match cause_end {
                _ if end > stall.end_ns => waiting.served(end, client),
                Some(cause_end) if end > cause_end => waiting.served(end, client),
                Some(_) => {}
                None => _ = waiting.clients.remove(&client),
            }
        }
        waiting
    }

    /// Records that a client was served.
    pub fn served(&mut self, end: i64, client: u32) {
        // Mostly all have been served.
        if !self.clients.is_empty() && self.clients.remove(&client) {
            self.waited.clients += 1;
            let wait = Ns(end.saturating_sub(self.begin).max(0) as u128);
            self.waited.longest = self.waited.longest.max(wait);
        }
    }

    /// Who has waited so far.
    pub fn waited(&self) -> WaitedFinding {
        self.waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(begin: i64, end: i64) -> Span {
        Span { begin_ns: begin, end_ns: end }
    }

    #[test]
    fn clients_that_were_active_before_and_served_after_have_waited() {
        let mut clients = Clients::default();
        for time in 0..100 {
            clients.served(time, (time % 4) as u32);
        }
        clients.served(200, 9);
        let mut waiting = Waiting::new(&clients, span(0, 99), span(100, 200), Some(200), Some(9));
        waiting.served(205, 0);
        waiting.served(207, 1);
        waiting.served(209, 1);
        waiting.served(209, 7);
        let WaitedFinding { clients: waited, of, longest } = waiting.waited();
        assert_eq!((waited, of, longest), (2, 4, Ns(107)));
    }

    /// Client 1 is served every microsecond from 0 to 100 ms, except in stalls, in which it is served every 500 ns.
    fn busy(stalls: &[Span]) -> Clients {
        let mut clients = Clients::default();
        let mut time = 0;
        while time < 100_000_000 {
            clients.served(time, 1);
            time += if stalls.iter().any(|stall| stall.contains(time)) { 500 } else { 1000 };
        }
        clients
    }

    #[test]
    fn what_is_served_in_stalls_is_not_part_of_the_rate() {
        let expected = |stalls: &[Span]| {
            let spans = stalls.iter().copied().collect();
            busy(stalls).expected(&spans, 100_000_000, 20_000_000, 10_000_000)
        };
        assert_eq!(expected(&[]), 10_000);
        let stalls = [span(81_000_000, 82_000_000), span(90_000_000, 93_000_000)];
        assert!(expected(&stalls).abs_diff(10_000) < 10, "{}", expected(&stalls));
    }

    #[test]
    fn a_server_that_works_in_stalls_only_has_its_overall_rate() {
        let stalls = [span(0, 49_900_000), span(50_000_000, 100_000_000)];
        let spans = stalls.into_iter().collect();
        let expected = busy(&stalls).expected(&spans, 100_000_000, 20_000_000, 1_000_000);
        assert!(expected.abs_diff(2000) < 20, "{expected}");
    }

    #[test]
    fn a_few_services_in_a_moment_do_not_make_a_rate() {
        let mut clients = Clients::default();
        assert_eq!(clients.expected(&VecDeque::new(), 1000, 20_000_000, 1_000_000_000), 0);
        (0..10).for_each(|time| clients.served(time, 1));
        assert_eq!(clients.expected(&VecDeque::new(), 10, 20_000_000, 1_000_000_000), 1000);
    }

    #[test]
    fn who_is_served_by_another_thread_has_not_waited() {
        let mut clients = Clients::default();
        clients.served(50, 1);
        clients.served(60, 2);
        clients.served(150, 1);
        let waiting =
            |cause_end| Waiting::new(&clients, span(0, 100), span(100, 200), cause_end, None).waited();
        assert_eq!((waiting(None).clients, waiting(None).of), (0, 2));
        assert_eq!((waiting(Some(140)).clients, waiting(Some(140)).longest), (1, Ns(50)));
        assert_eq!(waiting(Some(160)).clients, 0);
    }

    #[test]
    fn who_was_served_before_an_incident_was_known_has_waited() {
        let mut clients = Clients::default();
        for (end, client) in [(50, 1), (60, 2), (70, 3), (210, 1), (220, 2), (230, 1)] {
            clients.served(end, client);
        }
        for cause_end in [None, Some(200)] {
            let mut waiting = Waiting::new(&clients, span(0, 100), span(100, 200), cause_end, None);
            assert_eq!((waiting.waited().clients, waiting.waited().longest), (2, Ns(120)));
            waiting.served(300, 2);
            waiting.served(310, 3);
            assert_eq!((waiting.waited().clients, waiting.waited().longest), (3, Ns(210)));
        }
    }

    #[test]
    fn the_calls_of_a_transaction_are_not_services() {
        let mut clients = Clients::default();
        for (end, client) in [(10, 1), (20, 2), (30, 2), (40, 2)] {
            clients.served(end, client);
        }
        clients.retract(2, 25);
        assert_eq!(clients.count(span(0, 100)), 2);
    }

    #[test]
    fn a_million_services_take_no_more_memory() {
        let mut clients = Clients::default();
        (0..1_000_000).for_each(|time| clients.served(time, time as u32));
        assert_eq!(clients.recent.len(), MOST);
        assert_eq!(clients.count(span(0, i64::MAX)), MOST as u64);
    }
}
