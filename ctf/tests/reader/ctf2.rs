//! Traces that LTTng recorded are read the same with metadata in CTF 2.

use std::path::Path;
use std::sync::Arc;

use ctf_reader::{EventClass, FieldClasses, Reader, Report, Window, discover};
use lttng_testing::Daemon;

use crate::support::{SMALL, Seen, SharedTrace, Tracee, assert_same, copy_folder, read_all, recording};
use crate::translation;

/// What is known of an event class.
type ClassFacts = (String, Option<i64>, FieldClasses);

/// All that there is to a trace, but for where it is.
fn read(folder: &Path) -> (Vec<Seen>, Report, Vec<ClassFacts>) {
    let reader = Reader::open(&[folder]).unwrap();
    let (events, mut report) = read_all(&reader, Window::default());
    let class = |class: &Arc<EventClass>| (class.name.clone(), class.log_level, class.fields.clone());
    let classes = reader.classes().map(class).collect();
    report.traces.iter_mut().for_each(|trace| trace.folders.clear());
    (events, report, classes)
}

/// Reads a trace, and then once more with its metadata in CTF 2, as it is and in packets.
#[track_caller]
fn assert_same_in_ctf_2(folder: &Path) {
    let (events, report, classes) = read(folder);
    let copy = tempfile::tempdir().unwrap();
    copy_folder(folder, copy.path());
    let folders = discover(&[copy.path()]).unwrap().traces.into_iter().flat_map(|trace| trace.folders);
    let folders: Vec<_> = folders.collect();
    for change in [translation::translate, translation::wrap] {
        folders.iter().for_each(|folder| change(folder));
        let (events_2, report_2, classes_2) = read(copy.path());
        assert_eq!(report_2.damage, []);
        assert_eq!(classes_2, classes);
        assert_same(&events_2, &events);
        assert_eq!(report_2, report);
    }
}

#[test]
fn every_field_type_and_context_is_the_same_in_ctf_2() {
    let daemon = Daemon::start();
    let session = daemon.recording_with(&["tracee:*"], &[], &["vpid", "vtid", "procname"]);
    let mut tracee = Tracee::start(&daemon);
    tracee.emit("every_type", 100);
    session.rotate();
    tracee.emit("work", 1000);
    let trace = session.stop();
    assert_same_in_ctf_2(trace.folder());
}

#[test]
fn discarded_events_are_the_same_in_ctf_2() {
    let daemon = Daemon::start();
    let session = recording(daemon.session(), SMALL, &["tracee:*"], &[]);
    Tracee::start(&daemon).emit("work", 100_000);
    let trace = session.stop();
    assert_same_in_ctf_2(trace.folder());
}

#[test]
fn real_valkey_trace_is_the_same_in_ctf_2() {
    let shared = SharedTrace::unpack();
    assert_same_in_ctf_2(shared.folder());
}
