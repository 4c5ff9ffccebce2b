//! The intervals of one thread as a forest, in bounded memory.
//!
//! They are kept in the order in which they ended, each with the size of its subtree, so that a subtree is a slice:
//!
//! ```text
//!   ended:   GET  fork  BGSAVE  write  flush  turn
//!   size:     1    1      2       1      2      6
//! ```

mod spans;

use std::cmp::Reverse;

use hashbrown::HashMap;

pub use spans::{SpanNumbers, Spans};

use super::interval::Interval;
use crate::finding::Span;

/// The most intervals of a thread before they are folded.
const MOST: usize = 1 << 16;

/// A subtree of more intervals than this is folded when it is complete.
const LARGE: usize = 1 << 12;

/// The most roots to look at after one that is not within the interval. Without thread IDs there may be any number of
/// them, and the time per interval must stay bounded.
const MOST_BEYOND: usize = 16;

/// The most nodes to move so that the children of an interval are adjacent.
const MOST_MOVED: usize = 1 << 10;

/// Roots are folded if at least one node in this number would be saved.
const FOLDED: usize = 8;

/// A budget for moving nodes: intervals that need no move earn credit, moves cost more. Where intervals of many
/// threads are mixed, only neighbours are nested.
const MOST_CREDIT: u32 = 1 << 12;
const MOVE_COST: u32 = 8;

/// Between two requests of one turn a server reads and parses the next one and writes its answer. A gap of at most this
/// length, in nanoseconds, is part of handling the second request.
const HANDLING: i64 = 100_000;

/// An interval with those that lie within it, or several of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The interval; of several, from the first beginning to the last end.
    pub interval: Interval,
    /// The number of intervals it stands for.
    pub count: u32,
    /// How long they took together.
    pub busy: i64,
    /// How long handling them took before they began; see [`HANDLING`].
    lead: i64,
    /// The number of nodes in its subtree, itself included.
    size: u32,
}

/// The intervals of a thread that have ended, those within others below them.
#[derive(Clone, Debug)]
pub struct Nesting {
    nodes: Vec<Node>,
    /// Before this time intervals were forgotten, or events are missing.
    lost_before: Option<i64>,
    /// How many moves are left, in eighths.
    credit: u32,
    /// The number of nodes at some time, or fewer: nothing from there on has any below it from before.
    mark: usize,
    /// About how many nodes are within others or like the one before, of those that were counted.
    foldable: usize,
}

/// A node and its subtree.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'n> {
    root: &'n Node,
    /// The others, in the order of their ends.
    below: &'n [Node],
}

impl Default for Nesting {
    fn default() -> Self {
        Nesting { nodes: Vec::new(), lost_before: None, credit: MOST_CREDIT, mark: 0, foldable: 0 }
    }
}

impl Nesting {
    /// Adds an interval that ended after all others; those within it that `may_contain` allows become its children.
    #[inline]
    pub fn end(&mut self, interval: Interval, may_contain: impl Fn(&Interval, &Interval) -> bool) {
        self.credit = (self.credit + 1).min(MOST_CREDIT);
        // Most intervals begin after all others have ended.
        let first = match self.nodes.last() {
            Some(last) if last.interval.end >= interval.begin => self.children(&interval, may_contain),
            _ => self.nodes.len(),
        };
        let size = (self.nodes.len() - first + 1) as u32;
        let previous = first.checked_sub(1).map(|at| self.nodes[at].interval.end);
        let gap = previous.map_or(i64::MAX, |end| interval.begin.saturating_sub(end));
        let lead = if interval.client.is_some() && gap <= HANDLING { gap.max(0) } else { 0 };
        self.nodes.push(Node { interval, count: 1, busy: interval.length(), lead, size });
        if self.nodes.len() > MOST {
            self.fold_roots(MOST);
        }
    }

    /// The same for intervals that ended one after the other.
    #[inline]
    pub fn end_all(
        &mut self,
        intervals: impl ExactSizeIterator<Item = Interval>,
        may_contain: impl Fn(&Interval, &Interval) -> bool,
    ) {
        self.nodes.reserve(intervals.len());
        intervals.for_each(|interval| self.end(interval, &may_contain));
    }

    /// Where the children of an interval begin, which are made adjacent.
    #[inline(never)]
    fn children(&mut self, interval: &Interval, may_contain: impl Fn(&Interval, &Interval) -> bool) -> usize {
        let mut first = self.nodes.len();
        // Mostly all children are adjacent.
        while let Some(last) = first.checked_sub(1).map(|last| &self.nodes[last])
            && is_below(&last.interval, interval, &may_contain)
        {
            first -= last.size as usize;
        }
        // The roots that were looked at since the first that lies apart.
        let mut beyond = 0;
        let mut mixed = None;
        for at in roots(&self.nodes[..first]) {
            let root = &self.nodes[at];
            let begin = at + 1 - root.size as usize;
            let is_far = beyond > MOST_BEYOND || (beyond > 0 && self.nodes.len() - begin > MOST_MOVED);
            if root.interval.end < interval.begin || is_far {
                break;
            }
            match is_below(&root.interval, interval, &may_contain) {
                true => mixed = Some(begin),
                false if self.credit <= MOVE_COST => break,
                false => beyond += usize::from(beyond == 0),
            }
            beyond += 1;
        }
        if let Some(mixed) = mixed {
            self.credit = self.credit.saturating_sub(MOVE_COST);
            first = self.set_strangers_apart(mixed, interval, may_contain);
        }
        self.mark = self.mark.min(mixed.unwrap_or(first));
        if self.nodes.len() - first + 1 > LARGE {
            let folded = fold(&self.nodes[first..]);
            self.nodes.truncate(first);
            self.nodes.extend(folded);
        }
        first
    }

    /// The number of nodes.
    #[inline]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// From a place on, moves the trees that are not within an interval before those that are.
    fn set_strangers_apart(
        &mut self,
        first: usize,
        interval: &Interval,
        may_contain: impl Fn(&Interval, &Interval) -> bool,
    ) -> usize {
        let (mut apart, mut below) = (Vec::new(), Vec::new());
        let tail = &self.nodes[first..];
        let mut trees: Vec<Tree<'_>> = roots(tail).map(|at| Tree::at(tail, at)).collect();
        trees.reverse();
        for tree in trees {
            let is_below = is_below(&tree.root.interval, interval, &may_contain);
            let side = if is_below { &mut below } else { &mut apart };
            side.extend_from_slice(tree.below);
            side.push(*tree.root);
        }
        self.nodes.truncate(first);
        self.nodes.extend(apart);
        let first = self.nodes.len();
        self.nodes.extend(below);
        first
    }

    /// Counts what folding would save of the last node.
    #[inline]
    pub fn count_foldable(&mut self) {
        let Some(last) = self.nodes.last() else { return };
        let previous =
            self.nodes.len().checked_sub(1 + last.size as usize).map(|at| &self.nodes[at].interval);
        let is_like = previous.is_some_and(|previous| previous.is_like(&last.interval));
        self.foldable += last.size as usize - 1 + usize::from(is_like);
    }

    /// Keeps about half of the most nodes: the roots, folded if that is [known](Nesting::count_foldable) to save enough, or else the
    /// latest as they are.
    pub fn make_room(&mut self, most: usize) {
        let is_worth_folding = FOLDED * self.foldable >= self.nodes.len();
        if is_worth_folding || self.nodes.len() - self.mark > most / 2 + 1 {
            return self.fold_roots(most);
        }
        self.drop_before(self.mark, self.mark);
        self.foldable /= 2;
    }

    /// Makes one node of each run of roots of the same name and client, but for the last root, and forgets the older ones if
    /// there are still more than half of the most.
    fn fold_roots(&mut self, most: usize) {
        let last = self.nodes.len() - self.nodes.last().map_or(0, |last| last.size as usize);
        // From the last one on, so that what is forgotten is not looked at, and in place: a node has at least its own room.
        let (mut first, mut next) = (last, last);
        while let Some(at) = next.checked_sub(1) {
            let size = self.nodes[at].size;
            if first < last && self.nodes[first].interval.is_like(&self.nodes[at].interval) {
                let mut node = Node { size: 1, ..self.nodes[at] };
                node.join(&self.nodes[first]);
                self.nodes[first] = node;
            } else if last - first == most / 2 {
                break;
            } else {
                first -= 1;
                // Nearly all of them stay as they are where they are.
                if first != at || size > 1 {
                    self.nodes[first] = Node { size: 1, ..self.nodes[at] };
                }
            }
            next -= size as usize;
        }
        self.drop_before(first, next);
        self.foldable = 0;
    }

    /// Drops the nodes before a place, of which those before another one, which are whole trees, are forgotten.
    fn drop_before(&mut self, first: usize, forgotten: usize) {
        // Of these the last root has ended last.
        let until = forgotten.checked_sub(1).map(|at| self.nodes[at].interval.end);
        self.lost_before = self.lost_before.max(until);
        self.nodes.drain(..first);
        self.mark = self.nodes.len();
    }

    /// The tree of the interval that ended last.
    pub fn last(&self) -> Option<Tree<'_>> {
        roots(&self.nodes).next().map(|at| Tree::at(&self.nodes, at))
    }

    /// Whether the interval that ended last contains others.
    #[inline]
    pub fn last_has_children(&self) -> bool {
        self.nodes.last().is_some_and(|last| last.size > 1)
    }

    /// The trees that nothing contains, the last to end first.
    pub fn trees(&self) -> impl Iterator<Item = Tree<'_>> {
        roots(&self.nodes).map(|at| Tree::at(&self.nodes, at))
    }

    /// Forgets all intervals.
    #[inline]
    pub fn clear(&mut self) {
        self.nodes.clear();
        (self.mark, self.foldable) = (0, 0);
    }

    /// Forgets all intervals, so that those of up to this time are missing, and the memory for them.
    pub fn forget(&mut self, until: i64) {
        self.nodes = Vec::new();
        self.clear();
        self.lose(until);
    }

    /// Records that events up to this time are missing.
    pub fn lose(&mut self, until: i64) {
        self.lost_before = self.lost_before.max(Some(until));
    }

    /// Whether events since this time may be missing.
    pub fn is_incomplete_since(&self, begin: i64) -> bool {
        self.lost_before.is_some_and(|lost| lost > begin)
    }
}

impl<'n> Tree<'n> {
    fn at(nodes: &'n [Node], at: usize) -> Self {
        let root = &nodes[at];
        Tree { root, below: &nodes[at + 1 - root.size as usize..at] }
    }

    /// The interval itself.
    pub fn root(&self) -> &'n Node {
        self.root
    }

    /// All intervals within it, the last to end first, except those that were folded.
    pub fn inner_intervals(&self) -> impl Iterator<Item = Interval> {
        self.below.iter().rev().filter(|node| node.count == 1).map(|node| node.interval)
    }

    /// Those directly below it, the last to end first.
    pub fn children(&self) -> impl Iterator<Item = Tree<'n>> {
        let below = self.below;
        roots(below).map(|at| Tree::at(below, at))
    }

    /// Whether there are any.
    pub fn has_children(&self) -> bool {
        !self.below.is_empty()
    }

    /// The roots of these, the last to end first.
    pub fn below(&self) -> impl Iterator<Item = &'n Node> {
        let below = self.below;
        roots(below).map(|at| &below[at])
    }

    /// The longest times in it, at most a number of them, that nothing below it covers.
    pub fn gaps(&self, most: usize) -> Vec<Span> {
        let root = &self.root().interval;
        let rank = |gap: &Span| (Reverse(gap.length_ns()), gap.begin_ns);
        let enough = most.max(1);
        let mut gaps: Vec<Span> = Vec::with_capacity(2 * enough);
        // Any that are shorter are not among the longest.
        let mut least = 0;
        let mut add = |gap: Span| {
            if gap.length_ns() < least {
                return;
            }
            if gaps.len() == 2 * enough {
                let (_, last, _) = gaps.select_nth_unstable_by_key(enough - 1, rank);
                least = last.length_ns();
                gaps.truncate(enough);
            }
            gaps.push(gap);
        };
        let mut reached = root.end;
        for child in self.below() {
            if child.interval.end < reached {
                add(Span { begin_ns: child.interval.end.max(root.begin), end_ns: reached });
            }
            reached = reached.min(child.begin());
        }
        if root.begin < reached {
            add(Span { begin_ns: root.begin, end_ns: reached });
        }
        gaps.sort_unstable_by_key(rank);
        gaps.truncate(most);
        gaps
    }

    /// How much of it those below it cover.
    #[inline]
    pub fn covered(&self) -> i64 {
        if self.has_children() { self.covered_by_children() } else { 0 }
    }

    fn covered_by_children(&self) -> i64 {
        let root = &self.root().interval;
        let (mut covered, mut folded): (i64, i64) = (0, 0);
        let mut reached = root.end;
        // From the last end on, what they cover together needs no sorting.
        for child in self.below() {
            if child.count > 1 {
                folded = folded.saturating_add(child.spent());
                continue;
            }
            let begin = child.begin().max(root.begin);
            covered += (child.interval.end.min(reached) - begin).max(0);
            reached = reached.min(begin);
        }
        covered.saturating_add(folded).min(root.length())
    }
}

/// Whether an interval becomes a child of one that ended after it.
#[inline(always)]
fn is_below(inner: &Interval, outer: &Interval, may_contain: impl Fn(&Interval, &Interval) -> bool) -> bool {
    inner.is_within(outer) && may_contain(outer, inner)
}

/// The places of nodes that no other contains, the last first.
fn roots(nodes: &[Node]) -> impl Iterator<Item = usize> {
    let mut next = nodes.len();
    std::iter::from_fn(move || {
        let at = next.checked_sub(1)?;
        next -= nodes[at].size as usize;
        Some(at)
    })
}

/// One node for each name and client among the roots.
fn fold(nodes: &[Node]) -> Vec<Node> {
    let mut places = HashMap::new();
    let mut folded: Vec<Node> = Vec::new();
    for at in roots(nodes) {
        let node = Node { size: 1, ..nodes[at] };
        let place = *places.entry((node.interval.name, node.interval.client)).or_insert(folded.len());
        match folded.get_mut(place) {
            Some(known) => known.join(&node),
            None => folded.push(node),
        }
    }
    folded.sort_by_key(|node| node.interval.end);
    folded
}

impl Node {
    /// When handling it began.
    fn begin(&self) -> i64 {
        self.interval.begin - self.lead
    }

    /// How long they took together, with handling them.
    pub fn spent(&self) -> i64 {
        self.busy.saturating_add(self.lead)
    }

    fn join(&mut self, other: &Node) {
        self.interval.begin = self.interval.begin.min(other.interval.begin);
        self.interval.end = self.interval.end.max(other.interval.end);
        self.count = self.count.saturating_add(other.count);
        self.busy = self.busy.saturating_add(other.busy);
        self.lead = self.lead.saturating_add(other.lead);
        if !self.interval.passes.all() {
            self.interval.passes = other.interval.passes;
        }
    }
}

#[cfg(test)]
mod tests;
