//! The chain from an interval to what took most of its time, and on.

use std::cmp::Reverse;

use hashbrown::HashMap;

use super::interval::{Interval, IntervalName, total};
use super::nesting::Tree;
use crate::finding::Span;

/// How many parts of an interval are kept.
const PARTS: usize = 5;

/// One part in this number is most of a time.
const MOST_OF: i64 = 2;

/// Intervals of the same name that share a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub name: IntervalName,
    /// The client that most of them were for.
    pub client: Option<u32>,
    /// The number of clients that they were for.
    pub clients: u64,
    pub begin: i64,
    pub end: i64,
    /// How long they took together.
    pub length: i64,
    /// The same with what handling them took before they began.
    pub spent: i64,
    /// Their self time: what no interval within them covers.
    pub own: i64,
    pub count: u64,
    /// Whether any of their events passes the filters.
    pub is_selected: bool,
}

impl Link {
    /// A single interval.
    pub fn of(interval: &Interval) -> Self {
        let length = interval.length();
        Link {
            name: interval.name,
            client: interval.client,
            clients: u64::from(interval.client.is_some()),
            begin: interval.begin,
            end: interval.end,
            length,
            spent: length,
            own: length,
            count: 1,
            is_selected: interval.passes.all(),
        }
    }
}

/// A request next to a time that no event covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub link: Link,
    /// Whether it ended before that time.
    pub is_before: bool,
}

impl Tree<'_> {
    /// The request that begins after a time that nothing below the root covers; without one, the longest
    /// before it: all of them are answered then, and what takes longer has more to write. Where no client is told, it may be
    /// something else than a request.
    pub fn neighbour(&self, gap: Span) -> Option<Neighbour> {
        let roots = || self.children().map(|child| child.root().interval);
        let is_told = roots().any(|interval| interval.client.is_some());
        let requests = || roots().filter(|interval| !is_told || interval.client.is_some());
        let next = requests().filter(|next| next.begin >= gap.end_ns).min_by_key(|next| next.begin);
        let before = || requests().filter(|before| before.end <= gap.begin_ns);
        let longest = || before().max_by_key(|before| (before.length(), before.end));
        let is_before = next.is_none();
        let link = Link::of(&next.or_else(longest)?);
        Some(Neighbour { link, is_before })
    }
}

/// The chain from an interval down to what took the most time, and the parts of the interval itself. The first link
/// must have taken at least one part in `first_share` of the interval, and the others most of the time.
pub fn chain(tree: Tree<'_>, first_share: i64) -> (Vec<Link>, Vec<Link>) {
    let mut links = vec![link(&[tree])];
    let mut level = vec![tree];
    let mut parts = Vec::new();
    loop {
        let length = total(level.iter().map(|tree| tree.root().busy));
        let mut below = by_name(&level);
        below.sort_by_key(|(link, _)| (Reverse(link.spent), link.begin));
        if links.len() == 1 {
            parts = below.iter().take(PARTS).map(|(link, _)| *link).filter(|link| link.spent > 0).collect();
        }
        let share = if links.len() == 1 { first_share } else { MOST_OF };
        match below.into_iter().next() {
            Some((link, trees)) if link.spent > 0 && link.spent.saturating_mul(share) >= length => {
                links.push(link);
                level = trees;
            }
            _ => return (links, parts),
        }
    }
}

/// The children of intervals, those of the same name together.
fn by_name<'n>(level: &[Tree<'n>]) -> Vec<(Link, Vec<Tree<'n>>)> {
    let mut names: HashMap<IntervalName, Vec<Tree<'n>>> = HashMap::new();
    for child in level.iter().flat_map(|tree| tree.children()) {
        names.entry(child.root().interval.name).or_default().push(child);
    }
    names.into_values().map(|trees| (link(&trees), trees)).collect()
}

/// Intervals of the same name as one link.
fn link(trees: &[Tree<'_>]) -> Link {
    let nodes = || trees.iter().map(|tree| tree.root());
    let first = trees[0].root().interval;
    let length = total(nodes().map(|node| node.busy));
    let covered = total(trees.iter().map(|tree| tree.covered()));
    let mut clients: HashMap<u32, i64> = HashMap::new();
    for node in nodes() {
        if let Some(client) = node.interval.client {
            *clients.entry(client).or_default() += node.spent();
        }
    }
    let spent = total(nodes().map(|node| node.spent()));
    let most = clients.iter().max_by_key(|(client, spent)| (**spent, Reverse(**client)));
    Link {
        name: first.name,
        client: most.filter(|(_, by)| by.saturating_mul(MOST_OF) >= spent).map(|(client, _)| *client),
        clients: clients.len() as u64,
        begin: nodes().map(|node| node.interval.begin).min().unwrap_or(first.begin),
        end: nodes().map(|node| node.interval.end).max().unwrap_or(first.end),
        length,
        spent,
        own: (length - covered).max(0),
        count: nodes().map(|node| u64::from(node.count)).sum(),
        is_selected: nodes().any(|node| node.interval.passes.all()),
    }
}
