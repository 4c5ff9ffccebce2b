//! A time in which a thread was held up, and by what.

use super::super::intervals::{Interval, IntervalName, Link, Tree, chain};

/// A part of a turn that takes less than this share of it is not its cause.
const LEAST_SHARE: i64 = 10;

/// A time from a beginning to an end: nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub begin: i64,
    pub end: i64,
}

impl Span {
    pub fn length(self) -> i64 {
        self.end.saturating_sub(self.begin)
    }

    /// How much of another one lies within it.
    pub fn overlap(self, other: Span) -> i64 {
        self.end.min(other.end).saturating_sub(self.begin.max(other.begin)).max(0)
    }

    /// Of intervals of one thread, the one that says best what it did at this time, given the one that covers the most of
    /// it: the innermost that covers almost as much. A command tells more than the turn that it is in.
    pub fn most_telling(self, widest: Interval, intervals: impl Iterator<Item = Interval>) -> Interval {
        let overlap = |interval: &Interval| interval.overlap(self.begin, self.end);
        let least = overlap(&widest) / 10 * 9;
        intervals.filter(|inner| overlap(inner) >= least).min_by_key(Interval::length).unwrap_or(widest)
    }
}

/// What held a thread up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A turn of an event loop took long.
    Turn,
    /// An interval took improbably long.
    Interval,
    /// An event loop slept too long.
    Silence,
}

/// Who waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// How many clients.
    pub clients: u64,
    /// Of how many that were active before.
    pub of: u64,
    /// How long at most.
    pub longest_ns: i64,
}

/// A time in which a thread was held up.
#[derive(Clone, Debug)]
pub struct Held {
    pub thread: usize,
    pub span: Span,
    pub sort: Sort,
    /// From the outermost interval to the one within it that took the most, and so on.
    pub chain: Vec<Link>,
    /// Which link is the cause; none if no event explains it.
    pub cause: Option<usize>,
    /// The largest parts of a turn.
    pub parts: Vec<Link>,
    /// How much of it no event explains.
    pub unexplained: i64,
    /// What pieces of it add up to, by an event that says so.
    pub sum: Option<(IntervalName, i64)>,
    pub waited: Waited,
    pub not_served: u64,
    pub meanwhile: Vec<Meanwhile>,
    /// Whether events of it may be missing.
    pub is_incomplete: bool,
}

/// What ran at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// An interval of another thread.
    Interval { thread: usize, interval: Interval },
    /// Another process was active, and had about this many events.
    Process { process: usize, events: u64 },
}

impl Held {
    /// A turn, or another interval, that took long.
    pub fn new(thread: usize, sort: Sort, tree: Tree<'_>) -> Self {
        let root = tree.root().span;
        let unexplained = match sort {
            Sort::Turn => root.length() - tree.covered(),
            Sort::Interval | Sort::Silence => 0,
        };
        // Whatever explains a part of a turn is better than nothing.
        let share = if sort == Sort::Turn { LEAST_SHARE } else { 2 };
        let (chain, parts) = chain(tree, share);
        let first = usize::from(sort == Sort::Turn);
        let has_client = |link: &Link| link.client.is_some();
        let cause = chain[first..].iter().position(has_client).map(|place| place + first);
        let cause = cause.or_else(|| (chain.len() > first).then(|| chain.len() - 1));
        let span = Span { begin: root.begin, end: root.end };
        Held { sort, chain, cause, parts, unexplained, ..Held::silence(thread, span) }
    }

    /// A sleep that was too long.
    pub fn silence(thread: usize, span: Span) -> Self {
        Held {
            thread,
            span,
            sort: Sort::Silence,
            chain: Vec::new(),
            cause: None,
            parts: Vec::new(),
            unexplained: span.length(),
            sum: None,
            waited: Waited::default(),
            not_served: 0,
            meanwhile: Vec::new(),
            is_incomplete: false,
        }
    }

    /// The link that is the cause.
    pub fn cause(&self) -> Option<&Link> {
        self.cause.map(|place| &self.chain[place])
    }

    /// What within the cause took most of it, if that is another event: `fork` within BGSAVE.
    pub fn detail(&self) -> Option<&Link> {
        let cause = self.cause()?;
        self.chain.last().filter(|last| last.name.kind != cause.name.kind)
    }

    /// Takes note of an interval of another thread, of `process`, that ended after what is known so far. At most `most`
    /// threads are named.
    pub fn ran_meanwhile(&mut self, other: Meanwhile, process: usize, most: usize) {
        let Meanwhile::Interval { thread, interval } = other else { return };
        // An interval says more than the number of events of its process.
        self.meanwhile
            .retain(|known| !matches!(known, Meanwhile::Process { process: known, .. } if *known == process));
        let mut named = 0;
        for known in &mut self.meanwhile {
            let Meanwhile::Interval { thread: known_thread, interval: known } = known else { continue };
            if *known_thread == thread {
                *known = self.span.most_telling(interval, [*known, interval].into_iter());
                return;
            }
            named += 1;
        }
        if named < most {
            self.meanwhile.insert(named, other);
        }
    }

    /// Joins an overlapping one of the same thread. The longer one tells why, but a turn contains whatever else there is.
    pub fn join(&mut self, other: Held) {
        let begin = self.span.begin.min(other.span.begin);
        let union = Span { begin, end: self.span.end.max(other.span.end) };
        let rank = |held: &Held| (held.sort == Sort::Turn, held.span.length());
        if rank(&other) > rank(self) {
            *self = other;
        }
        if self.sort != Sort::Turn {
            self.span = union;
        }
    }
}

#[cfg(test)]
mod tests;
