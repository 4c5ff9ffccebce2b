//! Threads that read ahead of the merge.
//!
//! A packet is read by one thread at a time, which is the one that has its [`PacketReader`]. The merge leaves that in a
//! *place*, where a thread of the crew finds it, and puts what it has located. It goes on until it is some portions ahead of the
//! merge, which comes back for one at a time:
//!
//! ```text
//!                     take                  put                 come back
//! Place: reader ──────────────> (at work) ───────> portions ────────────────> merge
//!           ^   (a thread of the crew)  │
//!           └──── enough portions ──────┘
//! ```
//!
//! If there are none and nobody has come to it, the merge does the work itself, so no thread is ever waited for that has not begun.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::located_events::LocatedEvents;
use super::packet_reader::{NextEvents, PacketReader};
use crate::packets::pool::FilePool;

/// More threads than these locate events faster than one thread can take them, and each keeps files open.
const MAX_THREADS: usize = 3;

/// Where the merge leaves a packet to be read ahead.
#[derive(Default)]
pub struct Place {
    state: Mutex<PlaceState>,
    has_more: Condvar,
}

#[derive(Default)]
struct PlaceState {
    /// None while somebody reads, and at the end.
    reader: Option<Box<PacketReader>>,
    /// Whether a thread of the crew reads.
    is_taken: bool,
    /// Whether a thread of the crew will come to it.
    is_queued: bool,
    /// What was read, and not come back for.
    portions: VecDeque<NextEvents>,
}

/// The threads, which end with it.
#[derive(Default)]
pub struct Crew {
    shared: Arc<Shared>,
    /// How many threads there are to be. They are started when there is work.
    size: usize,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    has_work: Condvar,
    spare: Mutex<Spare>,
}

/// Memory of events that have been handed out, and of parts of packets.
#[derive(Default)]
struct Spare {
    events: Vec<LocatedEvents>,
    buffers: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Queue {
    places: VecDeque<Arc<Place>>,
    is_closed: bool,
}

impl Crew {
    /// A crew for a merge that may use this number of threads, its own among them.
    pub fn new(threads: usize) -> Crew {
        let mut crew = Crew::default();
        crew.size = threads.saturating_sub(1).min(MAX_THREADS);
        crew
    }

    /// Whether nobody reads ahead.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Leaves a packet to be read ahead, if it may be. Otherwise the merge does when it comes back.
    pub fn leave(&mut self, reader: Box<PacketReader>) -> Arc<Place> {
        let place = Arc::new(Place::default());
        self.put(&place, &mut locked(&place.state), reader);
        place
    }

    /// Comes back for the next events of a packet, and does the work if nobody has.
    pub fn come_back(&mut self, place: &Arc<Place>, files: &mut FilePool) -> NextEvents {
        let must_wait = |state: &mut PlaceState| state.portions.is_empty() && state.is_taken;
        let state = place.has_more.wait_while(locked(&place.state), must_wait);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if let Some(mut next) = state.portions.pop_front() {
            if let Some(reader) = state.reader.take() {
                self.put(place, &mut state, reader);
            }
            drop(state);
            next.digest();
            return next;
        }
        let Some(mut reader) = state.reader.take() else { panic!("a thread that reads ahead panicked") };
        drop(state);
        let mut next = reader.next(self.shared.memory(), files);
        if !next.is_last {
            self.put(place, &mut locked(&place.state), reader);
        }
        next.digest();
        next
    }

    /// Puts a packet in a place, and sees to it that a thread comes to it, if it may.
    fn put(&mut self, place: &Arc<Place>, state: &mut PlaceState, reader: Box<PacketReader>) {
        let is_new = reader.ahead() > 0 && !state.is_queued;
        state.reader = Some(reader);
        if is_new {
            self.start();
            state.is_queued = true;
            locked(&self.shared.queue).places.push_back(Arc::clone(place));
            self.shared.has_work.notify_one();
        }
    }

    /// Uses the memory of events again that have been handed out.
    pub fn reuse(&mut self, mut events: LocatedEvents) {
        let buffers = [events.clear().unwrap_or_default(), std::mem::take(&mut events.buffer)];
        let mut spare = locked(&self.shared.spare);
        spare.buffers.extend(buffers.into_iter().filter(|buffer| buffer.capacity() > 0));
        // A packet begins and ends without any: these would bury the others.
        if events.has_memory() {
            spare.events.push(events);
        }
    }

    fn start(&mut self) {
        while self.threads.len() < self.size {
            let shared = Arc::clone(&self.shared);
            match Builder::new().name("ctf-ahead".into()).spawn(move || shared.work()) {
                Ok(thread) => self.threads.push(thread),
                // The merge does all work that nobody else does.
                Err(_) => self.size = self.threads.len(),
            }
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        locked(&self.shared.queue).is_closed = true;
        self.shared.has_work.notify_all();
        for thread in self.threads.drain(..) {
            // If it panicked, whoever waited for it has.
            _ = thread.join();
        }
    }
}

impl Shared {
    fn work(&self) {
        let mut files = FilePool::default();
        while let Some(place) = self.next_place() {
            place.work(self, &mut files);
        }
    }

    /// Memory to locate events in.
    fn memory(&self) -> LocatedEvents {
        let mut spare = locked(&self.spare);
        let mut memory = spare.events.pop().unwrap_or_default();
        memory.buffer = spare.buffers.pop().unwrap_or_default();
        memory
    }

    fn next_place(&self) -> Option<Arc<Place>> {
        let has_nothing = |queue: &mut Queue| queue.places.is_empty() && !queue.is_closed;
        let queue = self.has_work.wait_while(locked(&self.queue), has_nothing);
        let mut queue = queue.unwrap_or_else(PoisonError::into_inner);
        if queue.is_closed { None } else { queue.places.pop_front() }
    }
}

impl Place {
    /// Does the work that was left here, unless the merge came back before.
    fn work(&self, crew: &Shared, files: &mut FilePool) {
        let mut state = locked(&self.state);
        state.is_queued = false;
        let Some(mut reader) = state.reader.take() else { return };
        state.is_taken = true;
        drop(state);
        // If this panics, nobody must wait for ever.
        let _leaving = Leaving(self);
        loop {
            let mut next = reader.next(crew.memory(), files);
            // If the merge has nothing else, it has them digested itself: otherwise it would wait for that, too.
            if !locked(&self.state).portions.is_empty() {
                next.digest();
            }
            let mut state = locked(&self.state);
            let is_last = next.is_last;
            state.portions.push_back(next);
            if is_last {
                return;
            }
            if state.portions.len() >= reader.ahead() {
                state.reader = Some(reader);
                return;
            }
            self.has_more.notify_one();
        }
    }
}

/// Leaves a place, whatever happens.
struct Leaving<'p>(&'p Place);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        locked(&self.0.state).is_taken = false;
        self.0.has_more.notify_one();
    }
}

/// Locks what no panic leaves half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
