//! From events to findings, without knowledge of terminals.
//!
//! A [`Question`] is answered by one or more readings of a source. Each reading feeds a collector, which aggregates
//! events in bounded memory; the result is a [`Finding`], plain data that views render.

mod chains;
pub mod empty;
mod fields;
pub mod finding;
mod fold;
pub mod follow;
mod group;
mod groups;
pub mod heat;
pub mod hist;
pub mod histogram;
pub mod incidents;
pub mod info;
mod intervals;
mod key;
mod kinds;
pub mod live;
mod longest;
mod octave;
pub mod outliers;
mod passes;
mod plan;
pub mod quantile;
mod question;
mod reason;
mod roster;
mod selection;
mod slots;
pub mod slow;
mod source_window;
pub mod span;
mod stacks;
mod summary;
#[cfg(test)]
pub(crate) mod synthetic;
pub mod top;
pub mod verdict;

pub use fields::{RecordedField, RecordedFields};
pub use group::Sort;
pub use incidents::IncidentRule;
pub use question::{Finding, Question, ReportFinding};
pub use selection::{EventGlob, EventKind, LeftOut, Misfit, Selection};
pub use source_window::{Failure, SourceWindow};
pub use verdict::{Basis, Rule};
