//! The monotonic clock as a number, which `Instant` does not offer.

/// Nanoseconds of the monotonic clock.
#[inline]
pub(crate) fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock always exists, and `time` is valid for writes.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
