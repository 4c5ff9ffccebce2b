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
        let roots = || self.below().map(|child| &child.interval);
        let is_told = roots().any(|interval| interval.client.is_some());
        let (mut next, mut longest): (Option<&Interval>, Option<&Interval>) = (None, None);
        for request in roots().filter(|interval| !is_told || interval.client.is_some()) {
            if request.begin >= gap.end_ns {
                next = next.filter(|next| next.begin <= request.begin).or(Some(request));
            } else if request.end <= gap.begin_ns {
                let rank = |interval: &Interval| (interval.length(), interval.end);
                longest = longest.filter(|longest| rank(longest) > rank(request)).or(Some(request));
            }
        }
        let is_before = next.is_none();
        let link = Link::of(next.or(longest)?);
        Some(Neighbour { link, is_before })
    }
}

/// The chain from an interval down to what took the most time, and the parts of the interval itself. The first link
/// must have taken at least one part in `first_share` of the interval, and the others most of the time.
pub fn chain(tree: Tree<'_>, first_share: i64) -> (Vec<Link>, Vec<Link>) {
    let mut root = LinkSum::new(tree.root().interval.name);
    root.add(tree);
    let mut links = vec![root.link()];
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
    level.iter().flat_map(|tree| tree.children()).for_each(|child| {
        let name = child.root().interval.name;
        // Most are like the one before.
        if sums.get(last).is_none_or(|sum| sum.name != name) {
            last = *places.entry(name).or_insert(sums.len());
            if last == sums.len() {
                sums.push(LinkSum::new(name));
            }
        }
        sums[last].add(child);
    });
    sums.into_iter().map(LinkSum::link).collect()
}

/// Intervals of the same name while they are added up.
struct LinkSum {
    name: IntervalName,
    begin: i64,
    end: i64,
    length: i64,
    spent: i64,
    /// How much of them those below cover.
    covered: i64,
    count: u64,
    is_selected: bool,
    /// How long they took for clients that follow each other; those of a client in a row are added up.
    clients: Vec<(u32, i64)>,
}

impl LinkSum {
    /// The sum of none.
    fn new(name: IntervalName) -> Self {
        LinkSum {
            name,
            begin: i64::MAX,
            end: i64::MIN,
            length: 0,
            spent: 0,
            covered: 0,
            count: 0,
            is_selected: false,
            clients: Vec::new(),
        }
    }

    #[inline(always)]
    fn add(&mut self, tree: Tree<'_>) {
        let node = tree.root();
        let (interval, spent) = (&node.interval, node.spent());
        self.begin = self.begin.min(interval.begin);
        self.end = self.end.max(interval.end);
        self.length = self.length.saturating_add(node.busy);
        self.spent = self.spent.saturating_add(spent);
        self.count += u64::from(node.count);
        self.is_selected |= interval.passes.all();
        if tree.has_children() {
            self.covered = self.covered.saturating_add(tree.covered());
        }
        let Some(client) = interval.client else { return };
        match self.clients.last_mut() {
            Some((last, of_last)) if *last == client => *of_last = of_last.saturating_add(spent),
            _ => self.clients.push((client, spent)),
        }
    }

    /// All of them as one link.
    fn link(self) -> Link {
        let LinkSum { name, begin, end, length, spent, covered, count, is_selected, mut clients } = self;
        clients.sort_unstable_by_key(|(client, _)| *client);
        clients.dedup_by(|(client, spent), (kept, of_kept)| {
            let is_same = client == kept;
            *of_kept = of_kept.saturating_add(if is_same { *spent } else { 0 });
            is_same
        });
        let most = clients.iter().max_by_key(|(client, spent)| (*spent, Reverse(*client)));
        let most = most.filter(|(_, by)| by.saturating_mul(MOST_OF) >= spent);
        Link {
            name,
            client: most.map(|(client, _)| *client),
            clients: clients.len() as u64,
            begin,
            end,
            length,
            spent,
            own: (length - covered).max(0),
            count,
            is_selected,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fastrand::Rng;

    use super::*;
    use crate::intervals::nesting::{Nesting, Node};
    use crate::reading::passes::Passes;

    /// The intervals of a turn, some within others, in whole microseconds.
    fn turn(random: &mut Rng) -> Nesting {
        let mut nesting = Nesting::default();
        let mut end = 0;
        for _ in 0..random.usize(1..60) {
            end += random.i64(0..30);
            let begin = (end - random.i64(0..50)).max(0);
            let name = IntervalName { kind: random.u32(0..4), key: random.u32(0..2) };
            let client = random.bool().then_some(random.u32(0..5));
            let passes = Passes { by_duration: random.bool(), otherwise: true };
            let interval = Interval { begin: begin * 1000, end: end * 1000, name, client, passes };
            nesting.end(interval, |_, _| true);
        }
        let name = IntervalName { kind: 9, key: 0 };
        let all = Interval { begin: 0, end: end * 1000, name, client: None, passes: Passes::ALL };
        nesting.end(all, |_, _| true);
        nesting
    }

    #[test]
    fn links_are_the_sums_of_all_intervals_of_a_name() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let random = &mut Rng::with_seed(seed);
        let mut deepest = 0;
        for _ in 0..1000 {
            let nesting = turn(random);
            let turn = nesting.last().unwrap();
            let (chain, parts) = chain(turn, 10);
            let mut level = vec![turn];
            for (depth, link) in chain.iter().enumerate() {
                let of_name: Vec<&Tree<'_>> =
                    level.iter().filter(|tree| tree.root().interval.name == link.name).collect();
                let nodes = || of_name.iter().map(|tree| tree.root());
                let sum = |of: fn(&Node) -> i64| nodes().map(of).sum::<i64>();
                assert_eq!((link.length, link.spent), (sum(|node| node.busy), sum(Node::spent)));
                assert_eq!(link.count, nodes().map(|node| u64::from(node.count)).sum::<u64>());
                assert_eq!(Some(link.begin), nodes().map(|node| node.interval.begin).min());
                assert_eq!(Some(link.end), nodes().map(|node| node.interval.end).max());
                assert_eq!(link.is_selected, nodes().any(|node| node.interval.passes.all()));
                let covered: i64 = of_name.iter().map(|tree| tree.covered()).sum();
                assert_eq!(link.own, (link.length - covered).max(0));

                let mut clients: BTreeMap<u32, i64> = BTreeMap::new();
                for node in nodes() {
                    let client = node.interval.client;
                    client.into_iter().for_each(|client| *clients.entry(client).or_default() += node.spent());
                }
                assert_eq!(link.clients, clients.len() as u64);
                let most = clients.values().copied().max().filter(|most| most * MOST_OF >= link.spent);
                assert_eq!(link.client.map(|client| clients[&client]), most, "{clients:?}");

                // No other name took more.
                assert!(level.iter().all(|tree| spent_in(&level, tree.root().interval.name) <= link.spent));
                level = of_name.iter().flat_map(|tree| tree.children()).collect();
                deepest = deepest.max(depth);
                if depth == 0 {
                    assert!(parts.iter().all(|part| part.spent == spent_in(&level, part.name)));
                    assert!(parts.is_sorted_by_key(|part| Reverse(part.spent)));
                }
            }
        }
        assert!(deepest >= 3, "{deepest}");
    }

    fn spent_in(level: &[Tree<'_>], name: IntervalName) -> i64 {
        let of_name = level.iter().map(|tree| tree.root()).filter(|node| node.interval.name == name);
        of_name.map(Node::spent).sum()
    }
}
