//! Traces as LTTng records them are read as Babeltrace 1 reads them.

use ctf_reader::{Reader, Window};
use lttng_testing::{Daemon, Program, Trace};

use crate::read_window;
use crate::support::{Recording, SMALL, SharedTrace, Tracee, assert_same, oracle, read, read_all, recording};

#[test]
fn real_valkey_trace_is_read_as_babeltrace_1_reads_it() {
    let shared = SharedTrace::unpack();
    let (events, report) = read(shared.folder());
    assert_eq!(report.damage, []);
    assert_eq!(report.events, 267_919);
    assert_eq!((report.discarded_events, report.lost_packets), (0, 0));
    assert_eq!((report.traces.len(), report.traces[0].streams, report.traces[0].packets), (1, 2, 11));
    let environment = &report.traces[0].environment;
    assert!(environment.contains(&("hostname".into(), "vm".into())), "{environment:?}");
    assert!(environment.contains(&("tracer_major".into(), "2".into())), "{environment:?}");
    let span = report.span.expect("there are events");
    assert_eq!(span.end() - span.start(), 15_607_069_279);
    assert_same(&events, &oracle(&Trace::open(shared.folder())));
    let without_client = events.iter().filter(|e| e.name == "valkey_commands:command_call");
    let without_client = without_client.filter(|e| e.value("addr") == "\"\"" && e.value("laddr") == "\"\"");
    assert_eq!(without_client.count(), 3);
}

#[test]
fn window_leaves_out_what_is_before_and_after() {
    let recorded = Recording::copy();
    let (all, _) = recorded.read();
    let (since, until) = (all[300].timestamp, all[1500].timestamp);
    let (some, report) = read_window(recorded.folder(), Window { since: Some(since), until: Some(until) });
    let expected: Vec<_> = all.into_iter().filter(|e| (since..=until).contains(&e.timestamp)).collect();
    assert_same(&some, &expected);
    assert_eq!(report.span, Some(since..=until));
}

#[test]
fn every_field_type_and_context_is_read_as_babeltrace_1_reads_it() {
    let daemon = Daemon::start();
    let session = daemon.recording_with(&["tracee:*"], &[], &["vpid", "vtid", "procname"]);
    Tracee::start(&daemon).emit("every_type", 100);
    let trace = session.stop();
    let (events, report) = read(trace.folder());
    assert_eq!(report.damage, []);
    assert_eq!(events.len(), 100);
    assert_same(&events, &oracle(&trace));
}

#[test]
fn buffers_of_each_process_are_a_trace_with_its_own_environment() {
    let daemon = Daemon::start();
    let session = recording(daemon.session(), &["--buffers-pid"], &["tracee:*"], &[]);
    for count in [10, 20] {
        Tracee::start(&daemon).emit("work", count);
    }
    let trace = session.stop();
    let (events, report) = read(trace.folder());
    assert_same(&events, &oracle(&trace));
    assert_eq!((events.len(), report.traces.len()), (30, 2));
    for trace in &report.traces {
        let names: Vec<_> = trace.environment.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"vpid") && names.contains(&"procname"), "{names:?}");
    }
}

#[test]
fn buffers_of_each_process_of_two_programs_are_read_as_babeltrace_1_reads_them() {
    let emit_all = Program::example("valkey-trace", "emit-all").traced().build();
    let daemon = Daemon::start();
    let session = recording(daemon.session(), &["--buffers-pid"], &["tracee:*", "valkey_*"], &["vtid"]);
    let mut tracee = Tracee::start(&daemon);
    tracee.emit("work", 100);
    daemon.run(&emit_all, ["3"]);
    tracee.emit("every_type", 100);
    daemon.run(&emit_all, ["2"]);
    drop(tracee);
    let trace = session.stop();
    let (events, report) = read(trace.folder());
    assert_same(&events, &oracle(&trace));
    assert_eq!((events.len(), report.traces.len()), (200 + 5 * 35, 3));
    assert_eq!(report.damage, []);
    for threads in [1, 2, 8] {
        let reader = Reader::open(&[trace.folder()]).unwrap().threads(threads);
        let (others, other) = read_all(&reader, Window::default());
        assert_same(&others, &events);
        assert_eq!(other, report, "{threads} threads");
    }
}

#[test]
fn rotated_chunks_are_one_trace() {
    let daemon = Daemon::start();
    let session = daemon.recording(&["tracee:*"]);
    let mut tracee = Tracee::start(&daemon);
    tracee.emit("work", 10);
    session.rotate();
    tracee.emit("every_type", 20);
    let trace = session.stop();
    let (events, report) = read(trace.folder());
    assert_same(&events, &oracle(&trace));
    assert_eq!((events.len(), report.traces.len()), (30, 1));
    assert_eq!(report.traces[0].folders.len(), 2);
    assert_eq!((report.damage, report.lost_packets), (vec![], 0));
}

#[test]
fn packet_in_two_snapshots_counts_once() {
    let daemon = Daemon::start();
    let session = daemon.snapshot_session();
    session.enable("tracee:*");
    session.start();
    let mut tracee = Tracee::start(&daemon);
    tracee.emit("work", 10);
    session.snapshot();
    tracee.emit("work", 20);
    session.snapshot();
    let trace = session.stop();
    assert_eq!(oracle(&trace).len(), 40, "both snapshots have the first events");
    let (events, report) = read(trace.folder());
    assert_eq!((events.len(), report.events), (30, 30));
    let mut expected = oracle(&trace);
    expected.dedup();
    assert_same(&events, &expected);
    assert_eq!((report.damage, report.traces.len()), (vec![], 1));
}

#[test]
fn events_are_either_read_or_counted_as_discarded() {
    const EMITTED: u64 = 200_000;
    let daemon = Daemon::start();
    let session = recording(daemon.session(), SMALL, &["tracee:*"], &[]);
    Tracee::start(&daemon).emit("work", EMITTED);
    let trace = session.stop();
    let (_, report) = read(trace.folder());
    assert_ne!(report.discarded_events, 0, "the buffers were too large for this test");
    assert_eq!(report.events + report.discarded_events, EMITTED);
}

#[test]
fn events_discarded_in_the_first_packet_are_counted() {
    let daemon = Daemon::start();
    let session = recording(daemon.session(), SMALL, &["tracee:*"], &[]);
    let mut tracee = Tracee::start(&daemon);
    tracee.emit("big", 3);
    tracee.emit("work", 10);
    let trace = session.stop();
    let (_, report) = read(trace.folder());
    assert_eq!((report.events, report.discarded_events), (10, 3));
}

#[test]
fn channels_with_different_contexts_are_read_together() {
    let daemon = Daemon::start();
    let session = daemon.session();
    for (channel, event, context) in
        [("one", "tracee:work", "vtid"), ("two", "tracee:every_type", "procname")]
    {
        session.lttng("enable-channel", ["--userspace", channel]);
        session.enable_with(event, &["--channel", channel]);
        session.lttng("add-context", ["--userspace", "--channel", channel, "--type", context]);
    }
    session.start();
    let mut tracee = Tracee::start(&daemon);
    for _ in 0..10 {
        tracee.emit("work", 10);
        tracee.emit("every_type", 10);
    }
    let trace = session.stop();
    let (events, report) = read(trace.folder());
    assert_same(&events, &oracle(&trace));
    assert_eq!((events.len(), report.traces.len(), report.damage), (200, 1, vec![]));
}

#[test]
fn stream_split_over_files_that_wrap_is_read_in_the_order_of_its_packets() {
    let daemon = Daemon::start();
    let sizes = ["--subbuf-size=4096", "--num-subbuf=64", "--tracefile-size=8192", "--tracefile-count=3"];
    let session = recording(daemon.session(), &sizes, &["tracee:*"], &[]);
    let mut tracee = Tracee::start(&daemon);
    for _ in 0..20 {
        tracee.emit("work", 200);
    }
    let trace = session.stop();
    let (events, report) = read(trace.folder());
    assert_same(&events, &oracle(&trace));
    let written = report.traces[0].packets;
    assert!((1..4000).contains(&events.len()), "{} events: the files did not wrap", events.len());
    assert!(written <= 3 * 2 * report.traces[0].streams as u64, "{written} packets");
    assert_eq!(report.damage, []);
}

#[test]
fn packets_that_were_overwritten_are_counted_as_lost() {
    let daemon = Daemon::start();
    let channel = ["--overwrite", "--subbuf-size=4096", "--num-subbuf=4"];
    let session = recording(daemon.snapshot_session(), &channel, &["tracee:*"], &[]);
    let mut tracee = Tracee::start(&daemon);
    tracee.emit("work", 100);
    session.snapshot();
    tracee.emit("work", 10_000);
    session.snapshot();
    let trace = session.stop();
    let (events, report) = read(trace.folder());
    let mut expected = oracle(&trace);
    expected.dedup();
    assert_same(&events, &expected);
    assert!(report.lost_packets > 10, "{} packets were lost", report.lost_packets);
    assert_eq!((report.damage, report.discarded_events), (vec![], 0));
}
