//! What `fork` needs: a registry that is not locked in the child, and LTTng-UST's own hooks if asked for.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::library::Library;
use crate::provider::{Locked, lock};

static FOLLOW: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked and we did not tell LTTng-UST, whose locks may be held by threads that are gone.
static ORPHANED: AtomicBool = AtomicBool::new(false);

/// Whether LTTng-UST must be left alone at the end of this process.
pub(crate) fn is_orphaned() -> bool {
    ORPHANED.load(Ordering::Relaxed)
}

/// Makes children of `fork` record under their own process ID, and register and close providers safely.
///
/// LTTng-UST is told of every `fork` from now on, as if `liblttng-ust-fork.so` were preloaded; it may be. Do not call
/// this in a program that tells LTTng-UST by itself, by `lttng_ust_before_fork` or `lttng_provider::fork`: both at once
/// wait for each other.
pub fn follow_forks() {
    FOLLOW.store(true, Ordering::Relaxed);
    install();
}

/// Keeps the registry consistent across `fork`.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    // SAFETY: the handlers may run in any thread that forks; unloading this library removes them.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child));
    });
}

/// What is kept from before a fork until after it.
struct Held {
    _registry: Locked,
    signals: MaybeUninit<libc::sigset_t>,
    library: Option<&'static Library>,
}

struct HeldCell(UnsafeCell<Option<Held>>);

// SAFETY: only the thread that forks uses it, which holds the lock of the registry meanwhile.
unsafe impl Sync for HeldCell {}

static HELD: HeldCell = HeldCell(UnsafeCell::new(None));

unsafe extern "C" fn before() {
    let library = Library::loaded().filter(|_| FOLLOW.load(Ordering::Relaxed) && !fork_is_wrapped());
    let mut signals = MaybeUninit::uninit();
    // LTTng-UST comes first: its own thread forks while it has its lock, and must not wait here for one who waits for that.
    if let Some(library) = library {
        // SAFETY: the set is for it to fill, and is returned to it after the fork.
        unsafe { (library.before_fork)(signals.as_mut_ptr()) };
    }
    let held = Held { _registry: lock(), signals, library };
    // SAFETY: this thread has the lock.
    unsafe { *HELD.0.get() = Some(held) };
}

unsafe extern "C" fn after_in_parent() {
    after(|library| library.after_fork_in_parent);
}

unsafe extern "C" fn after_in_child() {
    // SAFETY: this thread took the lock in `before`.
    let told = unsafe { (*HELD.0.get()).as_ref().is_some_and(|held| held.library.is_some()) };
    ORPHANED.store(!told, Ordering::Relaxed);
    after(|library| library.after_fork_in_child);
}

fn after(hook: impl Fn(&Library) -> unsafe extern "C" fn(*mut libc::sigset_t)) {
    // SAFETY: this thread took the lock in `before`.
    let Some(Held { _registry: registry, mut signals, library }) = (unsafe { (*HELD.0.get()).take() }) else {
        return;
    };
    drop(registry);
    if let Some(library) = library {
        // SAFETY: the signals are what LTTng-UST put there.
        unsafe { hook(library)(signals.as_mut_ptr()) };
    }
}

/// Whether `liblttng-ust-fork.so` is preloaded, whose `fork` tells LTTng-UST.
fn fork_is_wrapped() -> bool {
    let address = |library: *mut c_void, name: &CStr| -> *mut c_void {
        // SAFETY: the library is loaded, or stands for all of them.
        unsafe { libc::dlsym(library, name.as_ptr()) }
    };
    // SAFETY: neither is loaded by this, so no code runs.
    let [wrapper, own] = [c"liblttng-ust-fork.so.1", c"libc.so.6"]
        .map(|name| unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) });
    let is_wrapped = !wrapper.is_null() && address(own, c"fork") != address(libc::RTLD_DEFAULT, c"fork");
    for library in [wrapper, own].into_iter().filter(|library| !library.is_null()) {
        // SAFETY: `dlopen` returned it.
        unsafe { libc::dlclose(library) };
    }
    is_wrapped
}
