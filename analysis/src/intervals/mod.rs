//! Intervals of single threads, and how they nest.
//!
//! An event that has a duration ends an interval; of a pair of events (`X_entry` and `X_exit`) the second ends the one
//! that the first began. The intervals of a thread end in the order of time, and one that ends later and began earlier
//! contains the others:
//!
//! ```text
//!   turn      ├──────────────────────────────────┤
//!   command      ├───────────┤     ├───────────┤          what no child covers is self time
//!   fork            ├─────┤
//! ```
//!
//! Spans of async programs interleave on a thread. Where events have the numbers of spans (`tracing_span` and
//! `tracing_parent`), they nest by these instead.

mod chain;
mod digester;
mod feed;
mod handover;
mod happening;
mod interval;
mod lexicon;
mod nesting;
mod open;
mod plain;
mod resolver;
mod scene;
mod thread_numbers;
mod threads;
mod translation;

pub(super) use chain::{Link, Neighbour, chain};
pub(super) use digester::{EventDigester, Said};
pub(super) use feed::Feed;
pub(super) use interval::{BriefInterval, Interval, IntervalName, total};
#[cfg(test)]
pub(super) use lexicon::KindEntry;
pub(super) use lexicon::{IntervalKinds, Lexicon};
pub(super) use nesting::{Nesting, SpanNumbers, Spans, Tree};
pub(super) use scene::{Listener, Scene, each_ended};
pub use threads::{Process, Thread};
pub(super) use translation::Translation;
