//! This process: its clock, its threads, and its forks.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::turns::Turns;

/// Whether a server has loaded the module in this process; a forked child has not.
static LOADED: AtomicBool = AtomicBool::new(false);
/// The thread that serves clients, as `pthread_self` gives it.
static MAIN_THREAD: AtomicU64 = AtomicU64::new(0);
/// When the last fork began, and how long it took, in nanoseconds.
static FORK_BEGAN: AtomicU64 = AtomicU64::new(0);
static FORK_TOOK: AtomicU64 = AtomicU64::new(0);

/// The turns of the server's event loop.
pub static TURNS: Turns = Turns::new();
/// Whether a child is at work.
pub static HAS_CHILD: AtomicBool = AtomicBool::new(false);

/// Nanoseconds of the monotonic clock.
#[inline]
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock always exists, and `time` is valid for writes.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time, or 0 for a time that nobody wants to know.
#[inline]
pub fn now_if(wanted: bool) -> u64 {
    if wanted { now() } else { 0 }
}

/// From here on, this thread is the one that serves clients.
pub fn load() {
    // SAFETY: the library stays loaded (`-z nodelete`), so the handlers stay valid.
    unsafe {
        MAIN_THREAD.store(libc::pthread_self(), Relaxed);
        libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork_in_child));
    }
    LOADED.store(true, Relaxed);
}

/// Whether the module is loaded in this process, and not only inherited from a parent.
#[inline]
pub fn is_loaded() -> bool {
    LOADED.load(Relaxed)
}

/// Records nothing from here on.
pub fn give_up() {
    LOADED.store(false, Relaxed);
}

/// Whether this is the thread that serves clients, in a server that has loaded the module.
pub fn is_main_thread() -> bool {
    // SAFETY: it always succeeds.
    is_loaded() && MAIN_THREAD.load(Relaxed) == unsafe { libc::pthread_self() }
}

/// How long the last fork took, once.
pub fn take_fork() -> Option<u64> {
    let took = FORK_TOOK.swap(0, Relaxed);
    (took != 0).then_some(took)
}

unsafe extern "C" fn before_fork() {
    FORK_BEGAN.store(if is_main_thread() { now() } else { 0 }, Relaxed);
}

unsafe extern "C" fn after_fork() {
    let began = FORK_BEGAN.load(Relaxed);
    if began != 0 {
        FORK_TOOK.store(now().saturating_sub(began).max(1), Relaxed);
    }
}

/// The child has its parent's buffers, and what it did would be recorded as its parent's.
unsafe extern "C" fn after_fork_in_child() {
    give_up();
}

/// Whether LTTng-UST is loaded, which the providers do if it is installed.
pub fn has_lttng() -> bool {
    // SAFETY: the name ends in a NUL, and nothing is loaded, so no code runs.
    unsafe {
        let library = libc::dlopen(c"liblttng-ust.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return false;
        }
        libc::dlclose(library);
    }
    true
}

/// Whether the process calls libc through this library, because it was preloaded.
pub fn is_preloaded() -> bool {
    // SAFETY: the name ends in a NUL.
    let called = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"fdatasync".as_ptr()) };
    let ours: unsafe extern "C" fn() = before_fork;
    matches!((library_of(called), library_of(ours as *mut c_void)), (Some(called), Some(ours)) if called == ours)
}

/// Where the library that has this address begins.
fn library_of(address: *mut c_void) -> Option<usize> {
    // SAFETY: all zeros are a valid value of plain pointers, and `dladdr` fills it.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(address, &raw mut found) != 0).then_some(found.dli_fbase as usize)
    }
}
