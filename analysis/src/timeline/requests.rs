//! Which spans belong to one request: those that one outermost span contains, by the numbers of spans.

use std::collections::HashMap;

use super::TimelineRequest;
use crate::intervals::SpanNumbers;

/// Sets of spans, joined as the spans around them end (union-find). A span is in the set of the first that ended in it.
#[derive(Debug, Default)]
pub struct Requests {
    /// For each set another one that it was joined with, or itself.
    sets: Vec<u32>,
    /// The process of each set.
    processes: Vec<usize>,
    /// The sets of what ended within each open span of a process.
    within: HashMap<(usize, u64), u32>,
}

impl Requests {
    /// The set of a span of a process that has ended.
    pub fn ended(&mut self, process: usize, numbers: SpanNumbers) -> u32 {
        let known = if numbers.own == 0 { None } else { self.within.remove(&(process, numbers.own)) };
        let set = known.unwrap_or_else(|| {
            self.sets.push(self.sets.len() as u32);
            self.processes.push(process);
            self.sets.len() as u32 - 1
        });
        if numbers.parent != 0 {
            let of_parent = *self.within.entry((process, numbers.parent)).or_insert(set);
            let (one, other) = (self.find(set), self.find(of_parent));
            self.sets[one as usize] = other;
        }
        set
    }

    /// The request of each set: sets that were joined have the same.
    pub fn finish(mut self) -> Vec<TimelineRequest> {
        let sets = 0..self.sets.len() as u32;
        let request = |set| TimelineRequest { number: self.find(set), process: self.processes[set as usize] };
        sets.map(request).collect()
    }

    fn find(&mut self, mut set: u32) -> u32 {
        while self.sets[set as usize] != set {
            let next = self.sets[set as usize];
            self.sets[set as usize] = self.sets[next as usize];
            set = next;
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_one_tree_are_one_request() {
        let mut requests = Requests::default();
        let mut ended = |process, own, parent| requests.ended(process, SpanNumbers { own, parent }) as usize;
        // 1 > (2 > (3, 4), 5), 6 > 7, and 7 of another process.
        let first =
            [(3, 2), (5, 1), (4, 2), (2, 1), (0, 1), (1, 0)].map(|(own, parent)| ended(0, own, parent));
        let second = [(7, 6), (6, 0)].map(|(own, parent)| ended(0, own, parent));
        let third = ended(1, 7, 0);
        let request: Vec<u32> = requests.finish().iter().map(|request| request.number).collect();
        assert!(first.iter().all(|set| request[*set] == request[first[0]]), "{request:?}");
        assert!(second.iter().all(|set| request[*set] == request[second[0]]), "{request:?}");
        assert!(
            request[first[0]] != request[second[0]] && request[third] != request[second[0]],
            "{request:?}"
        );
    }
}
