//! Clients that wait for a list to have an element.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Instant;

use crate::client::Blocked;
use crate::request::Bytes;

/// Which clients wait for which list, by slot.
#[derive(Default)]
pub struct Waiting {
    queues: HashMap<Bytes, VecDeque<usize>>,
    deadlines: BTreeSet<(Instant, usize)>,
    ready: VecDeque<Bytes>,
    count: usize,
}

impl Waiting {
    /// Queues a client.
    pub fn add(&mut self, slot: usize, blocked: &Blocked) {
        self.queues.entry(blocked.key.clone()).or_default().push_back(slot);
        self.deadlines.extend(blocked.deadline.map(|deadline| (deadline, slot)));
        self.count += 1;
    }

    /// Removes a client from its queue.
    pub fn remove(&mut self, slot: usize, blocked: &Blocked) {
        if let Some(queue) = self.queues.get_mut(&blocked.key) {
            queue.retain(|&other| other != slot);
            if queue.is_empty() {
                self.queues.remove(&blocked.key);
            }
        }
        if let Some(deadline) = blocked.deadline {
            self.deadlines.remove(&(deadline, slot));
        }
        self.count -= 1;
    }

    /// Notes that the list at `key` has a new element.
    pub fn signal(&mut self, key: &[u8]) {
        if self.queues.contains_key(key) {
            self.ready.push_back(key.to_vec());
        }
    }

    /// A list that has new elements, with the clients that wait for it in order.
    pub fn next_ready(&mut self) -> Option<(Bytes, Vec<usize>)> {
        let key = self.ready.pop_front()?;
        let slots = self.queues.get(&key).map(|queue| queue.iter().copied().collect());
        Some((key, slots.unwrap_or_default()))
    }

    /// When the next client will have waited long enough.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// A client that has waited long enough.
    pub fn overdue(&self, now: Instant) -> Option<usize> {
        self.deadlines.first().filter(|&&(deadline, _)| deadline <= now).map(|&(_, slot)| slot)
    }

    /// The number of clients that wait.
    pub fn len(&self) -> usize {
        self.count
    }
}
