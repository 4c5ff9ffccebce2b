//! The chain from an interval to what took most of its time, and on.

use std::cmp::Reverse;

use hashbrown::HashMap;

use super::interval::{Interval, IntervalName};
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
        let roots = || self.below().map(|child| child.interval);
        let is_told = roots().any(|interval| interval.client.is_some());
        let (mut next, mut longest): (Option<Interval>, Option<Interval>) = (None, None);
        for request in roots().filter(|interval| !is_told || interval.client.is_some()) {
            if request.begin >= gap.end_ns {
                next = next.filter(|next| next.begin <= request.begin).or(Some(request));
            } else if request.end <= gap.begin_ns {
                let rank = |interval: &Interval| (interval.length(), interval.end);
                longest = longest.filter(|longest| rank(longest) > rank(&request)).or(Some(request));
            }
        }
        let is_before = next.is_none();
        let link = Link::of(&next.or(longest)?);
        Some(Neighbour { link, is_before })
    }
}

/// The chain from an interval down to what took the most time, and the parts of the interval itself. The first link
/// must have taken at least one part in `first_share` of the interval, and the others most of the time.
pub fn chain(tree: Tree<'_>, first_share: i64) -> (Vec<Link>, Vec<Link>) {
    let mut links = vec![LinkSum::of(tree).link()];
    let mut level = vec![tree];
    let mut parts = Vec::new();
    loop {
        let is_first = links.len() == 1;
        let mut below = by_name(&level);
        below.sort_by_key(|link| (Reverse(link.spent), link.begin));
        if is_first {
            parts = below.iter().take(PARTS).filter(|link| link.spent > 0).copied().collect();
        }
        let (share, of) = (if is_first { first_share } else { MOST_OF }, links[links.len() - 1].length);
        match below.first() {
            Some(link) if link.spent > 0 && link.spent.saturating_mul(share) >= of => {
                links.push(*link);
                let named =
                    level.iter().flat_map(|tree| tree.children()).filter(|child| child.has_children());
                level = named.filter(|child| child.root().interval.name == link.name).collect();
            }
            _ => return (links, parts),
        }
    }
}

/// The children of intervals, those of the same name as one link.
fn by_name(level: &[Tree<'_>]) -> Vec<Link> {
    let mut sums: Vec<LinkSum> = Vec::new();
    let mut places: HashMap<IntervalName, usize> = HashMap::new();
    let mut last = 0;
    for child in level.iter().flat_map(|tree| tree.children()) {
        let name = child.root().interval.name;
        // Most are like the one before.
        if sums.get(last).is_none_or(|sum| sum.link.name != name) {
            last = *places.entry(name).or_insert(sums.len());
        }
        match sums.get_mut(last) {
            Some(sum) => sum.add(child),
            None => sums.push(LinkSum::of(child)),
        }
    }
    sums.into_iter().map(LinkSum::link).collect()
}

/// Intervals of the same name while they are added up.
struct LinkSum {
    link: Link,
    /// How much of them those below cover.
    covered: i64,
    /// How long each client's took, but for the last client, whose are added when another one comes.
    clients: HashMap<u32, i64>,
    last_client: Option<(u32, i64)>,
}

impl LinkSum {
    /// The sum of one.
    fn of(tree: Tree<'_>) -> Self {
        let Interval { begin, end, name, .. } = tree.root().interval;
        let link = Link {
            name,
            client: None,
            clients: 0,
            begin,
            end,
            length: 0,
            spent: 0,
            own: 0,
            count: 0,
            is_selected: false,
        };
        let mut sum = LinkSum { link, covered: 0, clients: HashMap::new(), last_client: None };
        sum.add(tree);
        sum
    }

    fn add(&mut self, tree: Tree<'_>) {
        let node = tree.root();
        let (link, spent) = (&mut self.link, node.spent());
        link.begin = link.begin.min(node.interval.begin);
        link.end = link.end.max(node.interval.end);
        link.length = link.length.saturating_add(node.busy);
        link.spent = link.spent.saturating_add(spent);
        link.count += u64::from(node.count);
        link.is_selected |= node.interval.passes.all();
        self.covered = self.covered.saturating_add(tree.covered());
        match (&mut self.last_client, node.interval.client) {
            (_, None) => {}
            (Some((last, of_last)), Some(client)) if *last == client => {
                *of_last = of_last.saturating_add(spent);
            }
            (last, Some(client)) => {
                let before = last.replace((client, spent));
                self.count(before);
            }
        }
    }

    fn count(&mut self, client: Option<(u32, i64)>) {
        if let Some((client, spent)) = client {
            let known = self.clients.entry(client).or_default();
            *known = known.saturating_add(spent);
        }
    }

    /// All of them as one link.
    fn link(mut self) -> Link {
        let last = self.last_client.take();
        self.count(last);
        let LinkSum { link, covered, clients, .. } = self;
        let most = clients.iter().max_by_key(|(client, spent)| (**spent, Reverse(**client)));
        let most = most.filter(|(_, by)| by.saturating_mul(MOST_OF) >= link.spent);
        Link {
            client: most.map(|(client, _)| *client),
            clients: clients.len() as u64,
            own: (link.length - covered).max(0),
            ..link
        }
    }
}
