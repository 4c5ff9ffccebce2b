//! When a measurement began.
//!
//! It is a single number that is not 0, so that a measurement of a disabled event is a 0 in a register.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::ffi::clock::monotonic;

/// A moment of the monotonic clock, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(NonZeroU64);

impl Moment {
    /// Reads the clock.
    ///
    /// Not inlined: it is called for enabled events only, and would only make its callers larger.
    #[cold]
    #[inline(never)]
    pub(crate) fn now() -> Moment {
        Moment(NonZeroU64::MIN.saturating_add(monotonic()))
    }

    /// The time since then; never negative.
    #[inline(never)]
    pub(crate) fn elapsed(self) -> Duration {
        Duration::from_nanos((monotonic() + 1).saturating_sub(self.0.get()))
    }
}
