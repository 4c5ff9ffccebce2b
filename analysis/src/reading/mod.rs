//! Which events count, what is read of each, and why nothing may be left.

pub(super) mod angle;
pub(super) mod beside;
pub(super) mod empty;
pub(super) mod failure;
pub(super) mod fields;
pub(super) mod grown;
pub(super) mod in_passing;
pub(super) mod key;
pub(super) mod kinds;
pub(super) mod passes;
pub(super) mod plan;
pub(super) mod roster;
pub(super) mod selection;
pub(super) mod source_window;
#[cfg(test)]
pub(crate) mod synthetic;

pub use failure::{Failure, Misfit};
pub use fields::{RecordedField, RecordedFields};
pub use selection::{EventGlob, EventKind, LeftOut, Processes, Selection};
pub use source_window::SourceWindow;

pub(super) use angle::Angle;
pub(super) use beside::{CollectBeside, Pair};
pub(super) use fields::{CommonField, KeptFields};
pub(super) use grown::grown;
pub(super) use in_passing::{CollectInPassing, InPassing};
pub(super) use kinds::Kinds;
pub(super) use passes::Passes;
pub(super) use plan::ClassPlan;
pub(super) use roster::Roster;
pub(super) use selection::PROCESS;
