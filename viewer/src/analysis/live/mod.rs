//! Events as they arrive: groups over the last seconds and minutes, incidents, and snapshots of both at any time.
//!
//! ```text
//! lttng_live::Live ─> intake (merge) ─> analysis ─┬─> board: groups, slices of time
//!                                                 └─> incidents::Watch
//! ```

mod analysis;
mod board;
mod finding;
mod intake;
mod slices;
mod steps;

pub use analysis::{FrozenAnalysis, LiveAnalysis, LiveQuestion};
pub use finding::{Detail, HeatStrip, LiveFinding, SessionFinding};
pub use intake::{Audience, Intake, Turn};
pub use slices::LookBack;
