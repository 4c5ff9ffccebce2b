//! The processor's counter as a clock: whether it can be trusted, and at which rate it runs.
//!
//! `clock_gettime` reads the same counter, scales it, and allows for the kernel changing the scale meanwhile. The bare
//! counter takes about half the time. The clock plugin, which gives events their time, and the measuring of durations
//! both use this module, so that they trust it under the same conditions.

mod clock_pair;
mod trust;

pub use clock_pair::ClockPair;
pub use trust::check;

pub use crate::ffi::counter::counter;
