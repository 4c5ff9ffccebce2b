//! The reader and Babeltrace 2 on the same traces: what one finds the other must find, and Babeltrace 1 too.

use std::collections::BTreeSet;
use std::path::Path;

use babeltrace2_source::Babeltrace2;
use ctf_reader::{Progress, Reader, Report, Window, discover};
use support::{KeepAll, Seen, assert_same, read_in_order};

mod babeltrace2;
#[path = "../../../ctf/tests/reader/damage.rs"]
mod damage;
#[path = "../../../ctf/tests/reader/recorded.rs"]
mod recorded;
#[path = "../../../ctf/tests/support/mod.rs"]
mod support;

/// Reads the events of a window with both, in the order of time. They must agree.
pub fn read_window(folder: &Path, window: Window) -> (Vec<Seen>, Report) {
    let found = discover(&[folder]).expect("there is a trace");
    let reader = Reader::open_found(found.clone()).expect("its metadata can be read");
    let (events, report) = read_in_order(&reader, window);
    let (others, other) = read_source(&mut Babeltrace2::new(found), window);
    if report.clock_steps.count > 0 {
        // Babeltrace 2 is not given packets that end before they begin.
        assert!(damage::is_part_of(&others, &events), "invented an event");
        return (events, report);
    }
    assert_same(&others, &events);
    // They say it in other words, and one may know more places in a file.
    let places =
        |report: &Report| -> BTreeSet<_> { report.damage.iter().map(|damage| damage.path.clone()).collect() };
    assert_eq!(places(&other), places(&report));
    assert_eq!(Report { damage: report.damage.clone(), ..other }, report);
    (events, report)
}

/// Reads the events of a window with Babeltrace 2, in the order of time.
pub fn read_source(source: &mut Babeltrace2, window: Window) -> (Vec<Seen>, Report) {
    let (all, report) =
        source.read(window, KeepAll::default(), &Progress::default()).expect("it can be read");
    (all.into_events(&report), report)
}
