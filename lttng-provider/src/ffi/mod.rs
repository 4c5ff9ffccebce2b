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
mod record;

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::bindings::lttng_ust_tracepoint;

pub use field::{
    Array, Characters, Counted, Field, Length, List, Network, NetworkArray, NetworkList, Number, Part,
    Terminated, Unrecorded,
};
pub use record::{Deliver, Fields, PACKED_MAX, Record, Rest, record};

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

// SAFETY: only `state` is accessed, and that atomically.
unsafe impl Sync for Tracepoint {}

impl Tracepoint {
    /// Where the state lies, from the start.
    pub const STATE: usize = std::mem::offset_of!(lttng_ust_tracepoint, state);

    /// The state; not 0 while a session records the event.
    #[inline(always)]
    pub fn state(&self) -> i32 {
        // SAFETY: the pointer is valid and aligned as it comes from a reference, and while the program runs,
        // LTTng-UST writes the field with single stores.
        unsafe { AtomicI32::from_ptr(&raw mut (*self.0.get()).state) }.load(Ordering::Relaxed)
    }
}

/// Whether a session records the event of a tracepoint: what `lttng_ust_tracepoint_enabled` does in C.
///
/// rustc reaches a static of C through a table of addresses, because it might be in another library, and so
/// needs an instruction more than C. Ours never is, and on x86-64 we say so.
#[doc(hidden)]
#[macro_export]
macro_rules! tracepoint_enabled {
    ($tracepoint:ident) => {{
        // SAFETY: generated C defines it, with the type that LTTng-UST gives it.
        unsafe extern "C" {
            safe static $tracepoint: $crate::ffi::Tracepoint;
        }
        #[cfg(target_arch = "x86_64")]
        let state = {
            let state: i32;
            // SAFETY: an aligned load of four bytes within the static, which is part of the same library.
            unsafe {
                ::core::arch::asm!(
                    "mov {state:e}, dword ptr [rip + {tracepoint} + {offset}]",
                    state = out(reg) state,
                    tracepoint = sym $tracepoint,
                    offset = const $crate::ffi::Tracepoint::STATE,
                    options(nostack, preserves_flags, readonly),
                );
            }
            state
        };
        #[cfg(not(target_arch = "x86_64"))]
        let state = $tracepoint.state();
        state != 0 && $crate::ffi::unlikely()
    }};
}

/// Records an event with packed fields of at most `$capacity` bytes, by the two functions that C has for it.
#[doc(hidden)]
#[macro_export]
macro_rules! record {
    ($capacity:expr, $record:ident, $deliver:ident $(, $field:expr)* $(,)?) => {{
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
        let fields = ($($field,)*);
        // SAFETY: the C and these fields are made from the same event of a catalog.
        unsafe { $crate::ffi::record::<{ $capacity }, _>(fields, $record, $deliver) }
    }};
}

/// `true`, and marks the path cold.
#[cold]
#[inline(always)]
pub fn unlikely() -> bool {
    true
}
