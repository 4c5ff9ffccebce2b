//! Traces of several machines: the host is a field, and is shown where there is more than one.

use tempfile::TempDir;

use super::handwritten::requests;
use super::run::{json, ltt_top, said};

fn two_hosts() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    requests("alpha", &[("get", 10), ("set", 30)]).write_to(&folder.path().join("a"));
    requests("beta", &[("get", 20)]).write_to(&folder.path().join("b"));
    folder
}

#[test]
fn events_are_grouped_by_host() {
    let traces = two_hosts();
    let found = json(ltt_top(["top", "--by", "host"]).arg(traces.path()));
    let groups = found["groups"].as_array().unwrap();
    let groups: Vec<_> = groups.iter().map(|group| (&group["key"]["host"], &group["count"])).collect();
    assert_eq!(groups, [(&"alpha".into(), &2.into()), (&"beta".into(), &1.into())]);
    assert_eq!(found["trace"]["hosts"], serde_json::json!(["alpha", "beta"]));
}

#[test]
fn events_are_filtered_by_host() {
    let traces = two_hosts();
    let found = json(ltt_top(["top", "--where", "host=beta"]).arg(traces.path()));
    assert_eq!((&found["groups"][0]["count"], &found["groups"][0]["max_us"]), (&1.into(), &20.into()));
    let globbed = json(ltt_top(["top", "--where", "host~al*"]).arg(traces.path()));
    assert_eq!(globbed["groups"][0]["count"], 2);
}

#[test]
fn single_events_and_processes_say_their_host_where_there_are_several() {
    let traces = two_hosts();
    let slow = json(ltt_top(["slow"]).arg(traces.path()));
    let hosts: Vec<_> = slow["events"].as_array().unwrap().iter().map(|event| &event["host"]).collect();
    assert_eq!(hosts, ["alpha", "beta", "alpha"]);
    let info = json(ltt_top(["info"]).arg(traces.path()));
    let processes = info["processes"].as_array().unwrap();
    let processes: Vec<_> = processes.iter().map(|process| (&process["host"], &process["events"])).collect();
    assert_eq!(processes, [(&"alpha".into(), &2.into()), (&"beta".into(), &1.into())]);
    for command in ["slow", "info"] {
        let said = said(ltt_top([command]).arg(traces.path()).env("COLUMNS", "80"));
        assert!(said.out.contains("HOST") && said.out.contains("beta"), "{said:?}");
    }
    let csv = said(ltt_top(["slow", "--format", "csv"]).arg(traces.path()));
    assert!(csv.out.lines().next().unwrap().contains(",host,"), "{csv:?}");
}

#[test]
fn a_single_host_is_not_repeated_with_every_event() {
    let trace = requests("alpha", &[("get", 10)]).write();
    let slow = json(ltt_top(["slow"]).arg(trace.path()));
    assert_eq!(slow["events"][0].get("host"), None);
    let said = said(ltt_top(["slow"]).arg(trace.path()));
    assert!(!said.out.contains("HOST"), "{said:?}");
}
