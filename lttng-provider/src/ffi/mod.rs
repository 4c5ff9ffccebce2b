//! What crosses the border to the generated C; for generated code only, and not part of the interface.
//!
//! All of the crate's `unsafe` is here, and in the macros that generated code calls: written out in an
//! application, it would not pass the application's `#![forbid(unsafe_code)]`.

// What is called depends on how tracing is on.
#[cfg(unix)]
#[allow(dead_code)]
mod c_library;
#[cfg(tracing)]
pub(crate) mod clock;
mod copy;
mod enabled;
#[cfg(unix)]
pub(crate) mod fork;
#[cfg(feature = "derive")]
mod future;
mod length;
mod list;
mod number;
mod pack;
pub(crate) mod per_process;
mod probe;
mod record;
#[cfg(lttng)]
mod session_start;
mod stack;
#[cfg(feature = "derive")]
mod stream;
mod text;
mod tracepoint;
mod unlikely;

#[cfg(feature = "derive")]
pub use future::{Slot, Stage, TracedFuture};
pub use length::Length;
pub use list::{Array, List, NetworkArray, NetworkList};
pub use number::{Network, Number};
pub use pack::{Pack, Part, Unrecorded};
pub use probe::{ProbeArgument, ProbeFunction};
pub use record::{
    Deliver, Fields, Functions, PACKED_MAX, Record, RecordNumbers, Rest, call_site, record_numbers,
};
#[cfg(lttng)]
pub use session_start::on_session_start;
pub use stack::Stack;
#[cfg(feature = "derive")]
pub use stream::TracedStream;
pub use text::{Characters, Counted, Terminated};
pub use tracepoint::Tracepoint;
pub use unlikely::unlikely;

/// Without LTTng-UST there are no sessions.
#[cfg(not(lttng))]
pub fn on_session_start(_: fn()) {}

/// The version of generated code that fits what is here.
pub const GENERATED: u32 = {
    let digits = env!("LTTNG_PROVIDER_GENERATED").as_bytes();
    assert!(digits.len() == 1);
    (digits[0] - b'0') as u32
};
