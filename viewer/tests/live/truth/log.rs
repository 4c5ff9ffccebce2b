//! What clients saw, and what follows from it for a stall.

use std::collections::HashSet;

/// One or more requests that were sent at once and answered at once; nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The client's port.
    pub client: u16,
    /// Just before and just after they were written.
    pub sent: (i64, i64),
    /// When the answers arrived at the client's socket.
    pub answered: i64,
    pub count: u64,
    /// Whether it may have waited for something else: for others, or for its connection to be accepted. Servers accept a few each
    /// turn, which is in no event.
    pub is_unsure: bool,
}

/// What clients saw.
pub struct Log {
    /// In the order of their answers.
    pub requests: Vec<Request>,
}

/// A figure that is known within bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    pub least: f64,
    pub most: f64,
}

/// Answers arrive this close to the end of the turn that wrote them; nanoseconds.
const NEAR: i64 = 100_000;

/// A rate is not known better than this: half a second has only 25 turns of a server that takes 20 ms for each.
const RATE: f64 = 0.1;

/// The rate is that of this long before a stall and this long after it; nanoseconds.
pub const AROUND: i64 = 500_000_000;

impl Log {
    pub fn new(requests: impl Iterator<Item = Request>) -> Log {
        let mut requests: Vec<Request> = requests.collect();
        requests.sort_by_key(|request| request.answered);
        Log { requests }
    }

    /// The longest wait of any request in a time, in nanoseconds, from its beginning or, if it was sent later, from then on; and the
    /// number of clients that had to wait for at least a part of it, surely and possibly. Those of one client do not count: it was
    /// for these. Requests that may have waited for something else count only as possible ones.
    pub fn waited(&self, begin: i64, end: i64, culprit: Option<u16>) -> (Bounds, [usize; 2]) {
        let first = self.requests.partition_point(|request| request.answered < begin + NEAR);
        let inside = self.requests[first..].iter();
        let inside = inside.filter(|request| request.sent.0 < end && Some(request.client) != culprit);
        let (mut clients, mut sure) = (HashSet::new(), HashSet::new());
        let mut longest = Bounds::default();
        for request in inside {
            clients.insert(request.client);
            let since = |sent: i64| (request.answered - sent.max(begin)) as f64;
            longest.most = longest.most.max(since(request.sent.0));
            if !request.is_unsure {
                longest.least = longest.least.max(since(request.sent.1));
                sure.extend((request.sent.1 < end).then_some(request.client));
            }
        }
        (longest, [sure.len(), clients.len()])
    }

    /// The longest time without an answer that began in a time.
    pub fn silent(&self, begin: i64, end: i64) -> (i64, i64) {
        let [from, to] = [begin, end].map(|time| self.requests.partition_point(|one| one.answered < time));
        let inside = self.requests[from..self.requests.len().min(to + 1)].iter().map(|one| one.answered);
        let pairs = std::iter::once(begin).chain(inside.clone()).zip(inside);
        pairs.max_by_key(|(from, to)| to - from).unwrap_or((begin, end))
    }

    /// The number of requests answered in a time.
    fn answered(&self, begin: i64, end: i64) -> u64 {
        let [from, to] = [begin, end].map(|time| self.requests.partition_point(|one| one.answered < time));
        self.requests[from..to.max(from)].iter().map(|request| request.count).sum()
    }

    /// The number of answers that a time would have had at the rate of half a second before and after it, but for those it had.
    /// Nothing is known before and after the recording, and other times in which the server was kept from answering are not part
    /// of the rate.
    pub fn not_served(
        &self,
        (begin, end): (i64, i64),
        (first, last): (i64, i64),
        others: &[(i64, i64)],
    ) -> Bounds {
        let (mut count, mut time) = (0, 0);
        for (from, to) in [((begin - AROUND).max(first), begin), (end, (end + AROUND).min(last))] {
            if from >= to {
                continue;
            }
            let others = others.iter().map(|other| (other.0.max(from), other.1.min(to)));
            let others = others.filter(|other| other.0 < other.1);
            let (lost, without) =
                others.fold((0, 0), |sum, one| (sum.0 + self.answered(one.0, one.1), sum.1 + one.1 - one.0));
            count += self.answered(from, to) - lost;
            time += to - from - without;
        }
        let expected = count as f64 * (end - begin) as f64 / time.max(1) as f64;
        let [low, high] = [expected * (1.0 - RATE), expected * (1.0 + RATE)];
        Bounds {
            least: (low - self.answered(begin - NEAR, end + NEAR) as f64).max(0.0),
            most: (high - self.answered(begin + NEAR, end - NEAR) as f64).max(0.0),
        }
    }
}
