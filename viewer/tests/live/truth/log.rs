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
    stalls: Vec<Stall>,
}

/// A time in which nobody was answered, although somebody had asked.
struct Stall {
    begin: i64,
    /// When the first answer came, and when the last one to what had been sent before that.
    answered: (i64, i64),
}

/// A figure that is known within bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    pub least: f64,
    pub most: f64,
}

/// Answers arrive this close to the end of the turn that wrote them; nanoseconds.
const NEAR: i64 = 100_000;

/// A rate is not known better than this.
const RATE: f64 = 0.05;

/// Other stalls are left out of a rate if they are this long and have fewer answers than half of it; nanoseconds.
const LONG: i64 = 20_000_000;

/// The time around a stall begins and ends in the middle of a turn, so it may be this much longer or shorter; nanoseconds.
const TURN: i64 = 10_000_000;

/// The rate is that of this long before a stall and this long after it; nanoseconds.
pub const AROUND: i64 = 500_000_000;

impl Log {
    pub fn new(requests: impl Iterator<Item = Request>) -> Log {
        let mut requests: Vec<Request> = requests.collect();
        requests.sort_by_key(|request| request.answered);
        let stalls = stalls(&requests);
        Log { requests, stalls }
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

    /// The number of requests answered in a time.
    fn answered(&self, begin: i64, end: i64) -> u64 {
        let [from, to] = [begin, end].map(|time| self.requests.partition_point(|one| one.answered < time));
        self.requests[from..to.max(from)].iter().map(|request| request.count).sum()
    }

    /// The number of answers that a time would have had at the rate of half a second before and after it, but for those it had.
    /// Nothing is known before and after the recording, and other stalls are not part of the rate.
    pub fn not_served(&self, (begin, end): (i64, i64), recorded: (i64, i64)) -> Bounds {
        let expected =
            |change: i64| self.rate((begin, end), recorded, AROUND + change) * (end - begin) as f64;
        let expected = [-TURN, -TURN / 2, 0, TURN / 2, TURN].map(expected);
        let low = expected.into_iter().fold(f64::MAX, f64::min) * (1.0 - RATE);
        let high = expected.into_iter().fold(0.0, f64::max) * (1.0 + RATE);
        Bounds {
            least: (low - self.answered(begin - NEAR, end + NEAR) as f64).max(0.0),
            most: (high - self.answered(begin + NEAR, end - NEAR) as f64).max(0.0),
        }
    }

    /// The number of answers in a nanosecond, before and after a stall.
    fn rate(&self, (begin, end): (i64, i64), (first, last): (i64, i64), around: i64) -> f64 {
        let parts = [((begin - around).max(first), begin), (end, (end + around).min(last))];
        let parts = parts.into_iter().filter(|(from, to)| from < to);
        let sum = |sum: (u64, i64), (from, to)| (sum.0 + self.answered(from, to), sum.1 + to - from);
        let (mut count, mut time) = parts.clone().fold((0, 0), sum);
        let overall = count as f64 / time.max(1) as f64;
        // What is judged may begin or end a little earlier or later by the server's clock.
        let is_other =
            |stall: &&Stall| stall.answered.0 <= begin + NEAR * 10 || stall.begin >= end - NEAR * 10;
        for stall in self.stalls.iter().filter(is_other) {
            for (from, to) in parts.clone() {
                let (from, to) = (from.max(stall.begin), to.min(stall.answered.1));
                let inside = self.answered(from, to);
                if from < to && (inside as f64) < overall * (to - from) as f64 / 2.0 {
                    (count, time) = (count - inside, time - (to - from));
                }
            }
        }
        count as f64 / time.max(1) as f64
    }
}

/// The long stalls.
fn stalls(requests: &[Request]) -> Vec<Stall> {
    let found = (1..requests.len()).filter_map(|place| {
        let (last, first) = (requests[place - 1].answered, requests[place].answered);
        if first - last < LONG {
            return None;
        }
        let next = &requests[place..];
        let is_part =
            |(before, one): (&Request, &Request)| one.sent.0 < first && one.answered - before.answered < LONG;
        let turn = 1 + next.iter().zip(&next[1..]).take_while(|pair| is_part(*pair)).count();
        let asked = next[..turn].iter().map(|request| request.sent.0).min()?;
        Some(Stall { begin: last.max(asked), answered: (first, next[turn - 1].answered + 1) })
    });
    found.filter(|stall| stall.answered.0 - stall.begin >= LONG).collect()
}
