//! The reader on traces that LTTng recorded and on damaged ones, with Babeltrace 1 as the oracle.

use std::path::Path;

use ctf_reader::{Reader, Report, Window};

mod child;
mod ctf2;
mod damage;
mod native;
mod recorded;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/translation.rs"]
mod translation;

/// Reads the events of a window in the order of time.
pub fn read_window(folder: &Path, window: Window) -> (Vec<support::Seen>, Report) {
    support::read_all(&Reader::open(&[folder]).expect("there is a trace"), window)
}
