//! The processor's counter itself.

/// The counter. Earlier loads are complete when it is read, so that an event that was seen has an earlier time than
/// one that is emitted afterwards.
///
/// Call [`check`](crate::counter::check) first: a processor without the instruction ends the program.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn counter() -> u64 {
    use std::arch::x86_64::__rdtscp;

    let mut processor = 0;
    // SAFETY: all processors whose counter `check` trusts have the instruction, and it reads no memory.
    unsafe { __rdtscp(&mut processor) }
}

/// The counter, read in order.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn counter() -> u64 {
    let count: u64;
    // SAFETY: Linux lets every program read the virtual counter.
    unsafe { std::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) count, options(nostack)) };
    count
}

/// Whether the processor has a counter that can be read in order, and says that it runs at a constant rate in all
/// power states.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_invariant() -> bool {
    use std::arch::x86_64::__cpuid;

    const FEATURES: u32 = 0x8000_0001;
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    // SAFETY: every x86-64 has the instruction; the largest leaf is asked for first.
    #[allow(unused_unsafe)]
    unsafe {
        let has_rdtscp = __cpuid(FEATURES).edx & (1 << 27) != 0;
        let is_constant = || __cpuid(POWER_MANAGEMENT).edx & (1 << 8) != 0;
        __cpuid(0x8000_0000).eax >= POWER_MANAGEMENT && has_rdtscp && is_constant()
    }
}

/// Guaranteed by the architecture.
#[cfg(target_arch = "aarch64")]
pub(crate) fn is_invariant() -> bool {
    true
}

/// No counter is known for this architecture.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn counter() -> u64 {
    0
}

/// No counter is known for this architecture.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn is_invariant() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_never_goes_back() {
        let mut last = counter();
        for _ in 0..100_000 {
            let now = counter();
            assert!(now >= last);
            last = now;
        }
    }
}
