//! From events to findings, without knowledge of terminals.
//!
//! A [`Question`] is answered by one or more readings of a source. Each reading feeds a collector, which aggregates
//! events in bounded memory; the result is a [`Finding`], plain data that views render.
//!
//! ```text
//!  reading ──> groups, durations ──> slow, outliers ──┐
//!     │        info                                   ├──> question: what was asked, what was found
//!     ├──────> compare: two recordings
//!     └──────> intervals ──> incidents <── scheduling ┘
//!              live, follow, timeline: in parts, as they arrive
//!  overview: all of them, for a report
//! ```

pub mod compare;
pub mod durations;
pub mod finding;
pub mod follow;
pub mod groups;
pub mod incidents;
pub mod info;
mod intervals;
pub mod live;
pub mod outliers;
pub mod overview;
mod parallel;
mod question;
pub(crate) mod reading;
mod recent;
pub mod scheduling;
pub mod slow;
pub mod timeline;

pub use incidents::IncidentRule;
pub use question::{Finding, Question, ReportFinding};
pub use reading::{
    EventGlob, EventKind, Failure, LeftOut, Misfit, Processes, RecordedField, RecordedFields, Selection,
    SourceWindow,
};
