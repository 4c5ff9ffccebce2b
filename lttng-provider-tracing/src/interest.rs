//! Which events sessions record, as `tracing` knows it: while a session records none of a call site's events, the call site is
//! of no interest, and a span there costs what a disabled one costs.
//!
//! A thread looks when a session starts, and every 50 ms, because nothing tells of other changes; after one it has `tracing`
//! ask again. What it has seen is all that call sites are judged by, so that none is missed.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::Thread;
use std::time::Duration;
use std::{process, thread};

use tracing_core::LevelFilter;
use tracing_core::callsite::rebuild_interest_cache;

use crate::generated::Event;

const PERIOD: Duration = Duration::from_millis(50);

/// The threads that look, of all layers.
static THREADS: Mutex<Vec<Thread>> = Mutex::new(Vec::new());

/// Has the threads look now. It does not wait: it is called by a thread of LTTng-UST, also in a child of `fork`, where the lock
/// may be held for ever.
fn wake() {
    if let Ok(threads) = THREADS.try_lock() {
        threads.iter().for_each(Thread::unpark);
    }
}

/// The events of a layer, and whether a session recorded each when they were last looked at.
#[derive(Debug)]
pub(crate) struct Interests {
    events: &'static [Event],
    recorded: Box<[AtomicBool]>,
    /// The process that has the thread; 0 if none could be started, and every event is of interest.
    process: AtomicU32,
}

impl Interests {
    /// Looks at the events, and has a thread do so for as long as the layer exists.
    pub(crate) fn watch(events: &'static [Event]) -> Arc<Interests> {
        let recorded = events.iter().map(|event| AtomicBool::new((event.enabled)())).collect();
        let interests = Arc::new(Interests { events, recorded, process: AtomicU32::new(0) });
        lttng_provider::__private::on_session_start(wake);
        interests.start();
        interests
    }

    /// Starts the thread, also in a child after a fork, which does not have its parent's.
    pub(crate) fn start(self: &Arc<Self>) {
        let process = process::id();
        if self.process.swap(process, Ordering::Relaxed) == process {
            return;
        }
        let interests = Arc::downgrade(self);
        let thread = thread::Builder::new().name("lttng-interests".to_owned());
        if thread.spawn(|| watch(interests)).is_err() {
            self.process.store(0, Ordering::Relaxed);
        }
    }

    /// Whether a session records one of these events.
    pub(crate) fn is_recorded<'e>(&self, mut events: impl Iterator<Item = &'e Event>) -> bool {
        let recorded = |event: &Event| {
            let index = self.events.iter().position(|other| std::ptr::eq(other, event));
            index.is_none_or(|index| self.recorded[index].load(Ordering::Relaxed))
        };
        self.process.load(Ordering::Relaxed) == 0 || events.any(recorded)
    }

    /// The level up to which spans and events may be recorded.
    pub(crate) fn max_level(&self) -> LevelFilter {
        if self.is_recorded(self.events.iter()) { LevelFilter::TRACE } else { LevelFilter::OFF }
    }

    /// Whether something has changed since the last time.
    fn look(&self) -> bool {
        let all = self.events.iter().zip(&self.recorded);
        let changed = all.filter(|(event, recorded)| {
            let now = (event.enabled)();
            recorded.swap(now, Ordering::Relaxed) != now
        });
        changed.count() > 0
    }
}

fn watch(interests: Weak<Interests>) {
    let this = thread::current();
    THREADS.lock().unwrap_or_else(PoisonError::into_inner).push(this.clone());
    while let Some(interests) = interests.upgrade() {
        if interests.look() {
            rebuild_interest_cache();
        }
        drop(interests);
        thread::park_timeout(PERIOD);
    }
    THREADS.lock().unwrap_or_else(PoisonError::into_inner).retain(|thread| thread.id() != this.id());
}
