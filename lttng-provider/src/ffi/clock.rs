//! The monotonic clock as a number, which `Instant` does not offer.

use super::c_library::{CLOCK_MONOTONIC, TimeSpec, clock_gettime};

/// Nanoseconds of the monotonic clock.
#[inline]
pub(crate) fn monotonic() -> u64 {
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the clock always exists, and `time` is valid for writes.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &raw mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}
