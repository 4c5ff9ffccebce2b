//! The fast path: events of whole bytes are only stepped over, and their fields are read in place.

pub mod batch;
pub mod columns;
pub mod run;
pub mod stretch;
pub mod texts;
