//! Threads that read ahead of the merge.
//!
//! A packet is read by one thread at a time, which is the one that has its [`PacketReader`]. The merge leaves that in a
//! *place*, where a thread of the crew finds it, and puts what it has located. That goes on until it is some portions ahead of the
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
//! A [`Helper`] lets a thread that has other work read a portion at a time when it would be idle.

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
    /// Whether threads that have other work help.
    has_helper: bool,
    threads: Vec<JoinHandle<()>>,
}

/// Lets a thread that works on events of an [`InOrder`](crate::InOrder) read ahead for it whenever it has nothing else to do;
/// [`InOrder::helper`](crate::InOrder::helper) makes one.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use std::ops::ControlFlow::Continue;
/// use std::sync::mpsc::{TryRecvError, channel};
///
/// use ctf_reader::{Window, all_fields};
///
/// let reader = example();
/// let mut events = reader.in_order(Window::default(), all_fields);
/// let (send, receive) = channel();
/// let (mut helper, waker) = (events.helper(), events.helper());
/// let worker = std::thread::spawn(move || {
///     let mut times = Vec::new();
///     let mut next = || helper.wait_for(|| match receive.try_recv() {
///         Ok(time) => Some(Some(time)),
///         Err(TryRecvError::Empty) => None,
///         Err(TryRecvError::Disconnected) => Some(None),
///     });
///     while let Some(time) = next() {
///         times.push(time);
///     }
///     times
/// });
/// events.next_events(usize::MAX, |event| {
///     send.send(event.timestamp()).unwrap();
///     waker.wake_others();
///     Continue(())
/// });
/// drop((send, waker));
/// assert_eq!(worker.join().unwrap(), [10, 20, 30]);
/// ```
pub struct Helper {
    shared: Arc<Shared>,
    files: FilePool,
}

impl Helper {
    /// Reads some thousands of events ahead, and returns whether there were any to be read.
    pub fn help(&mut self) -> bool {
        self.shared.help(&mut self.files)
    }

    /// Waits until a function finds something, and reads ahead meanwhile. What it finds is there before another thread
    /// [wakes](Helper::wake_others) this one.
    pub fn wait_for<T>(&mut self, mut find: impl FnMut() -> Option<T>) -> T {
        loop {
            let queue = locked(&self.shared.queue);
            if let Some(found) = find() {
                return found;
            }
            if queue.places.is_empty() {
                drop(self.shared.has_news.wait(queue));
            } else {
                drop(queue);
                self.help();
            }
        }
    }

    /// Has other helpers that [wait](Helper::wait_for) look for what they wait for, as dropping this one does.
    pub fn wake_others(&self) {
        // Whoever has looked by now waits by now.
        drop(locked(&self.shared.queue));
        self.shared.has_news.notify_all();
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.wake_others();
    }
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    has_work: Condvar,
    /// The same, for helpers, or something else that they wait for.
    has_news: Condvar,
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
        self.size == 0 && !self.has_helper
    }

    /// A helper in place of one of the threads.
    pub fn helper(&mut self) -> Helper {
        if !self.has_helper && self.size > 0 {
            (self.size, self.has_helper) = (self.size - 1, true);
        }
        Helper { shared: Arc::clone(&self.shared), files: FilePool::default() }
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
        // Somebody reads its next portion: meanwhile others are read, which may be of the next packet of the only stream.
        while must_wait(&mut locked(&place.state)) && self.shared.help(files) {}
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
            self.shared.queue(Arc::clone(place));
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
            while place.work(self, &mut files) {}
        }
    }

    /// Reads a portion ahead, and returns whether there was any to be read.
    fn help(&self, files: &mut FilePool) -> bool {
        let Some(place) = locked(&self.queue).places.pop_front() else { return false };
        if place.work(self, files) {
            self.queue(place);
        }
        true
    }

    /// Has a thread come to a place.
    fn queue(&self, place: Arc<Place>) {
        locked(&self.queue).places.push_back(place);
        self.has_work.notify_one();
        self.has_news.notify_one();
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
    /// Reads a portion of the packet that was left here, unless the merge came back before. Returns whether to go on.
    fn work(&self, crew: &Shared, files: &mut FilePool) -> bool {
        let mut state = locked(&self.state);
        state.is_queued = false;
        let Some(mut reader) = state.reader.take() else { return false };
        state.is_taken = true;
        drop(state);
        let _taken = Taken(self);
        let mut next = reader.next(crew.memory(), files);
        // If the merge has nothing else, it has them digested itself: otherwise it would wait for that, too.
        if !locked(&self.state).portions.is_empty() {
            next.digest();
        }
        let mut state = locked(&self.state);
        let is_last = next.is_last;
        state.portions.push_back(next);
        state.is_taken = false;
        state.is_queued = !is_last && state.portions.len() < reader.ahead();
        state.reader = Some(reader).filter(|_| !is_last);
        self.has_more.notify_one();
        state.is_queued
    }
}

/// A place whose packet a thread of the crew reads. If that panics, nobody must wait for ever.
struct Taken<'p>(&'p Place);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            locked(&self.0.state).is_taken = false;
            self.0.has_more.notify_one();
        }
    }
}

/// Locks what no panic leaves half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
