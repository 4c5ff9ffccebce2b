//! The part of LTTng-UST's tracepoints that Rust reads.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicI32, AtomicU16, Ordering};

use crate::bindings::lttng_ust_tracepoint;

/// A tracepoint of LTTng-UST, defined in generated C.
#[repr(transparent)]
#[derive(Debug)]
pub struct Tracepoint(UnsafeCell<lttng_ust_tracepoint>);

// SAFETY: only `state` and the padding after it are accessed, both atomically.
unsafe impl Sync for Tracepoint {}

impl Tracepoint {
    /// The offset of the state.
    pub const STATE: usize = std::mem::offset_of!(lttng_ust_tracepoint, state);

    /// The offset of the USDT probe's semaphore: in the padding after the state, so that one load reads both.
    pub const SEMAPHORE: usize = {
        let after_state = Tracepoint::STATE + size_of::<i32>();
        assert!(
            after_state + size_of::<u16>() <= std::mem::offset_of!(lttng_ust_tracepoint, probes)
                || size_of::<usize>() < 8
        );
        after_state
    };

    /// The state; not 0 while a session records the event.
    #[inline(always)]
    pub fn state(&self) -> i32 {
        // SAFETY: the pointer is valid and aligned as it comes from a reference, and while the program runs,
        // LTTng-UST writes the field with single stores.
        unsafe { AtomicI32::from_ptr(&raw mut (*self.0.get()).state) }.load(Ordering::Relaxed)
    }

    /// The semaphore; not 0 while a tracer is attached to the USDT probe.
    #[inline(always)]
    pub fn semaphore(&self) -> u16 {
        // SAFETY: it is in the struct's padding, and aligned; only the kernel writes it.
        unsafe { AtomicU16::from_ptr(self.0.get().cast::<u8>().add(Self::SEMAPHORE).cast()) }
            .load(Ordering::Relaxed)
    }
}
