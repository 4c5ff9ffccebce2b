//! A value that each process has for itself: after a fork, the child starts with a new one.

use std::process;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value of the current process. A child must not touch its parent's, whose locks may be held by threads that
/// the child does not have.
pub(crate) struct PerProcess<T: 'static>(AtomicPtr<Owned<T>>);

/// A value, and the process that it belongs to.
pub(crate) struct Owned<T> {
    process: u32,
    value: T,
}

impl<T: Default + Send + Sync> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        PerProcess(AtomicPtr::new(null_mut()))
    }

    /// The value of this process. It is made without a lock, and never freed: one for each process that asks.
    pub(crate) fn get(&self) -> &'static Owned<T> {
        let found = self.0.load(Ordering::Acquire);
        // SAFETY: only pointers to leaked boxes are stored.
        if let Some(found) = unsafe { found.as_ref() }.filter(|found| found.is_current()) {
            return found;
        }
        let new = Box::into_raw(Box::new(Owned { process: process::id(), value: T::default() }));
        match self.0.compare_exchange(found, new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: it is never freed.
            Ok(_) => unsafe { &*new },
            Err(other) => {
                // SAFETY: nothing else has seen ours; another thread of this process has stored the other.
                unsafe {
                    drop(Box::from_raw(new));
                    &*other
                }
            }
        }
    }
}

impl<T> Owned<T> {
    /// Whether it belongs to this process, and not to one that this was forked from.
    pub(crate) fn is_current(&self) -> bool {
        self.process == process::id()
    }

    pub(crate) fn value(&self) -> &T {
        &self.value
    }
}
