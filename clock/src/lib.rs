//! A clock plugin for LTTng-UST that reads the processor's counter, where that can be trusted.
//!
//! LTTng-UST takes the time of each event from `clock_gettime`, which reads the same counter, scales it, and
//! allows for the kernel changing the scale meanwhile. The bare counter takes about half the time; the session
//! daemon writes its frequency and offset to the trace, and readers of the trace scale.
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
//! It keeps LTTng-UST's clock and says why on the standard error if
//!
//! - the processor has no counter that runs at a constant rate in all power states (x86-64: the invariant TSC), or
//! - the kernel does not use the counter for its own clock. Linux does so only where the counters of all processors
//!   agree, and watches it; `/sys/devices/system/clocksource/clocksource0/current_clocksource` has what it uses.
//!
//! # Risk
//!
//! - A daemon with the plugin and a program without, or the reverse, record times that mean nothing. Nothing in a
//!   trace shows which of the two clocks a program had.
//! - The frequency is measured against the monotonic clock once in a daemon's life, when it is first asked for,
//!   from when it was started and for at least 0.2 s. An error of some 0.2 ppm remains, 0.1 ms in ten minutes.
//!   The times of a daemon that runs for days drift from the system's clock by what NTP corrects in it.
//! - Traces of the kernel have another clock; do not compare times with theirs to less than a millisecond.
//! - While a machine is suspended, the counter runs on some machines and stops on others.

mod calibration;
mod ffi;
