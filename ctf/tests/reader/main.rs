//! The reader on traces that LTTng recorded, with Babeltrace as the oracle, and on hand-written and damaged ones.

use std::path::Path;

use ctf_reader::{Reader, Report, Window};

mod arriving;
#[path = "../support/case.rs"]
mod case;
mod cases;
mod changed_bytes;
mod child;
mod ctf2;
mod damage;
mod growing;
mod hand_written;
mod large;
mod marks;
mod native;
mod noted;
mod ordered;
mod outside;
mod packets;
mod recorded;
mod small;
mod special_files;
mod stopping;
#[path = "../support/mod.rs"]
mod support;
mod together;
#[path = "../support/translation.rs"]
mod translation;

/// Reads the events of a window in the order of time.
pub fn read_window(folder: &Path, window: Window) -> (Vec<support::Seen>, Report) {
    support::read_in_order(&Reader::open(&[folder]).expect("there is a trace"), window)
}
