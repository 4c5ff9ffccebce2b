//! Return addresses of the callers, for fields of the type `stack`.

#[cfg(tracing)]
use std::ffi::c_int;
use std::ffi::c_void;

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
        // SAFETY: `add_frame` gets back what it is given here, which outlives the call, and does not unwind.
        unsafe { _Unwind_Backtrace(add_frame, (&raw mut *self).cast()) };
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
