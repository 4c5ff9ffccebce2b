//! Open intervals of a thread, for events that come in pairs.

use super::interval::{Interval, IntervalName};
use crate::reading::passes::Passes;

/// The deepest nesting that is remembered.
const DEEPEST: usize = 1024;

/// The intervals that have begun, the innermost last.
#[derive(Clone, Debug, Default)]
pub struct OpenIntervals(Vec<Open>);

#[derive(Clone, Copy, Debug)]
struct Open {
    begin: i64,
    name: IntervalName,
    client: Option<u32>,
    passes: Passes,
}

impl OpenIntervals {
    /// Opens an interval.
    pub fn begin(&mut self, begin: i64, name: IntervalName, client: Option<u32>, passes: Passes) {
        if self.0.len() == DEEPEST {
            // Ends are missing: the oldest will not end any more.
            self.0.remove(0);
        }
        self.0.push(Open { begin, name, client, passes });
    }

    /// Closes the innermost interval of this kind. Those within it, whose ends are missing, are forgotten. The name
    /// and client of the end, if any, take precedence; one of its events must pass the filters.
    pub fn end(
        &mut self,
        end: i64,
        kind: u32,
        name: Option<IntervalName>,
        client: Option<u32>,
        passes: Passes,
    ) -> Option<Interval> {
        let place = self.0.iter().rposition(|open| open.name.kind == kind)?;
        let open = self.0[place];
        self.0.truncate(place);
        Some(Interval {
            begin: open.begin,
            end,
            name: name.unwrap_or(open.name),
            client: client.or(open.client),
            passes: if open.passes.all() { open.passes } else { passes },
        })
    }

    /// Forgets all of them, because events are missing.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Passes = Passes::ALL;

    const A: IntervalName = IntervalName { kind: 0, key: 0 };
    const B: IntervalName = IntervalName { kind: 1, key: 0 };

    #[test]
    fn calls_within_calls_end_from_the_innermost_on() {
        let mut open = OpenIntervals::default();
        open.begin(10, A, Some(7), ALL);
        open.begin(20, A, None, ALL);
        open.begin(25, B, None, ALL);
        let span =
            |ended: Option<Interval>| ended.map(|interval| (interval.begin, interval.end, interval.client));
        assert_eq!(span(open.end(30, 0, None, None, ALL)), Some((20, 30, None)), "the end of B is missing");
        assert_eq!(span(open.end(35, 1, None, None, ALL)), None);
        assert_eq!(span(open.end(40, 0, None, None, ALL)), Some((10, 40, Some(7))));
        assert_eq!(span(open.end(50, 0, None, None, ALL)), None, "an end without a beginning");
        open.begin(60, A, None, ALL);
        open.forget();
        assert_eq!(span(open.end(70, 0, None, None, ALL)), None, "nothing is invented across a gap");
    }

    #[test]
    fn beginnings_without_ends_do_not_fill_the_memory() {
        let mut open = OpenIntervals::default();
        (0..10_000).for_each(|time| open.begin(time, A, None, ALL));
        assert_eq!(open.0.len(), DEEPEST);
    }
}
