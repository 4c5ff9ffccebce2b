//! The run-time switch of an event: whether it is on, to be told when that changes, and to keep it off.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{process, thread};

/// The switch of an event, from its type's `switch()`.
///
/// Tracers switch events on and off while a program runs. A program can ask to be told, for example to collect what an
/// event needs only while somebody records it, and can keep an event off whatever tracers ask for.
///
/// ```
/// # mod events { include!("../doc/events.rs"); }
/// use events::shop::sold;
///
/// sold::switch().force_off();
/// assert!(!sold::enabled());
/// sold::switch().release();
///
/// let watch = sold::switch().watch(|on| println!("sales are {}", if on { "traced" } else { "not traced" }));
/// drop(watch); // Nothing is told any more.
/// ```
pub struct Switch {
    forced_off: AtomicBool,
    is_traced: fn() -> bool,
}

impl Switch {
    /// The switch of an event that tracers want while this returns true.
    #[doc(hidden)]
    pub const fn new(is_traced: fn() -> bool) -> Switch {
        Switch { forced_off: AtomicBool::new(false), is_traced }
    }

    /// Whether the event is recorded right now: a tracer wants it, and it is not forced off.
    pub fn is_on(&self) -> bool {
        (self.is_traced)() && !self.is_forced_off()
    }

    /// Keeps the event off until [`release`](Switch::release), whatever tracers ask for.
    pub fn force_off(&self) {
        self.forced_off.store(true, Ordering::Relaxed);
    }

    /// Leaves it to tracers again whether the event is on.
    pub fn release(&self) {
        self.forced_off.store(false, Ordering::Relaxed);
    }

    /// Whether the event is kept off.
    #[inline(always)]
    pub fn is_forced_off(&self) -> bool {
        self.forced_off.load(Ordering::Relaxed)
    }

    /// Calls a function whenever the event goes on (`true`) or off, until what is returned is dropped.
    ///
    /// Neither LTTng-UST nor the kernel tells a program, so a thread looks every 50 ms while there is something to
    /// watch; it calls the function, and a change that is undone in between is not seen. A function that panics is not
    /// called again. After a fork, the child watches anew what it wants to be told of. With tracing off nothing is
    /// ever told, and there is no thread.
    pub fn watch(&'static self, told: impl FnMut(bool) + Send + 'static) -> Watch {
        let watched = Arc::new(Watched {
            switch: self,
            alive: AtomicBool::new(true),
            state: Mutex::new(State { was_on: self.is_on(), told: Box::new(told) }),
        });
        if crate::TRACING {
            let mut watching = lock(&WATCHING);
            watching.all.push(Arc::clone(&watched));
            watching.start_thread();
        }
        Watch(watched)
    }
}

impl fmt::Debug for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is_on, forced_off) = (self.is_on(), self.is_forced_off());
        f.debug_struct("Switch").field("is_on", &is_on).field("forced_off", &forced_off).finish()
    }
}

/// See [`Switch::watch`]. A call that has begun when it is dropped may still be running.
#[must_use = "nothing is told once it is dropped"]
pub struct Watch(Arc<Watched>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.alive.store(false, Ordering::Relaxed);
        lock(&WATCHING).all.retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(self.0.switch).finish()
    }
}

struct Watched {
    switch: &'static Switch,
    alive: AtomicBool,
    state: Mutex<State>,
}

struct State {
    was_on: bool,
    told: Box<dyn FnMut(bool) + Send>,
}

impl Watched {
    /// Tells if there is something new.
    fn look(&self) {
        let mut state = lock(&self.state);
        let is_on = self.switch.is_on();
        if is_on == state.was_on || !self.alive.load(Ordering::Relaxed) {
            return;
        }
        state.was_on = is_on;
        if catch_unwind(AssertUnwindSafe(|| (state.told)(is_on))).is_err() {
            self.alive.store(false, Ordering::Relaxed);
        }
    }
}

struct Watching {
    all: Vec<Arc<Watched>>,
    /// The process whose thread looks; after a fork, a child has none.
    process: Option<u32>,
}

static WATCHING: Mutex<Watching> = Mutex::new(Watching { all: Vec::new(), process: None });

const PERIOD: Duration = Duration::from_millis(50);

impl Watching {
    fn start_thread(&mut self) {
        let this = process::id();
        if self.process == Some(this) {
            return;
        }
        // Without a thread nothing is told, and the program is none the worse.
        let thread = thread::Builder::new().name("event-switches".to_owned());
        self.process = thread.spawn(look_while_watched).is_ok().then_some(this);
    }
}

fn look_while_watched() {
    loop {
        let all = {
            let mut watching = lock(&WATCHING);
            if watching.all.is_empty() {
                watching.process = None;
                return;
            }
            watching.all.clone()
        };
        for watched in &all {
            watched.look();
        }
        drop(all);
        thread::sleep(PERIOD);
    }
}

/// What is behind these locks is good even if a holder has panicked.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
