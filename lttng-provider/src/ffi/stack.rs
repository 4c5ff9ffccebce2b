//! Return addresses of the callers, for fields of the type `stack`.
//!
//! Events may be emitted anywhere, signal handlers included, so the unwinder must not take a lock. It finds the tables of a
//! function through `_dl_find_object`, which takes none, since glibc 2.35; older ones take the loader's lock, which the
//! interrupted code may hold. There, and with another libc, no addresses are recorded. What the unwinder does on its first
//! call only is done when the program is loaded.

#[cfg(tracing)]
use std::ffi::c_int;
use std::ffi::c_void;
#[cfg(tracing)]
use std::sync::atomic::{AtomicU8, Ordering};

/// The most frames that are recorded.
const MOST: usize = 32;

/// The return addresses of an event's callers, the nearest first.
#[derive(Debug)]
pub struct Stack {
    frames: [u64; MOST],
    count: usize,
    /// The functions before the first caller.
    skip: usize,
}

impl Stack {
    /// Takes the addresses with the unwinder that panics use: it needs no frame pointers, and reads only memory that its
    /// tables describe.
    #[cold]
    #[inline(never)]
    pub fn capture() -> Stack {
        // This function, and the one that records the event.
        let mut stack = Stack { frames: [0; MOST], count: 0, skip: 2 };
        stack.fill();
        stack
    }

    /// The addresses.
    pub fn frames(&self) -> &[u64] {
        &self.frames[..self.count]
    }

    /// Where the event is emitted.
    pub fn caller(&self) -> *const c_void {
        std::ptr::without_provenance(self.frames().first().copied().unwrap_or_default() as usize)
    }

    #[cfg(tracing)]
    #[inline(always)]
    fn fill(&mut self) {
        if takes_no_lock() {
            // SAFETY: `add_frame` gets back what it is given here, which outlives the call, and does not unwind.
            unsafe { _Unwind_Backtrace(add_frame, (&raw mut *self).cast()) };
        }
    }

    #[cfg(not(tracing))]
    fn fill(&mut self) {
        self.skip = 0;
    }
}

#[cfg(tracing)]
type Callback = unsafe extern "C" fn(context: *mut c_void, stack: *mut c_void) -> c_int;

#[cfg(tracing)]
const GO_ON: c_int = 0;
#[cfg(tracing)]
const END: c_int = 5;

// SAFETY: the unwinder defines these, by the Itanium ABI; the standard library links it.
#[cfg(tracing)]
unsafe extern "C" {
    fn _Unwind_Backtrace(callback: Callback, data: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// # Safety
/// The unwinder calls it, with the `Stack` that it was given.
#[cfg(tracing)]
unsafe extern "C" fn add_frame(context: *mut c_void, stack: *mut c_void) -> c_int {
    // SAFETY: `fill` passes an exclusive reference to a stack.
    let stack = unsafe { &mut *stack.cast::<Stack>() };
    // SAFETY: the context is the unwinder's own.
    let address = unsafe { _Unwind_GetIP(context) };
    if stack.skip > 0 {
        stack.skip -= 1;
        return GO_ON;
    }
    if address == 0 || stack.count == MOST {
        return END;
    }
    stack.frames[stack.count] = address as u64;
    stack.count += 1;
    GO_ON
}

/// Whether the unwinder takes no lock: 0 if that is not known yet, else 1 for no and 2 for yes.
#[cfg(tracing)]
static TAKES_NO_LOCK: AtomicU8 = AtomicU8::new(0);

#[cfg(tracing)]
fn takes_no_lock() -> bool {
    let mut known = TAKES_NO_LOCK.load(Ordering::Relaxed);
    if known == 0 {
        // The text is a constant of the library: asking for it is safe everywhere.
        known = 1 + u8::from(is_lock_free(libc_version()));
        TAKES_NO_LOCK.store(known, Ordering::Relaxed);
    }
    known == 2
}

/// Whether glibc of a version, such as `2.36`, has `_dl_find_object`.
#[cfg(any(tracing, test))]
fn is_lock_free(version: &[u8]) -> bool {
    let mut numbers = version.split(|&byte| byte == b'.').map(|digits| {
        let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0_u32, |number, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
    });
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (2, 35)
}

#[cfg(all(tracing, target_env = "gnu"))]
fn libc_version() -> &'static [u8] {
    // SAFETY: glibc returns a constant text that ends in a NUL.
    unsafe { std::ffi::CStr::from_ptr(super::c_library::gnu_get_libc_version()) }.to_bytes()
}

#[cfg(all(tracing, not(target_env = "gnu")))]
fn libc_version() -> &'static [u8] {
    b""
}

/// Lets the loader resolve what the unwinder calls, before any event is emitted.
#[cfg(all(tracing, target_env = "gnu", not(miri)))]
#[used]
// SAFETY: the section has pointers to functions like this one, which the loader calls once.
#[unsafe(link_section = ".init_array")]
static WARM_UP: extern "C" fn() = {
    extern "C" fn warm_up() {
        Stack::capture();
    }
    warm_up
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unwinding_takes_no_lock_since_glibc_2_35() {
        for (version, is_free) in [
            ("2.35", true),
            ("2.36", true),
            ("3.0", true),
            ("2.34", false),
            ("2.9", false),
            ("2", false),
            ("", false),
        ] {
            assert_eq!(is_lock_free(version.as_bytes()), is_free, "{version}");
        }
    }
}
