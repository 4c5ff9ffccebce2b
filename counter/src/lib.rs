//! The processor's counter as a clock: whether it can be trusted, and at which rate it runs.
//!
//! `clock_gettime` reads the same counter, scales it, and allows for the kernel changing the scale meanwhile. The bare
//! counter takes about half the time. It is shared by `lttng-clock`, which gives events their time, and
//! `lttng-provider`, which measures durations, so that both trust it under the same conditions.

mod clock_pair;
mod ffi;

mod trust;

pub use clock_pair::ClockPair;
pub use ffi::counter;
pub use trust::check;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
