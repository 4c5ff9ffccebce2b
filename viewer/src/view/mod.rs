//! Views for people and for programs: each renders a [`Finding`](crate::analysis::Finding) and computes nothing.
//!
//! ```text
//!  Finding, with its notes ──> output (the trait, and the list of formats) ──> table/ · json · csv
//!  events, as they are read ─> events/: a form for each format
//!  live findings ────────────> live/: the full screen
//! ```

mod csv;
pub mod events;
mod json;
pub mod live;
mod notes;
mod output;
pub mod progress;
mod screen;
mod sheet;
mod table;

pub use output::{EventStream, FORMATS, Format, Output};
pub use screen::Screen;
pub use table::HEAT_GUTTER;
