//! Whether an event is on: a load and a branch, and no call.
//!
//! rustc reaches a static of C through a table of addresses, because it might be in another library, and so needs an
//! instruction more than C. Ours never is, and on x86-64 we say so.

/// Whether a session records the event of a tracepoint: what `lttng_ust_tracepoint_enabled` does in C.
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

/// Whether a session records the event of a tracepoint, or a tracer is attached to its USDT probe: one load of both.
#[doc(hidden)]
#[macro_export]
macro_rules! tracepoint_or_probe_enabled {
    ($tracepoint:ident) => {{
        // SAFETY: generated C defines it, with the type that LTTng-UST gives it.
        unsafe extern "C" {
            safe static $tracepoint: $crate::ffi::Tracepoint;
        }
        #[cfg(target_arch = "x86_64")]
        let state = {
            let state: i64;
            // SAFETY: an aligned load of eight bytes within the static, which is part of the same library: the state and
            // the padding after it, which has the semaphore.
            unsafe {
                ::core::arch::asm!(
                    "mov {state}, qword ptr [rip + {tracepoint} + {offset}]",
                    state = out(reg) state,
                    tracepoint = sym $tracepoint,
                    offset = const $crate::ffi::Tracepoint::STATE,
                    options(nostack, preserves_flags, readonly),
                );
            }
            state
        };
        #[cfg(not(target_arch = "x86_64"))]
        let state = $tracepoint.state() | i32::from($tracepoint.semaphore());
        state != 0 && $crate::ffi::unlikely()
    }};
}

/// Whether a tracer is attached to the USDT probe with this semaphore.
#[doc(hidden)]
#[macro_export]
macro_rules! probe_enabled {
    ($semaphore:ident) => {{
        // SAFETY: the assembly of the probe defines it; only the kernel writes it.
        unsafe extern "C" {
            safe static $semaphore: ::core::sync::atomic::AtomicU16;
        }
        #[cfg(target_arch = "x86_64")]
        let attached = {
            let attached: u32;
            // SAFETY: an aligned load of two bytes, which are part of the same library.
            unsafe {
                ::core::arch::asm!(
                    "movzx {attached:e}, word ptr [rip + {semaphore}]",
                    attached = out(reg) attached,
                    semaphore = sym $semaphore,
                    options(nostack, preserves_flags, readonly),
                );
            }
            attached
        };
        #[cfg(not(target_arch = "x86_64"))]
        let attached = $semaphore.load(::core::sync::atomic::Ordering::Relaxed);
        attached != 0 && $crate::ffi::unlikely()
    }};
}
