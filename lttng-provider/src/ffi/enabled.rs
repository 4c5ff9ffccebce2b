//! Whether an event is on: a load and a branch, without a call.
//!
//! rustc reaches a static of C through the global offset table, because it might be in another library, and so needs
//! one instruction more than C. Ours is always in the same library, so on x86-64 the load is written in assembly.

/// Whether a static that generated code defines in the same library is not 0. `$load` is an x86-64 instruction that
/// loads it, from `$offset` on, into a register; `$portable` is the same load in Rust.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_not_zero {
    ($symbol:ident: $type:ty, $register:ty, $load:literal, $offset:expr, $portable:expr) => {{
        // SAFETY: generated code defines it with this type.
        unsafe extern "C" {
            safe static $symbol: $type;
        }
        #[cfg(target_arch = "x86_64")]
        let value = {
            let value: $register;
            // SAFETY: an aligned load within the static, which is part of the same library.
            unsafe {
                ::core::arch::asm!(
                    $load,
                    value = out(reg) value,
                    symbol = sym $symbol,
                    offset = const $offset,
                    options(nostack, preserves_flags, readonly),
                );
            }
            value
        };
        #[cfg(not(target_arch = "x86_64"))]
        let value = $portable;
        value != 0 && $crate::__private::unlikely()
    }};
}

/// Whether a session records the event of a tracepoint: what `lttng_ust_tracepoint_enabled` does in C.
#[doc(hidden)]
#[macro_export]
macro_rules! __tracepoint_enabled {
    ($tracepoint:ident) => {
        $crate::__private::is_not_zero!(
            $tracepoint: $crate::__private::Tracepoint,
            i32,
            "mov {value:e}, dword ptr [rip + {symbol} + {offset}]",
            $crate::__private::Tracepoint::STATE,
            $tracepoint.state()
        )
    };
}

/// Whether a session records the event of a tracepoint, or a tracer is attached to its USDT probe: one load of the
/// state and of the padding after it, which has the semaphore.
#[doc(hidden)]
#[macro_export]
macro_rules! __tracepoint_or_probe_enabled {
    ($tracepoint:ident) => {
        $crate::__private::is_not_zero!(
            $tracepoint: $crate::__private::Tracepoint,
            i64,
            "mov {value}, qword ptr [rip + {symbol} + {offset}]",
            $crate::__private::Tracepoint::STATE,
            $tracepoint.state() | i32::from($tracepoint.semaphore())
        )
    };
}

/// Whether a tracer is attached to the USDT probe with this semaphore, which only the kernel writes.
#[doc(hidden)]
#[macro_export]
macro_rules! __probe_enabled {
    ($semaphore:ident) => {
        $crate::__private::is_not_zero!(
            $semaphore: ::core::sync::atomic::AtomicU16,
            u32,
            "movzx {value:e}, word ptr [rip + {symbol} + {offset}]",
            0,
            $semaphore.load(::core::sync::atomic::Ordering::Relaxed)
        )
    };
}
