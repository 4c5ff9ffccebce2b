//! `ltt-top export --to perfetto`, parsed by the message definitions of Perfetto's package for Python.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use lttng_testing::{CommandInTime as _, python, workspace};
use serde_json::{Value, json};

use super::export::{assert_valid, expected, incidents_process, interleaved, ns, of_phase, totals};
use super::run::{json, ltt_top, said};
use super::shared_trace::SharedTrace;

/// What is in an exported trace, in the words of the Trace Event format.
fn perfetto(python: &Path, trace: &Path, options: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.pftrace");
    let said = said(ltt_top(["export", "--to", "perfetto"]).args(options).arg(trace).arg("-o").arg(&file));
    assert_eq!(said.status, 0, "{said:?}");
    let mut parser = Command::new(python);
    let parsed = parser.arg(workspace().join("viewer/tests/cli/perfetto_events.py")).arg(&file).succeed();
    serde_json::from_str(&parsed).unwrap()
}

/// The number and the total in nanoseconds of the slices of each client.
fn of_clients(trace: &Value) -> BTreeMap<String, (u64, i64)> {
    let mut clients: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    for slice in of_phase(trace, "client") {
        // What one client's requests seem to overlap by is clipped, or on another lane.
        let name = slice["track"].as_str().unwrap().split(", at the same time").next().unwrap();
        let clipped = slice["args"].get("clipped by ltt-top (us)").map_or(0, ns);
        let client = clients.entry(name.to_owned()).or_default();
        *client = (client.0 + 1, client.1 + ns(&slice["dur"]) + clipped);
    }
    clients
}

#[test]
fn slices_and_durations_are_what_ltt_top_counts() {
    let Some(python) = python(&["perfetto"], Duration::from_secs(60)) else { return };
    let shared = SharedTrace::unpack();
    let window = ["--since", "+8s", "--until", "+8300ms"];
    let trace = perfetto(&python, shared.folder(), &window);
    assert_valid(&trace);
    let top = json(ltt_top(["top"]).args(window).arg(shared.folder()));
    let groups = top["groups"].as_array().unwrap();
    assert_eq!(totals(&trace, groups), expected(groups));
    let by_client = ["top", "--by", "addr", "--event", "command_call"];
    let top = json(ltt_top(by_client).args(window).arg(shared.folder()));
    let counted = top["groups"].as_array().unwrap().iter().map(|group| {
        let client = group["key"]["addr"].as_str().unwrap().to_owned();
        (client, (group["count"].as_u64().unwrap(), ns(&group["total_us"])))
    });
    let counted: BTreeMap<_, _> = counted.filter(|(client, _)| !client.is_empty()).collect();
    assert!(counted.len() > 1, "{counted:?}");
    assert_eq!(of_clients(&trace), counted);
    assert!(!trace["counters"]["intervals per second"].as_array().unwrap().is_empty());
}

#[test]
fn incidents_have_a_track_with_the_names_of_the_table() {
    let Some(python) = python(&["perfetto"], Duration::from_secs(60)) else { return };
    let shared = SharedTrace::unpack_named("valkey-lite-busy");
    let trace = perfetto(&python, shared.folder(), &[]);
    let process = incidents_process(&trace).expect("there are incidents");
    let origin = trace["otherData"]["origin_ns"].as_i64().unwrap();
    let mut shown: Vec<(i64, i64)> = of_phase(&trace, "X")
        .filter(|event| event["pid"] == *process)
        .map(|event| (origin + ns(&event["ts"]), ns(&event["dur"])))
        .collect();
    let found = json(ltt_top(["incidents", "--each", "-n", "0"]).arg(shared.folder()));
    let span = |incident: &Value| {
        let [begin, end] = ["begin_ns", "end_ns"].map(|key| incident[key].as_i64().unwrap());
        (begin, end - begin)
    };
    let mut counted: Vec<(i64, i64)> = found["incidents"].as_array().unwrap().iter().map(span).collect();
    shown.sort_unstable();
    counted.sort_unstable();
    assert_eq!(shown, counted);
    assert!(
        trace["counters"]["blocked (%)"].as_array().unwrap().iter().any(|share| share.as_f64() > Some(0.0))
    );
}

#[test]
fn spans_of_a_request_share_a_track() {
    let Some(python) = python(&["perfetto"], Duration::from_secs(60)) else { return };
    let trace = perfetto(&python, interleaved().path(), &[]);
    let lengths: Vec<(&Value, i64)> =
        of_phase(&trace, "async").map(|span| (&span["name"], ns(&span["dur"]))).collect();
    let [request, query] = [json!("request"), json!("query")];
    let expected = [
        (&request, 10_000_000),
        (&request, 8_500_000),
        (&query, 7_000_000),
        (&query, 6_500_000),
        (&query, 5_700_000),
    ];
    assert_eq!(lengths, expected);
}
