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
    /// Whether a session records the event: what `lttng_ust_tracepoint_enabled` does in C.
    #[inline(always)]
    pub fn enabled(&self) -> bool {
        // SAFETY: the pointer is valid and aligned as it comes from a reference, and while the program runs,
        // LTTng-UST writes the field with single stores.
        let state = unsafe { AtomicI32::from_ptr(&raw mut (*self.0.get()).state) };
        if state.load(Ordering::Relaxed) == 0 {
            return false;
        }
        unlikely();
        true
    }
}

/// Tells the compiler that its caller's branch is rarely taken.
#[cold]
#[inline(always)]
fn unlikely() {}

/// `struct lttng_provider_text`: text that may have a NUL behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawText<'a> {
    start: *const c_char,
    /// The number of bytes, and [`TERMINATED`] if there is a NUL behind them.
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
            Text::Terminated(text) => (text.as_ptr(), TERMINATED),
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
