//! Intervals that say which span they are and which is around them: the work of async programs, of which the spans of one
//! thread interleave. They nest by these numbers, on whatever thread they ended.

use std::collections::HashMap;

use super::super::interval::Interval;
use super::{LARGE, MOST, Node, Tree, fold};

/// The numbers of the span that an interval was, and of the one around it; 0 if there is none. A span ends after those in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanNumbers {
    pub own: u64,
    pub parent: u64,
}

/// Spans that have ended while the one around them has not.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// The trees within each open span of a process.
    within: HashMap<(usize, u64), Vec<Node>>,
    /// The number of nodes in all of them.
    nodes: usize,
}

impl Spans {
    /// Adds a span of a process that has ended, and hands its tree to a function.
    pub fn end<R>(
        &mut self,
        process: usize,
        numbers: SpanNumbers,
        interval: Interval,
        look: impl FnOnce(Tree<'_>) -> R,
    ) -> R {
        let mut nodes = match numbers.own {
            0 => Vec::new(),
            own => self.within.remove(&(process, own)).unwrap_or_default(),
        };
        self.nodes -= nodes.len();
        if nodes.len() > LARGE {
            nodes = fold(&nodes);
        }
        let size = nodes.len() as u32 + 1;
        let root = Node { interval, count: 1, busy: interval.length(), lead: 0, size };
        let seen = look(Tree { root: &root, below: &nodes });
        nodes.push(root);
        if numbers.parent != 0 {
            self.nodes += nodes.len();
            self.within.entry((process, numbers.parent)).or_default().append(&mut nodes);
            if self.nodes > MOST {
                self.make_room();
            }
        }
        seen
    }

    /// Forgets the older half: the spans around them were not recorded, or have been open for long.
    fn make_room(&mut self) {
        let end = |nodes: &[Node]| nodes.last().map_or(i64::MIN, |last| last.interval.end);
        let mut ends: Vec<i64> = self.within.values().map(|nodes| end(nodes)).collect();
        ends.sort_unstable();
        let middle = ends[ends.len() / 2];
        self.within.retain(|_, nodes| end(nodes) > middle);
        self.nodes = self.within.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::chain::chain;
    use super::super::super::interval::IntervalName;
    use super::*;
    use crate::reading::passes::Passes;

    fn interval(kind: u32, begin: i64, end: i64) -> Interval {
        Interval { begin, end, name: IntervalName { kind, key: 0 }, client: None, passes: Passes::ALL }
    }

    /// The kinds and lengths of the chain below a span.
    fn links(tree: Tree<'_>) -> Vec<(u32, i64)> {
        chain(tree, 2).0.iter().map(|link| (link.name.kind, link.length)).collect()
    }

    #[test]
    fn spans_that_interleave_nest_by_their_numbers() {
        let mut spans = Spans::default();
        let numbers = |own, parent| SpanNumbers { own, parent };
        // Requests 1 and 2 at the same time, each with a query; by times, one would contain the other's.
        assert_eq!(spans.end(0, numbers(11, 1), interval(5, 10, 80), links), [(5, 70)]);
        assert_eq!(spans.end(0, numbers(22, 2), interval(6, 20, 85), links), [(6, 65)]);
        assert_eq!(spans.end(1, numbers(11, 1), interval(7, 0, 90), links), [(7, 90)], "another process");
        assert_eq!(spans.end(0, numbers(2, 0), interval(2, 5, 90), links), [(2, 85), (6, 65)]);
        assert_eq!(spans.end(0, numbers(0, 1), interval(8, 95, 99), links), [(8, 4)], "an event in a span");
        assert_eq!(spans.end(0, numbers(1, 0), interval(1, 0, 100), links), [(1, 100), (5, 70)]);
        assert_eq!(spans.nodes, 1, "only the other process has an open span");
    }

    #[test]
    fn spans_whose_parents_never_end_do_not_fill_the_memory() {
        let mut spans = Spans::default();
        for number in 1..=3 * MOST as i64 {
            let numbers = SpanNumbers { own: 0, parent: number as u64 };
            spans.end(0, numbers, interval(0, number, number + 1), |_| ());
        }
        assert!((1..=MOST).contains(&spans.nodes), "{}", spans.nodes);
        for _ in 0..3 * MOST {
            spans.end(0, SpanNumbers { own: 0, parent: 1 }, interval(0, i64::MAX - 1, i64::MAX), |_| ());
        }
        assert!(spans.nodes <= MOST, "{}", spans.nodes);
    }
}
