//! Live findings: as plain output for logs and monitors, and on a full screen.

mod exposition;
mod lines;
mod plain;
pub mod screen;

pub use exposition::Exposition;
pub use lines::PROCESS_BUFFERS;
pub(super) use plain::table;
