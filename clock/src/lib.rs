//! A clock plugin for LTTng-UST that reads the processor's counter, where that can be trusted.
//!
//! LTTng-UST takes the time of each event from `clock_gettime`, which reads the same counter, scales it, and
//! allows for the kernel changing the scale meanwhile. The bare counter takes about half the time; the session
//! daemon writes its frequency and offset to a trace, and whoever reads the trace scales.
//!
//! # Use
//!
//! Both the session daemon and the traced programs must have the library's path in their environment, the daemon
//! because it writes the metadata:
//!
//! ```sh
//! export LTTNG_UST_CLOCK_PLUGIN=/usr/local/lib/liblttng_clock.so
//! lttng-sessiond --daemonize
//! my-program
//! ```
//!
//! # Where it refuses
//!
//! It leaves LTTng-UST's own clock in place and says why on the standard error output if
//!
//! - the processor has no counter that runs at a constant rate in all power states (x86-64: the invariant TSC), or
//! - the kernel does not use the counter for its own clock. Linux does so only where the counters of all processors
//!   agree, and watches it; `/sys/devices/system/clocksource/clocksource0/current_clocksource` has what it uses.
//!
//! # Risk
//!
//! - A daemon with the plugin and a program without, or the reverse, record times that mean nothing. Nothing in a
//!   trace shows which of the two a program had.
//! - The frequency is measured against the monotonic clock once in a daemon's life, when it is first asked for,
//!   from when it was started and for at least 0.2 s. An error of some 0.2 ppm remains, 0.1 ms in ten minutes.
//!   A daemon that runs for days while NTP corrects the system's clock drifts from it by as much as is corrected.
//! - Traces of the kernel have another clock; do not compare times with theirs to less than a millisecond.
//! - The counter goes on after the machine was suspended on some machines and stands still on others.

mod calibration;
mod ffi;

/// Called by LTTng-UST once the library is loaded; the name is part of its interface.
fn start() {
    match lttng_counter::check().and_then(|()| ffi::install()) {
        // From here on until the frequency is asked for, the clock is measured.
        Ok(()) => calibration::begin(),
        Err(reason) => {
            eprintln!("lttng-clock: the processor's counter is not used, LTTng's own clock is: {reason}")
        }
    }
}

/// The name in a trace.
const NAME: &std::ffi::CStr = c"lttng_clock_counter";

/// The description in a trace.
const DESCRIPTION: &std::ffi::CStr = c"Processor counter, calibrated against the monotonic clock";
