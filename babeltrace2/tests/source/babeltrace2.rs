//! What the Babeltrace 2 source alone promises.

use std::fs;
use std::path::Path;

use babeltrace2_source::Babeltrace2;
use ctf_reader::{Progress, Window, discover};
use lttng_testing::{Daemon, wait_until};

use crate::read_source;
use crate::support::{KeepAll, Recording, Tracee};

fn source(folder: &Path) -> Babeltrace2 {
    Babeltrace2::new(discover(&[folder]).expect("there is a trace"))
}

#[test]
fn span_is_that_of_the_events() {
    let recording = Recording::copy();
    let mut source = source(recording.folder());
    let span = source.span().unwrap();
    assert_eq!(span, read_source(&mut source, Window::default()).1.span);
}

#[test]
fn nothing_readable_is_an_error_of_one_line_with_babeltraces_causes() {
    let recorded = Recording::copy();
    let metadata = recorded.trace().join("metadata");
    fs::write(&metadata, "/* CTF 1.8 */ nonsense {").unwrap();
    let nothing = source(recorded.folder()).read(Window::default(), KeepAll::default(), &Progress::default());
    let Err(error) = nothing else { panic!("it was read") };
    assert!(!error.to_string().contains('\n'), "{error}");
    let trace = recorded.trace();
    let trace = trace.display();
    assert_eq!(
        error.to_string(),
        format!("{trace}/metadata: Babeltrace 2: Cannot create trace for `{trace}`")
    );
}

#[test]
fn running_session_is_read_as_far_as_it_is_written() {
    let daemon = Daemon::start();
    let session = daemon.session();
    session.lttng("enable-channel", ["--userspace", "--subbuf-size=4096", "--num-subbuf=16", "small"]);
    session.enable_with("tracee:*", &["--channel=small"]);
    session.start();
    let mut emitted = 100;
    // LTTng writes the metadata when a program ends.
    Tracee::start(&daemon).emit("work", emitted);
    wait_until("there is metadata", || discover(&[session.folder()]).is_ok());
    let mut tracee = Tracee::start(&daemon);
    let mut before = 0;
    wait_until("packets are written", || {
        tracee.emit("work", 100);
        emitted += 100;
        let (events, report) = read_source(&mut source(session.folder()), Window::default());
        assert!(events.len() >= before, "events vanished: {:?}", report.damage);
        assert!(report.events + report.discarded_events <= emitted);
        before = events.len();
        before > 2000
    });
}
