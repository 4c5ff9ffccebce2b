//! Reads traces with Babeltrace 2, to compare [`ctf_reader`] with.
//!
//! Both feed the same collectors, so anything that is computed from a trace can be computed twice:
//!
//! ```no_run
//! use babeltrace2_source::Babeltrace2;
//! use ctf_reader::{Nothing, Progress, Reader, Window, discover};
//!
//! let found = discover(&["my-trace"])?;
//! let report = Reader::open_found(found.clone())?.read(Window::default(), Nothing, &Progress::default()).report;
//! let (_, other) = Babeltrace2::new(found).read(Window::default(), Nothing, &Progress::default())?;
//! assert_eq!(other.events, report.events);
//! # Ok::<(), ctf_reader::Error>(())
//! ```
//!
//! ```text
//! folders ─> survey ─────> staging ─> graph ─> event_feed ─> collector      source: runs these, trace by trace
//!            packet_layout what is    ffi      classes
//!            packets       undamaged           fields
//! ```
//!
//! Babeltrace decodes. This crate works around what its version 2.0.4 gets wrong:
//!
//! | 2.0.4 | here |
//! |---|---|
//! | refuses a trace for one damaged file, loops on a packet of size 0, crashes on a corrupt index | is given undamaged files only (`survey`, `staging`) |
//! | crashes on a corrupt length, and reads a packet's last event beyond its end | corrupt events are cut off before (`survey`) |
//! | ends all streams at the first error | each stream fails alone (`ffi`) and continues after the bad packet |
//! | leaves an error with the thread after a success, so that the next call aborts | it is taken (`ffi`) |
//! | shows stale bytes for an empty string | the length decides (`ffi`) |
//! | leaves out what was discarded by the end of a stream's first packet | it is read from the packet (`event_feed`) |
//!
//! Where packets are is known for LTTng's own layout alone (`packet_layout`); other traces go to Babeltrace as they
//! are. Packets that end before they begin, because the clock was set back, are left out and named.
//!
//! Where events are damaged, [`ctf_reader`] says, so on damaged traces the two do not check each other independently.

#![deny(unsafe_code)]

mod classes;
mod event_feed;
#[allow(unsafe_code)]
mod ffi;
mod fields;
mod packet_layout;
mod packets;
mod source;
mod staging;
mod survey;

pub use source::Babeltrace2;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
