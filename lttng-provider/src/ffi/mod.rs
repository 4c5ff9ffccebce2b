//! What crosses the border to the generated C; meant for generated code alone.
//!
//! All of the crate's `unsafe` is here. Generated Rust declares the C functions `safe`, because the types
//! below can only be made from memory that lives long enough.

#[cfg(unix)]
pub(crate) mod fork;

use std::cell::UnsafeCell;
use std::ffi::c_char;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::Text;
use crate::bindings::lttng_ust_tracepoint;

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

/// `true`, and tells the compiler that whoever asks is rarely told so.
#[cold]
#[inline(always)]
pub fn unlikely() -> bool {
    true
}

/// `struct lttng_provider_text`: text that may have a NUL behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawText<'a> {
    start: *const c_char,
    /// The number of bytes, with [`TERMINATED`] if there is a NUL behind them.
    length: usize,
    lifetime: PhantomData<&'a [u8]>,
}

/// No memory is as large as that, so the bit is free.
const TERMINATED: usize = !(usize::MAX >> 1);

impl<'a> RawText<'a> {
    /// Text for a string field.
    #[inline]
    pub fn new(text: Text<'a>) -> Self {
        let (start, length) = match text {
            Text::Bytes(bytes) => (bytes.as_ptr().cast(), bytes.len()),
            Text::Terminated(text) => (text.as_ptr(), text.count_bytes() | TERMINATED),
        };
        RawText { start, length, lifetime: PhantomData }
    }
}

/// `struct lttng_provider_list`: a number of elements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawList<'a, T> {
    start: *const T,
    length: usize,
    lifetime: PhantomData<&'a [T]>,
}

impl<'a, T> RawList<'a, T> {
    /// Elements of a sequence.
    #[inline]
    pub fn new(list: &'a [T]) -> Self {
        RawList { start: list.as_ptr(), length: list.len(), lifetime: PhantomData }
    }
}

impl<'a> RawList<'a, u8> {
    /// Text that needs no NUL.
    #[inline]
    pub fn text(text: Text<'a>) -> Self {
        RawList::new(text.bytes())
    }
}
