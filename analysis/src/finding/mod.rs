//! Findings: plain, serialisable data in which every figure is final.
//!
//! A view (a table, JSON, CSV) only renders a finding: it rounds, aligns and escapes, but computes nothing.
//! Serialised, a finding is the JSON that `docs/findings.schema.json` describes.

mod empty;
mod event;
mod group;
mod json;
mod link;
mod notes;
mod ns;
#[cfg(test)]
mod schema;
pub(super) mod span;
mod trace;

pub use empty::{Empty, EmptyCause};
pub use event::EventFinding;
pub use group::{FoldedFinding, GroupFinding, GroupName, Percentiles};
pub use json::{VERSION, with_times};
pub use link::LinkFinding;
pub use notes::{Forgotten, Notes};
pub use ns::Ns;
pub use span::Span;
pub use trace::{DamageFinding, StepsFinding, TraceFinding};

pub(super) use group::group_in_words;
pub(super) use notes::guessed;
