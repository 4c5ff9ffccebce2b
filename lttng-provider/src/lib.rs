//! Runtime of catalog-driven LTTng-UST providers.
//!
//! A catalog (a TOML file) lists an application's events. `lttng_provider_build::compile` in the
//! application's `build.rs` turns it into LTTng-UST providers and a Rust type for each event;
//! [`include_events!`] brings those types into the application. This crate is their runtime.
//!
//! ```
//! # // What `include_events!()` gives for a catalog with the provider `shop` and two events.
//! # mod events { include!("../doc/events.rs"); }
//! use events::shop;
//! use lttng_provider::emit;
//!
//! // Nothing in the parentheses is evaluated unless a session records the event.
//! emit!(shop::sold("apples", 3));
//!
//! // How long something took; the clock is read only if a session records the event.
//! let total = shop::checkout::timed(|| 3 * 7);
//! assert_eq!(total, 21);
//! ```
//!
//! # Structs, enums and functions
//!
//! With the feature `derive`, which is on by default, macros do the same for existing code, and check it against
//! the catalog at compile time: [`Event`](macro@Event) for a struct,
//! [`EventEnum`](macro@EventEnum) for an enum, and [`traced`](macro@traced) for a function to be measured.
//!
//! ```
//! # mod events { include!("../doc/events.rs"); }
//! # use events::shop;
//! use lttng_provider::{Event, traced};
//!
//! #[derive(Event)]
//! #[event(shop::sold, catalog = "doc/shop.toml")]
//! struct Sold<'a> {
//!     item: &'a str,
//!     count: u32,
//! }
//!
//! #[traced(shop::checkout, catalog = "doc/shop.toml")]
//! fn pay(sold: &Sold<'_>) {
//!     sold.emit();
//! }
//! # pay(&Sold { item: "apples", count: 3 });
//! ```
//!
//! Only a crate whose build script compiles no catalog needs `catalog = "…"`.
//!
//! # On and off
//!
//! Tracing is off unless a back end is on: by a feature of this crate (an application forwards it:
//! `lttng = ["lttng-provider/lttng"]`) or by the environment of the build.
//!
//! | feature | environment | events are recorded by | the build needs |
//! |---|---|---|---|
//! | `lttng` | `USE_LTTNG=yes` | LTTng-UST | a C compiler, the headers of LTTng-UST 2.13 or newer |
//! | `usdt` | `USE_USDT=yes` | tracers of USDT probes: bpftrace, gdb, perf, SystemTap | nothing; Linux on x86_64 or aarch64 |
//!
//! Both can be on; [`emit!`], guards and the macros are the same for either. Off, no C is
//! compiled, nothing is linked, no system package is needed, every event's `enabled()` is a constant
//! `false`, and all of this builds on any platform. A program with LTTng-UST on also starts without it: it is loaded if it
//! is installed.
//!
//! # USDT probes
//!
//! A probe has the names of its provider and event. Its arguments are the event's, in order: numbers as they are, floats as
//! their bits, `string` and `[char; N]` as a pointer to text that ends in a NUL and is cut at 255 bytes, `text` and sequences as
//! a pointer and a length, arrays as a pointer. A probe has at most 12; if the event has more, the duration and the
//! fields that group the event come first.
//!
//! ```text
//! USE_USDT=yes cargo build --example emit-all
//! bpftrace -e 'usdt:./emit-all:valkey_commands:command_call { @us[str(arg3)] = hist(arg4); }' -c './emit-all 1000'
//! ```
//!
//! # At run time
//!
//! Each event has a [`Switch`]: it notifies a program when the event begins or ceases to be recorded, and can keep it off.
//!
//! A field of the type `stack` records the callers' return addresses. `ltt-top` shows their functions and lines if the
//! session also records where binaries are: `lttng enable-event -u 'lttng_ust_statedump:*'`.
//!
//! # Limits
//!
//! - A text of any kind is recorded up to 64 KiB; see [`Text`].
//! - LTTng discards an event that is larger than a sub-buffer of its channel.
//! - A crate with a catalog cannot be a Rust `dylib`: its events' functions are inlined into the crates that
//!   call them, and refer to C that a `dylib` does not export. `rlib`, `staticlib` and `cdylib` are fine.

#[rustfmt::skip]
mod bindings;
mod duration;
mod event;
mod ffi;
mod macros;
mod measurement;
#[cfg_attr(not(tracing), path = "moment_off.rs")]
mod moment;
mod owned_text;
#[cfg(feature = "derive")]
mod polled_time;
mod switch;
mod text;
mod unit;
mod value;

pub use duration::{Guard, NoDetails, Stopwatch};
pub use event::{DurationEvent, Event};
#[cfg(unix)]
pub use ffi::fork::{Fork, fork};
#[cfg(feature = "derive")]
pub use lttng_provider_derive::{Event, EventEnum, EventValue, traced};
pub use owned_text::OwnedText;
pub use switch::{Switch, Watch};
pub use text::Text;
pub use unit::Unit;
pub use value::{Time, Value};

/// For generated code and the macros. Not part of the interface: our own crates ask for exactly
/// this version.
#[doc(hidden)]
pub mod __private {
    pub use crate::ffi::*;
    pub use crate::measurement::{Clock, ClockGuard, Entry, Measurement, Returns};
    pub use crate::value::{Fallible, TracedValue};
    pub use crate::{
        __is_not_zero as is_not_zero, __probe as probe, __probe_enabled as probe_enabled, __record as record,
        __record_numbers as record_numbers, __start_probe as start_probe, __traced as traced,
        __tracepoint_enabled as tracepoint_enabled,
        __tracepoint_or_probe_enabled as tracepoint_or_probe_enabled, __usdt_probe as usdt_probe,
        __usdt_semaphores as usdt_semaphores,
    };
}

/// Whether tracing is built in.
pub const TRACING: bool = cfg!(tracing);
