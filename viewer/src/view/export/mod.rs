//! Timelines as files for other programs.
//!
//! ```text
//! parts of a timeline ──> gather (what fits: room) ──> sorter ──> nest ──> chrome, perfetto or speedscope
//! ```

mod chrome;
mod gather;
mod nest;
mod perfetto;
mod protobuf;
mod room;
mod sorter;
mod speedscope;
mod tracks;
mod writer;

pub use gather::{TimelineFile, TimelineFormat, Written};
