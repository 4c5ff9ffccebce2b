//! What is forgotten so that memory stays bounded, however many threads and processes there are.

use super::engine::Engine;
use crate::intervals::Nesting;

/// A process that has been silent for this long may have ended, so that little of it is kept, and after the second time also none
/// of its intervals that a later one may contain; nanoseconds. And how often to look.
const SILENT: i64 = 120_000_000_000;
const GONE: i64 = 600_000_000_000;
const LOOK: i64 = 60_000_000_000;

/// A thread without an event loop keeps this number of intervals that a later one may contain: as many as a processor has in its
/// cache. All of them together keep the second number; if they have more, each keeps its share.
const MOST_OF_THREAD: usize = 1 << 14;
const MOST_HELD: usize = 1 << 19;

/// The most requests that a thread without an event loop keeps, and the fewest.
const SERVED: [usize; 2] = [64, 1 << 10];

/// How much is kept.
#[derive(Debug, Default)]
pub struct Memory {
    /// The number of intervals that threads without an event loop keep, and how many each may if all keep too many.
    held: usize,
    share: usize,
    /// The number of requests that each of them may keep.
    pub most_served: usize,
    /// When to look for silent processes.
    next_look: i64,
}

impl Memory {
    /// Shares the memory among this number of threads.
    pub fn share_among(&mut self, threads: usize) {
        self.share = MOST_HELD / threads.max(1);
        self.most_served = self.share.clamp(SERVED[0], SERVED[1]);
    }

    /// Whether it is time to look for silent processes.
    #[inline]
    pub fn is_due(&self, now: i64) -> bool {
        now >= self.next_look
    }

    /// A thread without an event loop keeps intervals, of which it had a number before.
    #[inline]
    pub fn hold(&mut self, nesting: &mut Nesting, before: usize) {
        self.held = self.held + nesting.len() - before;
        nesting.count_foldable();
        let most = if self.held > MOST_HELD { self.share } else { MOST_OF_THREAD };
        if nesting.len() > most {
            self.make_room(nesting, most);
        }
    }

    #[inline(never)]
    fn make_room(&mut self, nesting: &mut Nesting, most: usize) {
        let before = nesting.len();
        nesting.make_room(most);
        self.held = self.held + nesting.len() - before;
    }

    /// A thread keeps its intervals no longer, or has an event loop now.
    pub fn release(&mut self, nesting: &Nesting) {
        self.held -= nesting.len();
    }
}

impl Engine {
    /// Forgets most of what is known of processes that have been silent for long: a server that is restarted again and again would
    /// leave it behind each time.
    #[cold]
    pub fn rest(&mut self, now: i64) {
        self.memory.next_look = now.saturating_add(LOOK);
        let (silent, gone) = (now.saturating_sub(SILENT), now.saturating_sub(GONE));
        for state in &mut self.threads {
            let latest =
                self.processes.get(state.process).map_or(now, |process| process.activity.active_at());
            if latest < silent {
                state.held_back.rest();
                state.served.shrink_to_fit();
            }
            if latest < gone {
                if state.sleeps.is_none() {
                    self.memory.release(&state.nesting);
                }
                state.nesting.forget(gone);
            }
        }
        for state in self.processes.iter_mut().filter(|state| state.activity.active_at() < silent) {
            state.clients.rest();
            state.services.rest();
            if state.activity.active_at() < gone {
                (state.clients, state.services) = Default::default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::{Interval, IntervalName};
    use crate::reading::Passes;

    #[test]
    fn many_threads_share_what_one_may_keep() {
        let threads = 512;
        let mut memory = Memory::default();
        memory.share_among(threads);
        let mut nestings = vec![Nesting::default(); threads];
        let mut most = 0;
        for time in 0..2 * MOST_HELD as i64 / threads as i64 {
            for (thread, nesting) in nestings.iter_mut().enumerate() {
                let name = IntervalName { kind: 0, key: time as u32 };
                let end = 1_000_000 * time + thread as i64;
                let interval = Interval { begin: end - 1000, end, name, client: None, passes: Passes::ALL };
                let before = nesting.len();
                nesting.end(interval, |_, _| true);
                memory.hold(nesting, before);
                most = most.max(memory.held);
            }
        }
        assert_eq!(memory.held, nestings.iter().map(Nesting::len).sum::<usize>());
        assert!((MOST_HELD..=MOST_HELD + threads).contains(&most), "{most}");
        assert!(nestings.iter().all(|nesting| nesting.len() > memory.share / 4), "each has its share");
        assert!(nestings[0].is_incomplete_since(0), "and says that it is not all");
        nestings.iter().for_each(|nesting| memory.release(nesting));
        assert_eq!(memory.held, 0);
    }
}
