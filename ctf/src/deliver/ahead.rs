//! Threads that read ahead of the merge.
//!
//! A packet is read by one thread at a time, which is the one that has its [`PacketReader`]. The merge leaves that in a
//! *place*, where a thread of the crew finds it, and comes back for the located events when it needs them. If nobody has
//! come to it by then, the merge does the work itself, so no thread is ever waited for that has not begun:
//!
//! ```text
//!          leave                     take                     put
//! merge ──────────> Left(reader) ──────────> Taken ──────────────────> Done(reader, events)
//!   ^                    │             (a thread of the crew)                 │
//!   └──── come back ─────┴────────────────────────────────────────────────────┘
//! ```

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::located_events::LocatedEvents;
use super::packet_reader::{NextEvents, PacketReader};
use crate::packets::pool::FilePool;

/// More threads than these locate events faster than one thread can take them, and each keeps files open.
const MAX_THREADS: usize = 3;

/// Where the merge leaves a packet to be read ahead.
pub struct Place {
    state: Mutex<PlaceState>,
    is_done: Condvar,
}

#[derive(Default)]
enum PlaceState {
    Left(Box<PacketReader>, LocatedEvents),
    Taken,
    Done(Box<PacketReader>, NextEvents),
    /// The merge has come back; or the thread that took it has panicked.
    #[default]
    Empty,
}

/// The threads, which end with it.
#[derive(Default)]
pub struct Crew {
    shared: Arc<Shared>,
    /// How many threads there are to be. They are started when there is work.
    size: usize,
    threads: Vec<JoinHandle<()>>,
    /// Memory of events that have been handed out, and of parts of packets.
    spare: Vec<LocatedEvents>,
    buffers: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    has_work: Condvar,
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
        let is_ahead = reader.is_ahead();
        let mut memory = self.spare.pop().unwrap_or_default();
        memory.buffer = self.buffers.pop().unwrap_or_default();
        let state = Mutex::new(PlaceState::Left(reader, memory));
        let place = Arc::new(Place { state, is_done: Condvar::new() });
        if is_ahead {
            self.start();
            locked(&self.shared.queue).places.push_back(Arc::clone(&place));
            self.shared.has_work.notify_one();
        }
        place
    }

    /// Uses the memory of events again that have been handed out.
    pub fn reuse(&mut self, mut events: LocatedEvents) {
        let buffers = [events.clear().unwrap_or_default(), std::mem::take(&mut events.buffer)];
        self.buffers.extend(buffers.into_iter().filter(|buffer| buffer.capacity() > 0));
        // A packet begins and ends without any: these would bury the others.
        if events.has_memory() {
            self.spare.push(events);
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
            place.work(&mut files);
        }
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
    fn work(&self, files: &mut FilePool) {
        let mut state = locked(&self.state);
        // A place is found once, so it is empty otherwise.
        let PlaceState::Left(mut reader, memory) = std::mem::take(&mut *state) else { return };
        *state = PlaceState::Taken;
        drop(state);
        // If this panics, nobody must wait for ever.
        let mut put = Put { place: self, state: PlaceState::Empty };
        let next = reader.next(memory, files);
        put.state = PlaceState::Done(reader, next);
    }

    /// Comes back for the next events of the packet, and does the work if nobody has.
    pub fn come_back(&self, files: &mut FilePool) -> (Box<PacketReader>, NextEvents) {
        let is_taken = |state: &mut PlaceState| matches!(state, PlaceState::Taken);
        let state = self.is_done.wait_while(locked(&self.state), is_taken);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *state) {
            PlaceState::Left(mut reader, memory) => {
                drop(state);
                let next = reader.next(memory, files);
                (reader, next)
            }
            PlaceState::Done(reader, next) => (reader, next),
            PlaceState::Taken | PlaceState::Empty => panic!("a thread that reads ahead panicked"),
        }
    }
}

/// Puts a state in a place, whatever happens.
struct Put<'p> {
    place: &'p Place,
    state: PlaceState,
}

impl Drop for Put<'_> {
    fn drop(&mut self) {
        *locked(&self.place.state) = std::mem::take(&mut self.state);
        self.place.is_done.notify_one();
    }
}

/// Locks what no panic leaves half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
