//! Timelines as files for other programs.

mod chrome;
mod nest;
mod sorter;

pub use chrome::{ChromeTrace, Written};
