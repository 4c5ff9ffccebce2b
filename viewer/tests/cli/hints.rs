//! Hints for filters and names that match nothing.

use super::handwritten::{BEGIN, Handwritten, requests};
use super::run::{json, ltt_top, said};

#[track_caller]
fn refused(arguments: &[&str], because: &str) {
    let trace = requests("alpha", &[("get", 10), ("set", 30)]).write();
    let said = said(ltt_top(arguments).arg(trace.path()));
    assert_eq!((said.status, &*said.out), (2, ""), "{said:?}");
    assert_eq!(said.err, format!("ltt-top: error: {because}\n"));
}

#[track_caller]
fn left_nothing(arguments: &[&str], because: &str) {
    let trace = requests("alpha", &[("get", 10), ("set", 30), ("set", 3)]).write();
    for command in ["top", "slow", "outliers", "hist", "info"] {
        let table = said(ltt_top([command]).args(arguments).arg(trace.path()));
        assert_eq!(table.status, 0, "{table:?}");
        assert!(table.out.lines().any(|line| line == format!("nothing found: {because}")), "{table:?}");
        let csv = said(ltt_top([command, "--format", "csv"]).args(arguments).arg(trace.path()));
        assert_eq!(csv.status, 0, "{csv:?}");
        assert_eq!(csv.err, format!("ltt-top: warning: nothing found: {because}\n"));
    }
}

#[test]
fn a_duration_that_no_event_has_is_refused_with_the_fields_that_there_are() {
    refused(
        &["top", "--duration", "latency_ms"],
        "no event has a field `latency_ms`; did you mean `latency_us`?",
    );
    let fields = "the fields are hostname, latency_us, name, tracer_name, vpid";
    refused(&["slow", "--duration", "nosuch"], &format!("no event has a field `nosuch`; {fields}"));
    refused(&["top", "--duration", "name"], "name is not a number: it cannot be the duration");
}

#[test]
fn an_event_that_the_trace_does_not_have_is_refused_with_those_that_it_has() {
    refused(&["top", "--event", "requst"], "no event is called `requst`; did you mean `request`?");
    refused(
        &["info", "--event", "app:requests"],
        "no event is called `app:requests`; did you mean `app:request`?",
    );
    refused(&["top", "--event", "valkey_*"], "no event is called `valkey_*`; the events are app:request");
}

#[test]
fn a_condition_that_no_event_fulfils_is_named_with_what_was_meant() {
    left_nothing(
        &["--where", "name=gte"],
        "no match for --where name=gte in 3 events; did you mean `get`? (values: set, get)",
    );
    left_nothing(&["--where", "name=set", "--pid", "7"], "no match for --pid 7 in 2 events (values: 42)");
    left_nothing(
        &["--where", "latency_us>1s"],
        "no match for --where latency_us>1s in 3 events (values: 3, 10, 30)",
    );
}

#[test]
fn a_window_without_events_is_named_with_the_times_of_the_trace() {
    let times = "the trace is from 2023-11-14 22:13:20.000000 UTC to 2023-11-14 22:13:20.000002 UTC";
    left_nothing(&["--since", "+1h"], &format!("no events match --since; {times}"));
}

#[test]
fn programs_are_told_which_filter_left_nothing() {
    let trace = requests("alpha", &[("get", 10)]).write();
    let found = json(ltt_top(["top", "--where", "name=gte"]).arg(trace.path()));
    let empty = &found["notes"]["empty"];
    assert_eq!((&empty["cause"], &empty["filter"]), (&"condition".into(), &"--where name=gte".into()));
    assert_eq!((&empty["events"], &empty["did_you_mean"]), (&1.into(), &"get".into()));
    let found = json(ltt_top(["top"]).arg(trace.path()));
    assert!(found["notes"]["empty"].is_null());
}

#[test]
fn an_event_that_was_described_but_not_recorded_is_not_an_error() {
    let mut trace = requests("alpha", &[("get", 10)]);
    trace.class("app:rare", "u64 _latency_us;");
    let trace = trace.write();
    let said = said(ltt_top(["top", "--event", "rare"]).arg(trace.path()));
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.out.contains("nothing found: no match for --event rare in 1 event"), "{said:?}");
}

#[test]
fn a_mistyped_command_is_not_read_as_a_folder() {
    let trace = requests("alpha", &[("get", 10)]).write();
    let wrong = said(ltt_top(["outlier"]).arg(trace.path()));
    let because =
        "`outlier` is neither a command nor a folder; did you mean `outliers`? (see ltt-top --help)";
    assert_eq!((wrong.status, &*wrong.err), (2, &*format!("ltt-top: error: {because}\n")));
    requests("alpha", &[("get", 10)]).write_to(&trace.path().join("outlier"));
    let folder = said(ltt_top(["outlier"]).current_dir(trace.path()));
    assert_eq!(folder.status, 0, "a folder of that name is read: {folder:?}");
}

#[test]
fn a_clock_that_ran_backwards_is_a_warning() {
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("app:request", "u64 _latency_us;");
    for time in [BEGIN, BEGIN + 5_000_000, BEGIN + 2_000_000, BEGIN + 9_000_000] {
        trace.event_at(time, class, &[&1_u64.to_le_bytes()]);
    }
    let trace = trace.write();
    let found = json(ltt_top(["top"]).arg(trace.path()));
    assert_eq!(found["trace"]["clock_steps"], serde_json::json!({ "count": 1, "largest_ns": 3_000_000 }));
    let said = said(ltt_top(["top"]).arg(trace.path()));
    assert!(said.out.contains("warning: a clock ran backwards once, by up to 3 ms"), "{said:?}");
}
