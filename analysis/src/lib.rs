//! From traces to findings, without a terminal, a page or a network.
//!
//! A [`Question`] is answered by one or more readings of a [`source`]. Each reading feeds a collector, which aggregates
//! events in bounded memory; the result is a [`Finding`], plain data that views render.
//!
//! ```text
//!  source ──> reading ──> groups, durations ──> slow, outliers ──┐
//!                │        info                                   ├──> question: what was asked, what was found
//!                ├──────> compare: two recordings                │
//!                └──────> intervals ──> incidents <── scheduling ┘
//!                         live, follow, timeline: in parts, as they arrive
//!  overview: all of them, for a report
//! ```
//!
//! Times are nanoseconds since 1970 (`i64`, named `*_ns` in findings), lengths are nanoseconds
//! ([`Ns`](finding::Ns) in findings). Only recorded durations are in another unit until they are summed up:
//! ticks of their [`EventKind`].

pub mod catalogs;
pub mod compare;
pub mod datum;
pub mod durations;
pub mod filter;
pub mod finding;
pub mod follow;
pub mod groups;
pub mod incidents;
pub mod info;
mod intervals;
pub mod live;
pub mod meaning;
pub mod outliers;
pub mod overview;
pub mod pair;
mod parallel;
mod question;
pub(crate) mod reading;
mod recent;
pub mod samples;
pub mod scheduling;
pub mod slow;
pub mod source;
pub mod symbols;
pub mod text;
pub mod timeline;
pub mod unit;

pub use incidents::IncidentRule;
pub use question::{Finding, Question, ReportFinding};
pub use reading::{
    EventGlob, EventKind, Failure, LeftOut, Misfit, Processes, RecordedField, RecordedFields, Selection,
    SourceWindow,
};
