//! FIFOs, sockets, devices and folders where files should be: refused at once in one line, and the rest is read.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use ctf_reader::{Collected, Error, Nothing, Progress, Reader, Report, Window};
use lttng_testing::must_end;

use crate::small::SmallTrace;

/// A name, and what makes something else than a file at a path.
type SpecialFile = (&'static str, fn(&Path));

const KINDS: [SpecialFile; 5] = [
    ("FIFO", |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success())),
    ("folder", |path| fs::create_dir(path).unwrap()),
    // The socket stays in the file system when it is closed.
    ("socket", |path| drop(UnixListener::bind(path).unwrap())),
    ("endless device", |path| symlink("/dev/zero", path).unwrap()),
    ("terminal", |path| symlink("/dev/tty", path).unwrap()),
];

/// Reads traces, and fails if that does not end.
fn read(folders: &[&Path]) -> Result<Report, Error> {
    let folders: Vec<PathBuf> = folders.iter().map(|folder| folder.to_path_buf()).collect();
    must_end("reading", move || {
        Reader::open(&folders).map(|reader| {
            let Collected { report, .. } = reader.read(Window::default(), Nothing, &Progress::default());
            report
        })
    })
}

/// Asserts that one line of damage names the file.
#[track_caller]
fn assert_named(report: &Report, path: &Path, kind: &str) {
    let [damage] = &report.damage[..] else { panic!("{kind}: {:?}", report.damage) };
    assert_eq!((damage.path.as_path(), damage.offset), (path, None), "{kind}");
    assert!(
        damage.reason.starts_with("cannot be read: ") && !damage.reason.contains('\n'),
        "{kind}: {damage}"
    );
}

/// A small trace with something else in the place of one of its files, and the path of that.
fn trace_with(make: fn(&Path), name: &str) -> (SmallTrace, PathBuf) {
    let trace = SmallTrace::write();
    let path = trace.file(name);
    fs::remove_file(&path).unwrap();
    make(&path);
    (trace, path)
}

#[test]
fn special_file_as_metadata_is_an_error_if_there_is_nothing_else() {
    for (kind, make) in KINDS {
        let (trace, metadata) = trace_with(make, "metadata");
        let error = read(&[trace.folder()]).expect_err(kind).to_string();
        assert!(error.starts_with(&format!("{}: cannot be read: ", metadata.display())), "{kind}: {error}");
        assert!(!error.contains('\n'), "{kind}: {error}");
    }
}

#[test]
fn special_file_is_named_and_the_rest_is_read() {
    let sound = SmallTrace::write();
    let all = SmallTrace::EVENTS;
    for (name, events) in [("metadata", all), ("stream_1", all / 2), ("index/stream_1.idx", all)] {
        for (kind, make) in KINDS {
            let (trace, path) = trace_with(make, name);
            // Without metadata, only another trace can be read.
            let folders = [trace.folder(), sound.folder()];
            let report = read(&folders[..if name == "metadata" { 2 } else { 1 }]).unwrap();
            assert_eq!(report.events, events, "{kind} as {name}");
            match (kind, name) {
                // Folders in a trace's folder are not stream files: LTTng has `index`, and others may hold further traces.
                ("folder", "stream_1") => assert_eq!(report.damage, []),
                _ => assert_named(&report, &path, kind),
            }
        }
    }
}

#[test]
fn special_file_in_place_of_the_index_folder_costs_nothing_but_the_index() {
    for (kind, make) in KINDS.into_iter().filter(|(kind, _)| *kind != "folder") {
        let trace = SmallTrace::write();
        fs::remove_dir_all(trace.file("index")).unwrap();
        make(&trace.file("index"));
        let report = read(&[trace.folder()]).unwrap();
        assert_eq!(report.events, SmallTrace::EVENTS, "{kind}");
        assert!(!report.damage.is_empty(), "{kind}");
        assert!(report.damage.iter().all(|damage| damage.path.starts_with(trace.file("index"))), "{kind}");
    }
}
