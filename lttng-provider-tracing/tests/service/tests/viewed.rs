//! `ltt-top` shows the tree of each request, though requests interleave on one thread.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use lttng_testing::{CommandInTime as _, Daemon, Program};
use serde_json::Value;

#[test]
fn interleaved_requests_are_trees_in_slow_in_incidents_and_in_the_timeline() {
    let daemon = Daemon::start();
    let session = daemon.session();
    session.enable("service:*");
    session.add_context("vtid");
    session.add_context("vpid");
    session.start();
    daemon.run(Program::example("bridged-service", "requests").traced().build(), [""; 0]);
    let trace = session.stop();
    let events = trace.events();
    let threads: Vec<&str> = events.iter().map(|event| event.context("vtid")).collect();
    assert!(threads.iter().all(|thread| thread == &threads[0]), "they are on one thread: {threads:?}");
    let spans: BTreeMap<&str, &str> = events
        .iter()
        .filter(|event| event.name == "service:part")
        .map(|event| (event.field("tracing_span"), event.field("order")))
        .collect();
    let said: Vec<_> = events.iter().filter(|event| event.name == "service:said").collect();
    assert_eq!(said.len(), 6);
    for event in said {
        let around = spans.get(event.field("tracing_parent")).copied();
        assert_eq!((event.field("tracing_span"), around), ("0", Some(event.field("order"))), "{event:?}");
    }

    let ltt_top = |arguments: &[&str]| {
        let mut command = Command::new(Program::binary("ltt-top", "ltt-top").build());
        command.args(arguments).args(["--catalog", concat!(env!("CARGO_MANIFEST_DIR"), "/catalog.toml")]);
        let output = command.arg(trace.folder()).output_in_time().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let slow: Value = serde_json::from_str(&ltt_top(&["slow", "--format", "json", "-n", "0"])).unwrap();
    let names = |links: &Value| -> Vec<String> {
        links.as_array().unwrap().iter().map(|link| link["event"].as_str().unwrap().to_owned()).collect()
    };
    for event in slow["events"].as_array().unwrap() {
        let chain = &event["chain"];
        assert_eq!(names(chain), ["service:request", "service:part"], "{event}");
        assert!(chain[1]["duration_us"].as_f64() <= chain[0]["duration_us"].as_f64(), "{event}");
    }
    assert_eq!(slow["events"].as_array().unwrap().len(), 9);

    let shortest = ["incidents", "--longer-than", "1ns", "--format", "json", "-n", "0"];
    let incidents: Value = serde_json::from_str(&ltt_top(&shortest)).unwrap();
    let chains: Vec<&Value> =
        incidents["incidents"].as_array().unwrap().iter().map(|incident| &incident["chain"]).collect();
    assert_eq!(chains.len(), 3, "one for each request: {chains:?}");
    for chain in chains {
        assert_eq!(names(chain), ["service:request", "service:part"]);
        assert!(chain[1]["count"].as_u64() <= Some(2), "a request has two parts: {chain}");
    }

    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    ltt_top(&["export", "--to", "chrome-trace", "--force", "-o", path]);
    let timeline: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut orders: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for event in timeline["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "b") {
        orders
            .entry(event["id"].as_str().unwrap())
            .or_default()
            .push(event["args"]["order"].as_u64().unwrap());
    }
    let trees: Vec<Vec<u64>> = orders.into_values().collect();
    let mut expected: Vec<Vec<u64>> =
        (1..=3).map(|order| vec![order, 10 * order + 1, 10 * order + 2]).collect();
    expected.sort_by_key(|tree| trees.iter().position(|found| found == tree));
    assert_eq!(trees, expected, "the spans of a request have one id, the outermost first");
}
