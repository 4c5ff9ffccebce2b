//! Forking a traced process.

#[cfg(lttng)]
use std::ffi::{CStr, c_void};
use std::io;

use super::c_library;
#[cfg(lttng)]
use super::c_library::SignalSet;

/// Which of the two processes this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fork {
    /// The one that forked.
    Parent {
        /// The child's process ID.
        child: u32,
    },
    /// The new one.
    Child,
}

/// `fork(2)`, after which both processes are traced separately.
///
/// With tracing off it is only `fork(2)`. The error is that of `fork(2)`, which also leaves `errno`.
/// `liblttng-ust-fork.so`, which LTTng's documentation recommends to preload, may be loaded as well: its wrapper of
/// `fork` then notifies LTTng-UST, and this function does not do so again.
///
/// ```
/// use lttng_provider::{Fork, fork};
///
/// // SAFETY: the program has no other thread.
/// match unsafe { fork() } {
///     Ok(Fork::Parent { child }) => println!("the child is {child}"),
///     Ok(Fork::Child) => std::process::exit(0),
///     Err(error) => println!("cannot fork: {error}"),
/// }
/// ```
///
/// # Safety
/// As for `fork(2)`: the child has only the calling thread, while locks and other state are as they were,
/// so until it calls `exec` the child of a program with several threads may only do what is safe in a
/// signal handler. Emitting events is.
pub unsafe fn fork() -> io::Result<Fork> {
    let around = Around::begin();
    // SAFETY: the caller keeps the contract.
    let pid = unsafe { c_library::fork() };
    let result = match pid {
        0 => Ok(Fork::Child),
        1.. => Ok(Fork::Parent { child: pid.unsigned_abs() }),
        _ => Err(io::Error::last_os_error()),
    };
    around.end(pid == 0);
    result
}

/// The hooks of LTTng-UST around a fork: none with tracing off.
#[cfg(not(lttng))]
struct Around;

#[cfg(not(lttng))]
impl Around {
    fn begin() -> Around {
        Around
    }

    fn end(self, _in_child: bool) {}
}

/// The hooks of LTTng-UST around a fork, if the providers have loaded it.
#[cfg(lttng)]
struct Around {
    hooks: Option<Hooks>,
    /// The signals that were blocked before; LTTng-UST blocks all of them meanwhile.
    signals: SignalSet,
}

#[cfg(lttng)]
impl Around {
    fn begin() -> Around {
        // SAFETY: all-zero is a valid signal set.
        let mut signals = unsafe { std::mem::zeroed() };
        let hooks = if fork_is_wrapped() { None } else { Hooks::find() };
        if let Some(hooks) = &hooks {
            // SAFETY: the set is ours to fill, and `end` follows in both processes.
            unsafe { (hooks.before)(&mut signals) };
        }
        Around { hooks, signals }
    }

    fn end(mut self, in_child: bool) {
        let Some(hooks) = self.hooks else { return };
        let after = if in_child { hooks.after_in_child } else { hooks.after_in_parent };
        // SAFETY: errno belongs to this thread, and the hook may change it; the set is what `before` filled.
        unsafe {
            let errno = *c_library::__errno_location();
            after(&mut self.signals);
            *c_library::__errno_location() = errno;
        }
    }
}

/// The functions of <lttng/ust-fork.h>.
#[cfg(lttng)]
struct Hooks {
    before: Hook,
    after_in_parent: Hook,
    after_in_child: Hook,
}

#[cfg(lttng)]
type Hook = unsafe extern "C" fn(*mut SignalSet);

#[cfg(lttng)]
impl Hooks {
    fn find() -> Option<Hooks> {
        Some(Hooks {
            before: find(c"lttng_ust_before_fork")?,
            after_in_parent: find(c"lttng_ust_after_fork_parent")?,
            after_in_child: find(c"lttng_ust_after_fork_child")?,
        })
    }
}

#[cfg(lttng)]
fn find(name: &CStr) -> Option<Hook> {
    let address = symbol(c_library::RTLD_DEFAULT, name);
    // SAFETY: all functions that are looked up have this type; a null pointer becomes `None`.
    unsafe { std::mem::transmute::<*mut c_void, Option<Hook>>(address) }
}

/// Whether `fork` calls the hooks itself: `liblttng-ust-fork.so` is loaded, and `fork` is not that of libc.
/// Calling them here as well would deadlock on a lock that this thread holds, with all signals blocked.
#[cfg(lttng)]
fn fork_is_wrapped() -> bool {
    let Some(_wrapper) = Library::loaded(c"liblttng-ust-fork.so.1") else { return false };
    let called = symbol(c_library::RTLD_DEFAULT, c"fork");
    match Library::loaded(c"libc.so.6") {
        Some(libc) => symbol(libc.0, c"fork") != called,
        None => true,
    }
}

#[cfg(lttng)]
pub(super) fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: the library is loaded, or the pseudo-handle of all, and the name ends in a NUL.
    unsafe { c_library::dlsym(library, name.as_ptr()) }
}

/// A library that the program has loaded.
#[cfg(lttng)]
struct Library(*mut c_void);

#[cfg(lttng)]
impl Library {
    /// The library of this name, if it is loaded already.
    fn loaded(name: &CStr) -> Option<Library> {
        // SAFETY: the name ends in a NUL; no library is loaded, so none runs code.
        let library =
            unsafe { c_library::dlopen(name.as_ptr(), c_library::RTLD_NOW | c_library::RTLD_NOLOAD) };
        if library.is_null() { None } else { Some(Library(library)) }
    }
}

#[cfg(lttng)]
impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: `dlopen` returned it, and each is closed once.
        unsafe { c_library::dlclose(self.0) };
    }
}

#[cfg(all(test, tracing))]
pub(crate) mod tests {
    use super::*;

    /// Whether the work returns true in a forked child, which is ended if it takes longer than half a minute.
    pub(crate) fn succeeds_in_a_child(work: impl FnOnce() -> bool) -> bool {
        // SAFETY: the work takes no lock that another thread of the tests can hold but that of the allocator, which
        // the C library releases in the child.
        match unsafe { fork() }.expect("a child") {
            Fork::Child => {
                // SAFETY: both only end this process, the second without running what tests leave to be done at exit.
                unsafe {
                    libc::alarm(30);
                    libc::_exit(if work() { 0 } else { 1 })
                }
            }
            Fork::Parent { child } => {
                let mut status = 0;
                // SAFETY: it is our child, and `status` is valid for writes.
                let waited = unsafe { libc::waitpid(child as libc::pid_t, &raw mut status, 0) };
                assert_eq!(waited, child as libc::pid_t);
                status == 0
            }
        }
    }
}
