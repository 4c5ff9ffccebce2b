//! Which clients a process served recently, and which of them waited for an incident to end.

use std::collections::{HashSet, VecDeque};

use super::stall::Waited;
use crate::analysis::finding::Span;

/// The number of services that are remembered.
const MOST: usize = 1 << 16;

/// The services of a process, in the order in which they ended.
#[derive(Debug, Default)]
pub struct Clients {
    recent: VecDeque<(i64, u32)>,
}

impl Clients {
    /// Records that a client was served.
    #[inline]
    pub fn served(&mut self, end: i64, client: u32) {
        if self.recent.len() == MOST {
            self.recent.pop_front();
        }
        self.recent.push_back((end, client));
    }

    /// Removes the last services of a client that were parts of a larger one, such as the calls of a transaction.
    pub fn retract(&mut self, client: u32, since: i64) {
        while self.recent.back().is_some_and(|(end, served)| *served == client && *end >= since) {
            self.recent.pop_back();
        }
    }

    /// The services that ended in a span, the last first.
    fn within(&self, span: Span) -> impl Iterator<Item = (i64, u32)> {
        let recent = self.recent.iter().rev().copied();
        recent
            .skip_while(move |(end, _)| *end > span.end_ns)
            .take_while(move |(end, _)| *end >= span.begin_ns)
    }

    /// The number of services expected in a time of this length, from the rate before it, of which `stalled` does not
    /// count.
    pub fn expected(&self, before: Span, stalled: i64, length: i64) -> u64 {
        let reach = match self.recent.front() {
            Some((oldest, _)) if self.recent.len() == MOST => before.begin_ns.max(*oldest),
            _ => before.begin_ns,
        };
        let time = before.end_ns.saturating_sub(reach).saturating_sub(stalled);
        if time <= 0 {
            return 0;
        }
        let served = self.within(Span { begin_ns: reach, end_ns: before.end_ns }).count();
        (served as f64 * length as f64 / time as f64).round() as u64
    }

    /// The number of services that ended in a span.
    pub fn count(&self, span: Span) -> u64 {
        self.within(span).count() as u64
    }
}

/// Clients that may have waited for an incident to end.
#[derive(Debug)]
pub struct Waiting {
    /// When the incident began.
    begin: i64,
    /// Those that have not been served since.
    clients: HashSet<u32>,
    waited: Waited,
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
        let active = clients.within(before).map(|(_, client)| client);
        let active: HashSet<u32> = active.filter(|&client| Some(client) != culprit).collect();
        let waited = Waited { clients: 0, of: active.len() as u64, longest_ns: 0 };
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
        if self.clients.remove(&client) {
            self.waited.clients += 1;
            self.waited.longest_ns = self.waited.longest_ns.max(end.saturating_sub(self.begin));
        }
    }

    /// Who has waited so far.
    pub fn waited(&self) -> Waited {
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
        let Waited { clients: waited, of, longest_ns } = waiting.waited();
        assert_eq!((waited, of, longest_ns), (2, 4, 107));
        assert_eq!(clients.expected(span(0, 100), 0, 50), 50);
        assert_eq!(clients.expected(span(0, 100), 50, 50), 100);
        assert_eq!(clients.expected(span(300, 400), 0, 50), 0);
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
        assert_eq!((waiting(Some(140)).clients, waiting(Some(140)).longest_ns), (1, 50));
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
            assert_eq!((waiting.waited().clients, waiting.waited().longest_ns), (2, 120));
            waiting.served(300, 2);
            waiting.served(310, 3);
            assert_eq!((waiting.waited().clients, waiting.waited().longest_ns), (3, 210));
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
        assert_eq!(clients.expected(span(0, 1_000_000), 0, 1000), 1000);
    }
}
