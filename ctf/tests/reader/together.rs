//! Traces of different layouts, read together: what is read is the sum of what is read from each alone.
//!
//! They differ in contexts, event ids, header kinds, byte orders and formats, so whatever is resolved for one trace and
//! used for another gives wrong values.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ctf_reader::{Reader, Report, Window, stream_files};
use lttng_testing::Daemon;
use tempfile::TempDir;

use crate::case::Case;
use crate::support::{
    Seen, SharedTrace, Tracee, assert_same, copy_folder, read, read_all, read_in_order, recording,
};
use crate::translation;

/// Hand-written traces: CTF 1.8 in both byte orders, CTF 2, lost packets, discarded events, damage, clocks.
const CASES: [&str; 8] = [
    "large_header_in_big_endian_order",
    "compact_header_has_a_short_and_an_extended_form",
    "gap_in_the_sequence_numbers_is_a_loss",
    "clock_that_runs_backwards_within_a_packet_is_reported",
    "contexts_of_packet_stream_and_event_come_with_the_event",
    "many_events_of_two_classes",
    "ctf2_large_header_in_big_endian_order",
    "malformed_packet_of_another_trace_is_skipped",
];

/// How much of each stream file of the Valkey trace is read in pairs: all of it takes too long for all pairs.
const VALKEY_PART: u64 = 64 << 10;

/// Traces, each in two folders. Traces are read in the order of their folders' names, so that one of each pair can be
/// read first or second.
struct Traces {
    folder: TempDir,
    names: Vec<String>,
}

impl Traces {
    fn get() -> &'static Traces {
        static TRACES: OnceLock<Traces> = OnceLock::new();
        TRACES.get_or_init(Traces::make)
    }

    fn make() -> Traces {
        // They stay until the process ends, and nobody deletes them then.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut traces = Traces { folder, names: Vec::new() };
        for (number, name) in (1..).zip(CASES) {
            traces.add(name, |folder| Case::load(name).with_uuid(number).write(folder));
        }
        traces.record("recorded_without_contexts", &[], &["work", "every_type"]);
        traces.record("recorded_with_contexts", &["vpid", "vtid", "procname"], &["every_type", "work"]);
        traces.record("recorded_in_ctf_2", &["vtid"], &["work", "every_type"]);
        for order in ORDERS {
            translation::translate(
                &Reader::open(&[traces.path("recorded_in_ctf_2", order)]).map(folder_of).unwrap(),
            );
        }
        traces.add("valkey", |folder| copy_folder(SharedTrace::unpack().folder(), folder));
        for order in ORDERS {
            let folder = Reader::open(&[traces.path("valkey", order)]).map(folder_of).unwrap();
            for file in stream_files(&folder).unwrap() {
                fs::File::options().write(true).open(file).unwrap().set_len(VALKEY_PART).unwrap();
            }
        }
        traces
    }

    /// Adds a trace, which is written into a folder.
    fn add(&mut self, name: &str, write: impl FnOnce(&Path)) {
        let [early, late] = ORDERS.map(|order| self.path(name, order));
        fs::create_dir_all(&early).unwrap();
        fs::create_dir_all(&late).unwrap();
        write(&early);
        copy_folder(&early, &late);
        self.names.push(name.to_owned());
    }

    /// Records events of some kinds with these contexts.
    fn record(&mut self, name: &str, contexts: &[&str], kinds: &[&str]) {
        let daemon = Daemon::start();
        // The order in which events are enabled is that of their ids.
        let events: Vec<String> = kinds.iter().map(|kind| format!("tracee:{kind}")).collect();
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let channel = ["--subbuf-size=4096", "--num-subbuf=64"];
        let session = recording(daemon.session(), &channel, &events, contexts);
        let mut tracee = Tracee::start(&daemon);
        for kind in kinds {
            tracee.emit(kind, 200);
        }
        drop(tracee);
        let trace = session.stop();
        self.add(name, |folder| copy_folder(trace.folder(), folder));
    }

    fn path(&self, name: &str, order: &str) -> PathBuf {
        self.folder.path().join(order).join(name)
    }
}

/// The names of the folders above those that come first and those that come second.
const ORDERS: [&str; 2] = ["early", "late"];

/// The folder that holds the metadata of the only trace.
fn folder_of(reader: Reader) -> PathBuf {
    let (_, report) = read_all(&reader, Window::default());
    report.traces[0].folders[0].clone()
}

/// What is read from several traces, if it is the sum of what is read from each.
fn sum(parts: &[&(Vec<Seen>, Report)]) -> (Vec<Seen>, Report) {
    let mut sum: (Vec<Seen>, Report) = Default::default();
    let (events, report) = &mut sum;
    for (more_events, more) in parts {
        events.extend_from_slice(more_events);
        report.events += more.events;
        report.span = match (report.span.take(), more.span.clone()) {
            (Some(span), Some(more)) => Some(*span.start().min(more.start())..=*span.end().max(more.end())),
            (span, more) => span.or(more),
        };
        report.discarded_events += more.discarded_events;
        report.lost_packets += more.lost_packets;
        report.clock_steps.count += more.clock_steps.count;
        report.clock_steps.largest_ns = report.clock_steps.largest_ns.max(more.clock_steps.largest_ns);
        report.traces.extend_from_slice(&more.traces);
        report.damage.extend_from_slice(&more.damage);
    }
    events.sort();
    report.damage.sort();
    sum
}

/// Asserts that traces read together, from several numbers of threads, give the sum of each alone.
#[track_caller]
fn assert_sum(folders: &[PathBuf], alone: &[&(Vec<Seen>, Report)]) {
    let (events, report) = sum(alone);
    for threads in [1, 2, 8] {
        let reader = Reader::open(folders).unwrap().threads(threads);
        let read = if threads == 1 { read_in_order } else { read_all };
        let (read, read_report) = read(&reader, Window::default());
        assert_same(&read, &events);
        assert_eq!(read_report, report, "{folders:?} with {threads} threads");
    }
}

#[test]
#[ignore = "make check: all pairs"]
fn every_ordered_pair_of_traces_gives_the_sum_of_each_alone() {
    let traces = Traces::get();
    let alone: Vec<_> =
        traces.names.iter().map(|name| ORDERS.map(|order| read(&traces.path(name, order)))).collect();
    for (name, [(events, report), _]) in traces.names.iter().zip(&alone) {
        assert!(!events.is_empty() && report.traces.len() == 1, "{name}");
    }
    for (first, [early, _]) in traces.names.iter().zip(&alone) {
        for (second, [_, late]) in traces.names.iter().zip(&alone) {
            if first != second {
                assert_sum(&[traces.path(first, "early"), traces.path(second, "late")], &[early, late]);
            }
        }
    }
}

#[test]
fn all_traces_at_once_give_the_sum_of_each_alone() {
    let traces = Traces::get();
    let folders: Vec<_> = traces.names.iter().map(|name| traces.path(name, "early")).collect();
    // The reader's order is that of the names.
    let mut sorted = folders.clone();
    sorted.sort();
    let alone: Vec<_> = sorted.iter().map(|folder| read(folder)).collect();
    assert_sum(&folders, &alone.iter().collect::<Vec<_>>());
}

#[test]
#[ignore = "make check: reads the largest trace several times"]
fn whole_valkey_trace_and_two_others_give_the_sum_of_each_alone() {
    let traces = Traces::get();
    let shared = SharedTrace::unpack();
    let big_endian = traces.path("large_header_in_big_endian_order", "early");
    let recorded = traces.path("recorded_with_contexts", "early");
    let mut folders = [big_endian, recorded, shared.folder().to_owned()];
    folders.sort();
    let alone = folders.each_ref().map(|folder| read(folder));
    assert_sum(&folders, &alone.each_ref());
}
