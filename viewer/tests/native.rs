//! The native source against Babeltrace 1, on real traces.

use std::path::Path;

use ltt_top::source::discover::discover;
use ltt_top::source::native::Native;
use ltt_top::source::{Source, Window};
use lttng_testing::{Daemon, Trace};

mod support;

use support::{SharedTrace, Tracee, assert_same, oracle, read, read_window};

fn source(folder: &Path) -> Native {
    Native::open(discover(&[folder]).expect("there is a trace")).expect("its metadata can be read")
}

#[test]
fn real_valkey_trace_is_read_as_babeltrace_1_reads_it() {
    let Some(shared) = SharedTrace::unpack() else { return };
    let (events, report) = read(&mut source(shared.folder()));
    assert_eq!(report.damage, []);
    assert_eq!(report.events, 267_919);
    assert_eq!((report.discarded_events, report.lost_packets), (0, 0));
    assert_eq!((report.traces.len(), report.traces[0].streams, report.traces[0].packets), (1, 2, 11));
    assert_same(&events, &oracle(&Trace::open(shared.folder())));
    let calls = events.iter().filter(|event| event.name == "valkey_commands:command_call");
    assert_eq!(calls.filter(|call| call.value("addr") == "\"\"").count(), 3);
}

#[test]
fn number_of_threads_does_not_change_what_is_read() {
    let Some(shared) = SharedTrace::unpack() else { return };
    let (events, report) = read(&mut source(shared.folder()).threads(1));
    for threads in [2, 7] {
        let (others, other_report) = read(&mut source(shared.folder()).threads(threads));
        assert_same(&others, &events);
        assert_eq!(other_report, report);
    }
}

#[test]
fn span_is_that_of_the_events() {
    let Some(shared) = SharedTrace::unpack() else { return };
    let mut source = source(shared.folder());
    let span = source.span().unwrap();
    assert_eq!(span, read(&mut source).1.span);
}

#[test]
fn window_leaves_out_what_is_before_and_after() {
    let Some(shared) = SharedTrace::unpack() else { return };
    let mut source = source(shared.folder());
    let (all, _) = read(&mut source);
    let (since, until) = (all[1000].timestamp, all[5000].timestamp);
    let (some, report) = read_window(&mut source, Window { since: Some(since), until: Some(until) });
    let expected: Vec<_> = all.into_iter().filter(|e| (since..=until).contains(&e.timestamp)).collect();
    assert_same(&some, &expected);
    assert_eq!(report.span, Some(since..=until));
}

#[test]
fn every_field_type_and_context_is_read_as_babeltrace_1_reads_it() {
    let daemon = Daemon::start();
    let session = daemon.session();
    session.enable("tracee:*");
    for context in ["vpid", "vtid", "procname"] {
        session.add_context(context);
    }
    session.start();
    Tracee::start(&daemon).emit("every_type", 100);
    let trace = session.stop();
    let (events, report) = read(&mut source(trace.folder()));
    assert_eq!(report.damage, []);
    assert_eq!(events.len(), 100);
    assert_same(&events, &oracle(&trace));
}
