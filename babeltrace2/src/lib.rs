//! Babeltrace 2 and `ltt-top`, in both directions.
//!
//! ```text
//! any source of Babeltrace 2 ─> messages ─> transcode: CTF 2 in files without names ─> ctf-reader ─> every analysis
//! ```
//!
//! What Babeltrace hands out is written down as CTF 2, whose model is that of Babeltrace's messages, and read by
//! `ctf-reader`. So there is one path for events through all analyses, whoever read them first.
//!
//! - [`read`] runs a source component and returns the traces; `ltt-top --source babeltrace2` opens them.
//! - The plugin's sinks write what they are handed in the same way, and run `ltt-top` on it. Its source hands what `ctf-reader` reads
//!   to any graph.
//!
//! The library is loaded when it is needed, and `unsafe` is in `ffi` alone.

mod ffi;
mod parameters;
mod plugin;
mod source;
mod transcode;

pub use ffi::Step;
pub use parameters::parameter;
pub use source::{Component, read};
