//! A time in which a thread was held up, and by what.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::super::intervals::{Interval, Name, Tree};

/// A part of a turn that takes less than this share of it is not its cause.
const LEAST_SHARE: i64 = 10;

/// How many parts are kept.
const PARTS: usize = 5;

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

/// Intervals of the same name that share a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub name: Name,
    pub client: Option<u32>,
    pub begin: i64,
    pub end: i64,
    /// How long they took together.
    pub length: i64,
    /// How much of that none within them covers.
    pub own: i64,
    pub count: u64,
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
    pub sum: Option<(Name, i64)>,
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
        let (chain, parts) = chain(tree, sort);
        let first = usize::from(sort == Sort::Turn);
        let has_client = |link: &Link| link.client.is_some();
        let cause = chain[first..].iter().position(has_client).map(|place| place + first);
        let cause = cause.or_else(|| (chain.len() > first).then(|| chain.len() - 1));
        Held {
            span: Span { begin: root.begin, end: root.end },
            chain,
            cause,
            parts,
            unexplained,
            ..Held::silence(thread, Span { begin: root.begin, end: root.end })
        }
        .sorted(sort)
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

    fn sorted(self, sort: Sort) -> Self {
        Held { sort, ..self }
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

    /// Joins an overlapping one of the same thread.
    pub fn join(&mut self, other: Held) {
        let span =
            Span { begin: self.span.begin.min(other.span.begin), end: self.span.end.max(other.span.end) };
        if other.span.length() > self.span.length() {
            *self = other;
        }
        self.span = span;
    }
}

/// From an interval down to what took the most of it, and the parts of the interval itself.
fn chain(tree: Tree<'_>, sort: Sort) -> (Vec<Link>, Vec<Link>) {
    let mut links = vec![link(&[tree])];
    let mut level = vec![tree];
    let mut parts = Vec::new();
    loop {
        let length: i64 = level.iter().map(|tree| tree.root().busy).sum();
        let mut below = by_name(&level);
        below.sort_by_key(|(link, _)| (Reverse(link.length), link.begin));
        if links.len() == 1 {
            parts = below.iter().take(PARTS).map(|(link, _)| *link).filter(|link| link.length > 0).collect();
        }
        // Whatever explains a part of a turn is better than nothing; further down, only what takes most of the time is.
        let share = if links.len() == 1 && sort == Sort::Turn { LEAST_SHARE } else { 2 };
        match below.into_iter().next() {
            Some((link, trees)) if link.length > 0 && link.length.saturating_mul(share) >= length => {
                links.push(link);
                level = trees;
            }
            _ => return (links, parts),
        }
    }
}

/// The children of intervals, those of the same name together.
fn by_name<'n>(level: &[Tree<'n>]) -> Vec<(Link, Vec<Tree<'n>>)> {
    let mut names: HashMap<Name, Vec<Tree<'n>>> = HashMap::new();
    for child in level.iter().flat_map(|tree| tree.children()) {
        names.entry(child.root().span.name).or_default().push(child);
    }
    names.into_values().map(|trees| (link(&trees), trees)).collect()
}

/// Intervals of the same name as one link.
fn link(trees: &[Tree<'_>]) -> Link {
    let nodes = || trees.iter().map(|tree| tree.root());
    let first = trees[0].root();
    let length: i64 = nodes().map(|node| node.busy).sum();
    let covered: i64 = trees.iter().map(|tree| tree.covered()).sum();
    let is_one = nodes().all(|node| node.span.client == first.span.client);
    Link {
        name: first.span.name,
        client: first.span.client.filter(|_| is_one),
        begin: nodes().map(|node| node.span.begin).min().unwrap_or(first.span.begin),
        end: nodes().map(|node| node.span.end).max().unwrap_or(first.span.end),
        length,
        own: (length - covered).max(0),
        count: nodes().map(|node| u64::from(node.count)).sum(),
    }
}

#[cfg(test)]
mod tests;
