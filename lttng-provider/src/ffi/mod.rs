//! What crosses the border to the generated C; meant for generated code alone, and not part of the interface.
//!
//! All of the crate's `unsafe` is here, and in the macros that generated code calls: written out in an
//! application, it would not pass the application's `#![forbid(unsafe_code)]`.

#[cfg(tracing)]
pub(crate) mod clock;
mod copy;
mod field;
#[cfg(unix)]
pub(crate) mod fork;
mod probe;
mod record;
mod stack;
mod switches;

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicI32, AtomicU16, Ordering};

use crate::bindings::lttng_ust_tracepoint;

pub use field::{
    Array, Characters, Counted, Field, Length, List, Network, NetworkArray, NetworkList, Number, Part,
    Terminated, Unrecorded,
};
pub use probe::{ProbeArgument, probe};
pub use record::{Deliver, Fields, PACKED_MAX, Record, Rest, record};
pub use stack::Stack;

/// The version of generated code that fits what is here.
pub const GENERATED: u32 = {
    let digits = env!("LTTNG_PROVIDER_GENERATED").as_bytes();
    assert!(digits.len() == 1);
    (digits[0] - b'0') as u32
};

/// A tracepoint that LTTng-UST knows, defined in generated C.
#[repr(transparent)]
#[derive(Debug)]
pub struct Tracepoint(UnsafeCell<lttng_ust_tracepoint>);

// SAFETY: only `state` and what lies after it are accessed, and those atomically.
unsafe impl Sync for Tracepoint {}

impl Tracepoint {
    /// Where the state lies, from the start.
    pub const STATE: usize = std::mem::offset_of!(lttng_ust_tracepoint, state);

    /// Where the semaphore of the USDT probe lies: in the padding after the state, so that one load tells of both.
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
        // SAFETY: it lies within the struct, in padding, and is aligned; only the kernel writes it.
        unsafe { AtomicU16::from_ptr(self.0.get().cast::<u8>().add(Self::SEMAPHORE).cast()) }
            .load(Ordering::Relaxed)
    }
}

/// Records an event with packed fields of at most `$capacity` bytes, by the two functions that C has for it.
#[doc(hidden)]
#[macro_export]
macro_rules! record {
    ($fields:ident, $capacity:expr, $record:ident, $deliver:ident $(,)?) => {{
        // SAFETY: generated C defines both, with these types.
        unsafe extern "C" {
            fn $record(payload: *const u8, size: usize) -> $crate::ffi::Rest;
            fn $deliver(
                rest: $crate::ffi::Rest,
                payload: *const u8,
                size: usize,
                parts: *const $crate::ffi::Part,
            );
        }
        // SAFETY: the C and these fields are made from the same event of a catalog.
        unsafe { $crate::ffi::record::<{ $capacity }, _>($fields, $record, $deliver) }
    }};
}

/// `true`, and marks the path cold.
#[cold]
#[inline(always)]
pub fn unlikely() -> bool {
    true
}
