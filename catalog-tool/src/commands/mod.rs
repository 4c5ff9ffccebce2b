//! The commands, one file each: its options, and what it does.

pub mod c;
pub mod check;
pub mod diff;
pub mod doc;
pub mod import;
pub mod list;
pub mod probes;
