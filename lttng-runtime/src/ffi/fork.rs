//! What `fork` needs: a registry that is not locked in the child, and LTTng-UST's own hooks if asked for.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::library::Library;
use crate::provider::{Locked, lock};

static FOLLOW: AtomicBool = AtomicBool::new(false);

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

struct Held {
    registry: UnsafeCell<Option<Locked>>,
    signals: UnsafeCell<MaybeUninit<libc::sigset_t>>,
    told: UnsafeCell<bool>,
}

// SAFETY: only the thread that forks uses it, which holds the lock of the registry meanwhile.
unsafe impl Sync for Held {}

static HELD: Held = Held {
    registry: UnsafeCell::new(None),
    signals: UnsafeCell::new(MaybeUninit::uninit()),
    told: UnsafeCell::new(false),
};

unsafe extern "C" fn before() {
    let registry = lock();
    let library = Library::loaded().filter(|_| FOLLOW.load(Ordering::Relaxed) && !fork_is_wrapped());
    // SAFETY: this thread has the lock.
    unsafe {
        *HELD.registry.get() = Some(registry);
        *HELD.told.get() = library.is_some();
        if let Some(library) = library {
            (library.before_fork)((*HELD.signals.get()).as_mut_ptr());
        }
    }
}

unsafe extern "C" fn after_in_parent() {
    after(|library| library.after_fork_in_parent);
}

unsafe extern "C" fn after_in_child() {
    after(|library| library.after_fork_in_child);
}

fn after(hook: impl Fn(&Library) -> unsafe extern "C" fn(*mut libc::sigset_t)) {
    // SAFETY: this thread took the lock in `before`; the signals are what LTTng-UST put there.
    unsafe {
        if let Some(library) = Library::loaded().filter(|_| *HELD.told.get()) {
            hook(library)((*HELD.signals.get()).as_mut_ptr());
        }
        let registry = (*HELD.registry.get()).take();
        drop(registry);
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
