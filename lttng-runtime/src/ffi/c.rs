//! The interface for C, documented in `include/lttng-runtime.h`. No panic leaves it, so that no mistake ends a program.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

use super::bindings::lttng_ust_tracepoint;
use super::record::{self, Value};
use super::slots::{Slot, SlotPointer};
use crate::declaration::Error;
use crate::provider::{Event, Provider};

/// The event of a provider that could not be opened: never enabled.
struct Idle(Slot);

// SAFETY: nothing writes it.
unsafe impl Sync for Idle {}

static IDLE: Idle = Idle(Slot {
    // SAFETY: null pointers and zeros are valid.
    tracepoint: unsafe { std::mem::zeroed::<lttng_ust_tracepoint>() },
    shape: AtomicPtr::new(null_mut()),
});

/// Opens a provider; see the header.
///
/// # Safety
/// Texts end in a NUL, and `error` has room for `size` bytes or is null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lttng_runtime_open(
    name: *const c_char,
    events: *const c_char,
    error: *mut c_char,
    size: usize,
) -> *mut Provider {
    // SAFETY: the caller's.
    unsafe {
        let open = || {
            let provider = Provider::new(text(name, "the provider's name")?)?;
            if !events.is_null() {
                provider.add(text(events, "the events")?)?;
            }
            Ok(Box::into_raw(Box::new(provider)))
        };
        answer(open, error, size).unwrap_or(null_mut())
    }
}

/// Adds events to a provider; see the header.
///
/// # Safety
/// The provider is open or null, the text ends in a NUL, and `error` has room for `size` bytes or is null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lttng_runtime_add(
    provider: *const Provider,
    events: *const c_char,
    error: *mut c_char,
    size: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let add = || find(provider)?.add(text(events, "the events")?);
        answer(add, error, size).map_or(-1, |()| 0)
    }
}

/// Finds an event; see the header.
///
/// # Safety
/// The provider was not freed or is null, the name ends in a NUL, and `error` has room for `size` bytes or is null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lttng_runtime_find(
    provider: *const Provider,
    name: *const c_char,
    error: *mut c_char,
    size: usize,
) -> *const Slot {
    // SAFETY: the caller's.
    let found = unsafe { answer(|| find(provider)?.event(text(name, "the event's name")?), error, size) };
    found.map_or(&raw const IDLE.0, |event: Event| event.slot().as_ptr())
}

/// Unregisters a provider's events; see the header.
///
/// # Safety
/// The provider was not freed or is null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lttng_runtime_close(provider: *const Provider) {
    // SAFETY: the caller's.
    let close = || unsafe { find(provider) }.map(Provider::close);
    let _ = catch_unwind(AssertUnwindSafe(close));
}

/// Frees a provider and its events; see the header.
///
/// # Safety
/// The provider was not freed or is null, and none of its events is used any more.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lttng_runtime_free(provider: *mut Provider) {
    if !provider.is_null() {
        // SAFETY: `lttng_runtime_open` made it from a box, and it is freed once.
        let free = || drop(unsafe { Box::from_raw(provider) });
        let _ = catch_unwind(AssertUnwindSafe(free));
    }
}

/// Follows forks; see the header.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn lttng_runtime_follow_forks() {
    super::follow_forks();
}

/// Records an event, with the address that this returns to as its `ip`; see the header.
///
/// # Safety
/// The event was not freed, there are `count` values, and texts are valid for their lengths.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lttng_runtime_record(
    event: SlotPointer,
    values: *const Value<'_>,
    count: usize,
) -> c_int {
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!("mov rcx, [rsp]", "jmp {record}", record = sym record_from);
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!("mov x3, x30", "b {record}", record = sym record_from);
}

unsafe extern "C" fn record_from(
    event: SlotPointer,
    values: *const Value<'_>,
    count: usize,
    ip: *mut c_void,
) -> c_int {
    // SAFETY: the caller's; an empty list may be null.
    unsafe {
        let values = if count == 0 { &[] } else { std::slice::from_raw_parts(values, count) };
        if record::record(event, values, ip) { 0 } else { -1 }
    }
}

/// Records an event from Rust.
#[inline(always)]
pub(crate) fn record(event: &Event, values: &[Value<'_>]) -> bool {
    // SAFETY: the event keeps its provider, and values borrow their texts.
    unsafe { lttng_runtime_record(event.slot(), values.as_ptr(), values.len()) == 0 }
}

/// # Safety
/// The provider was not freed or is null.
unsafe fn find<'a>(provider: *const Provider) -> Result<&'a Provider, Error> {
    // SAFETY: the caller's.
    unsafe { provider.as_ref() }.ok_or_else(|| Error("the provider is NULL: it was not opened".to_owned()))
}

/// # Safety
/// The text ends in a NUL or is null.
unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Error> {
    if text.is_null() {
        return Err(Error(format!("{what} is NULL")));
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| Error(format!("{what} must be UTF-8")))
}

/// Does something; an error is written as a line that ends in a NUL, cut if need be.
///
/// # Safety
/// `error` has room for `size` bytes or is null.
unsafe fn answer<T>(work: impl FnOnce() -> Result<T, Error>, error: *mut c_char, size: usize) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    let line = match done.unwrap_or_else(|_| Err(Error("lttng-runtime failed: please report it".to_owned())))
    {
        Ok(result) => return Some(result),
        Err(Error(line)) => line,
    };
    if !error.is_null() && size > 0 {
        let fits = |&length: &usize| line.is_char_boundary(length);
        let length = (0..=line.len().min(size - 1)).rev().find(fits).unwrap_or(0);
        // SAFETY: the caller's.
        unsafe {
            error.copy_from_nonoverlapping(line.as_ptr().cast(), length);
            error.add(length).write(0);
        }
    }
    None
}

/// Runs when this library is unloaded or the program ends.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;

extern "C" fn at_end() {
    let _ = catch_unwind(crate::provider::unload);
}
