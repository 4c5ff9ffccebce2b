//! The run-time switch of an event: whether it is on, notifications of changes, and keeping it off.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::ffi::per_process::{Owned, PerProcess};

/// The switch of an event, from its type's `switch()`.
///
/// Tracers switch events on and off while a program runs. A program can be notified, for example to collect what an
/// event needs only while it is recorded, and can keep an event off whatever tracers ask for.
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
/// drop(watch); // No more notifications.
/// ```
pub struct Switch {
    forced_off: AtomicBool,
    is_traced: fn() -> bool,
}

impl Switch {
    /// The switch of an event that tracers want while `is_traced` returns true.
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

    /// Lets tracers decide again whether the event is on.
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
    /// Neither LTTng-UST nor the kernel notifies a program, so a thread polls every 50 ms while something is watched;
    /// it calls the function, and misses a change that is undone in between. A function that panics is not called
    /// again. After a fork, the child has to watch again; what its parent watches is not called there. With tracing
    /// off the function is never called, and no thread is started.
    pub fn watch(&'static self, notify: impl FnMut(bool) + Send + 'static) -> Watch {
        let watched = Arc::new(Watched {
            switch: self,
            alive: AtomicBool::new(true),
            state: Mutex::new(State { was_on: self.is_on(), notify: Box::new(notify) }),
        });
        let watching = crate::TRACING.then(|| WATCHING.get());
        if let Some(watching) = watching {
            watch(watching, Arc::clone(&watched));
        }
        Watch { watched, watching }
    }
}

impl fmt::Debug for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is_on, forced_off) = (self.is_on(), self.is_forced_off());
        f.debug_struct("Switch").field("is_on", &is_on).field("forced_off", &forced_off).finish()
    }
}

/// See [`Switch::watch`]. A call that has begun when it is dropped may still be running.
#[must_use = "dropping it ends the notifications"]
pub struct Watch {
    watched: Arc<Watched>,
    /// Where it is listed.
    watching: Option<&'static Owned<Mutex<Watching>>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watched.alive.store(false, Ordering::Relaxed);
        // The list of another process has no thread here, and may be locked for ever.
        if let Some(watching) = self.watching.filter(|watching| watching.is_current()) {
            lock(watching.value()).all.retain(|other| !Arc::ptr_eq(other, &self.watched));
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(self.watched.switch).finish()
    }
}

struct Watched {
    switch: &'static Switch,
    alive: AtomicBool,
    state: Mutex<State>,
}

struct State {
    was_on: bool,
    notify: Box<dyn FnMut(bool) + Send>,
}

impl Watched {
    /// Notifies if the state has changed.
    fn poll(&self) {
        let mut state = lock(&self.state);
        let is_on = self.switch.is_on();
        if is_on == state.was_on || !self.alive.load(Ordering::Relaxed) {
            return;
        }
        state.was_on = is_on;
        if catch_unwind(AssertUnwindSafe(|| (state.notify)(is_on))).is_err() {
            self.alive.store(false, Ordering::Relaxed);
        }
    }
}

#[derive(Default)]
struct Watching {
    all: Vec<Arc<Watched>>,
    /// Whether the thread that polls is running.
    polled: bool,
}

/// A forked child gets a new list: its parent's may be locked, and its parent's functions are not for the child.
static WATCHING: PerProcess<Mutex<Watching>> = PerProcess::new();

const PERIOD: Duration = Duration::from_millis(50);

fn watch(watching: &'static Owned<Mutex<Watching>>, watched: Arc<Watched>) {
    let mut list = lock(watching.value());
    list.all.push(watched);
    if !list.polled {
        // Without a thread there are no notifications, which harms nothing else.
        let thread = thread::Builder::new().name("event-switches".to_owned());
        list.polled = thread.spawn(|| poll_while_watched(watching.value())).is_ok();
    }
}

fn poll_while_watched(watching: &Mutex<Watching>) {
    loop {
        let all = {
            let mut watching = lock(watching);
            if watching.all.is_empty() {
                watching.polled = false;
                return;
            }
            watching.all.clone()
        };
        for watched in &all {
            watched.poll();
        }
        drop(all);
        thread::sleep(PERIOD);
    }
}

/// The data under these locks is valid even if a holder has panicked.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, tracing))]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc;

    use super::*;
    use crate::ffi::fork::tests::succeeds_in_a_child;

    static TRACED: AtomicBool = AtomicBool::new(false);
    static CALLS_OF_PARENT: AtomicU32 = AtomicU32::new(0);
    static CALLS_OF_CHILD: AtomicU32 = AtomicU32::new(0);
    static SWITCH: Switch = Switch::new(|| TRACED.load(Ordering::Relaxed));

    /// The parent's list is locked by another thread when it forks, as it may be by the thread that polls.
    #[test]
    fn child_watches_although_its_parent_held_the_lock_and_revives_none_of_its_functions() {
        let mut inherited = Some(SWITCH.watch(|_| CALLS_OF_PARENT.store(1, Ordering::Relaxed)));
        let (locked, wait_locked) = mpsc::channel();
        let (release, wait_release) = mpsc::channel::<()>();
        let holder = thread::spawn(move || {
            let _guard = lock(WATCHING.get().value());
            locked.send(()).unwrap();
            let _ = wait_release.recv();
        });
        wait_locked.recv().unwrap();
        let succeeded = succeeds_in_a_child(|| {
            drop(inherited.take());
            let watch = SWITCH.watch(|_| CALLS_OF_CHILD.store(1, Ordering::Relaxed));
            TRACED.store(true, Ordering::Relaxed);
            while CALLS_OF_CHILD.load(Ordering::Relaxed) == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            drop(watch);
            CALLS_OF_PARENT.load(Ordering::Relaxed) == 0
        });
        drop(release);
        holder.join().unwrap();
        assert!(succeeded, "the child hung, or its parent's function was called in it");
    }
}
