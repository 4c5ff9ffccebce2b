//! `ltt-top` on a real Valkey trace, against exact figures from Babeltrace 1.

use serde_json::Value;

use super::run::{json, ltt_top, said};
use super::shared_trace::{SharedTrace, data};

#[test]
fn figures_of_all_events_are_exact_and_percentiles_within_a_thousandth() {
    let shared = SharedTrace::unpack();
    let expected = expected_figures();
    let found = json(ltt_top(["top", "--by", "event", "--all"]).arg(shared.folder()));
    let groups = found["groups"].as_array().unwrap();
    assert_eq!(groups.len(), expected["events"].as_object().unwrap().len());
    for (event, figures) in expected["events"].as_object().unwrap() {
        let group = groups.iter().find(|group| group["event"] == **event).expect(event);
        assert_figures(event, group, figures);
    }
    assert_eq!(found["trace"]["events"], expected["events_total"]);
    let length = found["trace"]["end_ns"].as_i64().unwrap() - found["trace"]["begin_ns"].as_i64().unwrap();
    assert_eq!(length, expected["span_cycles"]);
}

#[test]
fn commands_are_told_apart_by_name_without_being_asked() {
    let shared = SharedTrace::unpack();
    let expected = expected_figures();
    let found = json(ltt_top([] as [&str; 0]).arg(shared.folder()));
    let is_command = |group: &&Value| group["event"] == "valkey_commands:command_call";
    let commands: Vec<&Value> = found["groups"].as_array().unwrap().iter().filter(is_command).collect();
    assert_eq!(commands.len(), expected["commands"].as_object().unwrap().len());
    for (name, figures) in expected["commands"].as_object().unwrap() {
        let group = commands.iter().find(|group| group["key"]["name"] == **name).expect(name);
        assert_figures(name, group, figures);
    }
}

#[test]
fn commands_and_clients_that_a_narrow_screen_shows_are_whole_on_a_wide_one() {
    let shared = SharedTrace::unpack();
    let rows = |width: &str| {
        let out = said(ltt_top(["outliers"]).arg(shared.folder()).env("COLUMNS", width)).out;
        out.lines().filter(|line| line.contains("command_call ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let (narrow, wide) = (rows("80"), rows("200"));
    let with_client = narrow.iter().filter_map(|row| {
        let mut words = row.split("command_call ").nth(1)?.split_whitespace();
        Some((words.next()?, words.next().filter(|client| client.starts_with("127.0.0.1:"))?))
    });
    let with_client: Vec<_> = with_client.collect();
    assert!(with_client.len() > 5, "{narrow:#?}");
    for (command, client) in with_client {
        let is_whole = |row: &String| row.contains(command) && row.contains(client) && !row.contains('…');
        assert!(wide.iter().any(is_whole), "{command} {client}: {wide:#?}");
    }
}

#[test]
fn repeats_are_left_out_unless_asked_for() {
    let shared = SharedTrace::unpack();
    let repeats = ["valkey_server:command", "valkey_server:fast_command", "valkey_aof:aof_write_alone"];
    let is_repeat = |group: &&Value| repeats.iter().any(|repeat| group["event"] == **repeat);
    let count = |found: &Value| found["groups"].as_array().unwrap().iter().filter(is_repeat).count();
    assert_eq!(count(&json(ltt_top(["top"]).arg(shared.folder()))), 0);
    assert_eq!(count(&json(ltt_top(["top", "--all"]).arg(shared.folder()))), 3);
}

#[test]
fn calls_without_a_client_are_shown_without_one() {
    let shared = SharedTrace::unpack();
    let count = expected_figures()["commands_without_client"].clone();
    let by_client = ["top", "--event", "command_call", "--by", "client"];
    let found = json(ltt_top(by_client).arg(shared.folder()));
    let groups = found["groups"].as_array().unwrap();
    let none = groups.iter().find(|group| group["key"]["addr"] == "").expect("there are such calls");
    assert_eq!(none["count"], count);
    let slow = json(ltt_top(["slow", "--where", "addr="]).arg(shared.folder()));
    assert_eq!(slow["events"].as_array().unwrap().len(), count);
    assert!(slow["events"].as_array().unwrap().iter().all(|event| event["fields"]["addr"] == ""));
}

#[test]
fn the_slowest_commands_are_listed_with_their_clients() {
    let shared = SharedTrace::unpack();
    let expected = expected_figures();
    let found = json(ltt_top(["slow", "--event", "command_call"]).arg(shared.folder()));
    let listed = found["events"].as_array().unwrap().iter().map(|event| {
        serde_json::json!({
            "duration_us": event["duration_us"],
            "name": event["fields"]["name"],
            "addr": event["fields"]["addr"],
        })
    });
    assert_eq!(listed.collect::<Value>(), expected["slowest"]);
}

#[test]
fn slow_commands_seen_once_are_outliers_and_healthy_groups_have_few() {
    let shared = SharedTrace::unpack();
    let found = json(ltt_top(["outliers"]).arg(shared.folder()));
    let events = found["events"].as_array().unwrap();
    let eval = events.iter().find(|event| event["fields"]["name"] == "eval").expect("it took 164 ms");
    assert_eq!(
        eval["reason"],
        "164 ms; eval of process 23624 seen once; 99.9 % of usual command_call take 44 µs or less, and more than 303 µs is \
         improbable"
    );
    let keys = events.iter().filter(|event| event["fields"]["name"] == "keys");
    assert_eq!(keys.count(), 2);
    let top = json(ltt_top(["top"]).arg(shared.folder()));
    for group in top["groups"].as_array().unwrap() {
        let count = group["count"].as_u64().unwrap();
        let is_of_group = |event: &&Value| {
            event["event"] == group["event"]
                && group["key"].as_object().unwrap().iter().all(|(key, value)| event["fields"][key] == *value)
        };
        // However many, they are a line or few.
        let is_mode = |mode: &&Value| mode["event"] == group["event"] && mode["key"] == group["key"];
        let modes = found["modes"].as_array().unwrap().iter().filter(is_mode).count();
        let lines = events.iter().filter(is_of_group).count() + modes;
        assert!(lines <= 6, "{lines} of {count}: {group}");
    }
    assert!(!events.iter().any(|event| event["duration_us"].as_f64().unwrap() >= 2f64.powi(63)));
}

#[test]
fn any_number_of_threads_gives_the_same_output_to_the_byte() {
    let shared = SharedTrace::unpack();
    for command in ["top", "slow", "outliers", "hist", "hist --over-time", "info"] {
        let output = |more: &str| {
            let arguments = command.split(' ').chain(more.split(' '));
            let output = ltt_top(arguments).arg(shared.folder()).output().expect("it runs");
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            output.stdout
        };
        // All formats are made of what JSON has.
        let [expected, threads] = [1, 5].map(|threads| output(&format!("--threads {threads} --format json")));
        assert_eq!(threads, expected, "{command} with 5 threads");
    }
}

/// What Babeltrace 1 says of the trace.
fn expected_figures() -> Value {
    let path = data("valkey-mixed.expected.json");
    serde_json::from_slice(&std::fs::read(path).expect("it lies beside the trace")).expect("it is JSON")
}

fn assert_figures(name: &str, group: &Value, expected: &Value) {
    for (figure, key) in [
        ("count", "count"),
        ("implausible", "implausible"),
        ("total_us", "total"),
        ("min_us", "min"),
        ("max_us", "max"),
    ] {
        assert_eq!(group[figure], expected[key], "{figure} of {name}");
    }
    for (figure, key) in [("p50_us", "p50"), ("p90_us", "p90"), ("p99_us", "p99"), ("p999_us", "p99.9")] {
        let (found, exact) = (group[figure].as_f64().unwrap(), expected[key].as_f64().unwrap());
        assert!((found - exact).abs() <= exact / 1000.0, "{figure} of {name}: {found} for {exact}");
    }
    let plausible = expected["count"].as_f64().unwrap() - expected["implausible"].as_f64().unwrap();
    let mean = expected["total"].as_f64().unwrap() / plausible;
    assert!((group["mean_us"].as_f64().unwrap() - mean).abs() < 1e-6, "mean of {name}");
}
