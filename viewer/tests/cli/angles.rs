//! The same incident from every angle: through a window, through a filter, alone or in an episode, it is the same.

use std::collections::{HashMap, HashSet};

use lttng_testing::Trace;
use serde_json::Value;

use super::run::{json, ltt_top, said};
use super::shared_trace::SharedTrace;
use super::timeline::{self, BEGIN, Item, Recorded};

/// All incidents that are found with these arguments.
fn incidents(trace: &std::path::Path, arguments: &[&str]) -> Vec<Value> {
    let found = json(ltt_top(["incidents", "-n", "0"]).args(arguments).arg(trace));
    found["incidents"].as_array().unwrap().clone()
}

fn span(incident: &Value) -> (i64, i64) {
    (incident["begin_ns"].as_i64().unwrap(), incident["end_ns"].as_i64().unwrap())
}

/// An incident without the mark that a window cuts it.
fn uncut(mut incident: Value) -> Value {
    incident["is_cut"] = false.into();
    incident
}

#[test]
fn a_window_shows_the_incidents_in_it_as_the_whole_trace_does() {
    let shared = SharedTrace::unpack_named("valkey-causes");
    let whole = incidents(shared.folder(), &[]);
    let held_by = |incident: &&Value| incident["cause"]["key"]["name"] == "smembers";
    let smembers = whole.iter().find(held_by).expect("it is there");
    for (since, until) in
        [("08:41:41.0", "08:41:41.1"), ("08:41:41.03", "08:41:41.3"), ("08:41:41.07", "08:41:41.08")]
    {
        let mut command = ltt_top(["incidents", "--since", since, "--until", until]);
        let seen = json(command.env("TZ", "UTC").arg(shared.folder()));
        let seen = seen["incidents"].as_array().unwrap();
        let found = seen.iter().find(held_by).unwrap_or_else(|| panic!("{since} to {until}: {seen:#?}"));
        assert_eq!(uncut(found.clone()), *smembers);
        assert_eq!(found["is_cut"], until != "08:41:41.3", "{since} to {until}");
    }
}

/// For any window and filter, what is reported of an incident equals what the whole trace reports.
#[test]
fn no_window_and_no_filter_changes_what_is_reported_of_an_incident() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let random = &mut fastrand::Rng::with_seed(seed);
    let mut compared = 0;
    for round in 0..5 {
        let trace = timeline::write_items(&server(random), true);
        let whole = incidents(trace.path(), &[]);
        let by_span: HashMap<(i64, i64), &Value> = whole.iter().map(|one| (span(one), one)).collect();
        let ms = |random: &mut fastrand::Rng| random.u64(0..3000);
        let (one, other) = (ms(random), ms(random));
        let [since, until] = [one.min(other), one.max(other)].map(|ms| format!("+{ms}ms"));
        let window = ["--since", &since, "--until", &until];
        let filter = match random.u8(0..4) {
            0 => ["--where", "duration>5ms"],
            1 => ["--where", "name=get"],
            2 => ["--event", "command_call"],
            _ => ["--where", "client!=c3"],
        };
        for arguments in [&window[..], &filter[..], &[window.as_slice(), &filter].concat()] {
            for incident in incidents(trace.path(), arguments) {
                let known = by_span.get(&span(&incident));
                let known =
                    known.unwrap_or_else(|| panic!("seed {seed}, {round}, {arguments:?}: {incident:#}"));
                assert_eq!(&uncut(incident), *known, "seed {seed}, {round}, {arguments:?}");
                compared += 1;
            }
        }
        let all_in_window = incidents(trace.path(), &window);
        let begin = whole_begin(trace.path());
        let bound = |text: &str| begin + text[1..text.len() - 2].parse::<i64>().unwrap() * 1_000_000;
        let overlaps = |one: &&Value| span(one).1 >= bound(&since) && span(one).0 <= bound(&until);
        assert_eq!(all_in_window.len(), whole.iter().filter(overlaps).count(), "seed {seed}, {round}");
    }
    assert!(compared > 15, "only {compared} incidents were compared");
}

fn whole_begin(trace: &std::path::Path) -> i64 {
    json(ltt_top(["info"]).arg(trace))["trace"]["begin_ns"].as_i64().unwrap()
}

/// A server for three seconds: clients that are served in turns, and stalls of every kind.
fn server(random: &mut fastrand::Rng) -> Vec<Item> {
    let mut items = Vec::new();
    let mut time = BEGIN;
    let mut record = |event: &str, end: u64, us: u64, name: &str, client: String| {
        items.push(Item::Event(Recorded {
            stream: 0,
            tid: 1,
            event: event.into(),
            time: end,
            duration: Some(us),
            name: name.into(),
            client,
        }));
    };
    while time < BEGIN + 3_000_000_000 {
        let begin = time;
        let calls = if random.u8(..) == 0 { 300 } else { random.u64(1..6) };
        for _ in 0..calls {
            let us = if random.u16(0..300) == 0 { random.u64(1000..60_000) } else { random.u64(0..5) };
            time += us * 1000 + random.u64(500..9000);
            let name = ["get", "set", "keys"][random.usize(..3)];
            record("call", time, us, name, format!("c{}", random.u8(0..8)));
        }
        time += random.u64(500..20_000);
        record("turn", time, (time - begin) / 1000, "", String::new());
        time += match random.u16(..) {
            0..200 => random.u64(20_000_000..90_000_000),
            _ => random.u64(10_000..1_500_000),
        };
    }
    items
}

#[test]
fn a_pipeline_is_a_cause_and_its_client_is_named() {
    let mut timeline = String::new();
    for call in 0..5000 {
        timeline += &format!("0 1 call {0} {0} get 10.0.0.7:4242\n", 20 + call * 8);
    }
    timeline += "0 1 turn 0 40100\n";
    let trace = timeline::write(&timeline);
    let found = incidents(trace.path(), &[]);
    let [incident] = &found[..] else { panic!("{found:#?}") };
    let cause = &incident["cause"];
    assert_eq!((&cause["key"]["name"], &cause["count"]), (&"get".into(), &5000.into()));
    assert_eq!((&cause["client"], &cause["clients"]), (&"10.0.0.7:4242".into(), &1.into()));
    assert_eq!((&cause["duration_us"], &cause["spent_us"]), (&0.into(), &(4999 * 8).into()));
    assert_eq!(incident["unexplained_us"], 40_100 - 4999 * 8);
    assert!(incident["advice"].as_str().unwrap().contains("smaller batches"));
    let table = said(ltt_top(["incidents"]).arg(trace.path()).env("COLUMNS", "80")).out;
    assert!(table.contains("5,000 × get 40ms") && table.contains("10.0.0.7:4242"), "{table}");
}

#[test]
fn neighbours_of_one_cause_are_one_line_and_each_lists_them() {
    let shared = SharedTrace::unpack_named("valkey-causes");
    let found = json(ltt_top(["incidents", "-n", "0"]).arg(shared.folder()));
    let [episodes, incidents] = ["episodes", "incidents"].map(|list| found[list].as_array().unwrap());
    let sum = |list: &[Value], key: &str| list.iter().map(|one| one[key].as_f64().unwrap()).sum::<f64>();
    assert!(episodes.len() < incidents.len() / 2, "{} of {}", episodes.len(), incidents.len());
    assert_eq!(sum(episodes, "count"), incidents.len() as f64);
    for key in ["held_us", "not_served", "unexplained_us"] {
        let (one, other) = (sum(episodes, key), sum(incidents, key));
        assert!((one - other).abs() < 1.0, "{key}: {one} and {other}");
    }
    let spans: HashSet<(i64, i64)> = incidents.iter().map(span).collect();
    assert!(episodes.iter().all(|episode| spans.contains(&span(&episode["longest"]))));
    let lines = |arguments: &[&str]| {
        let table = said(ltt_top(["incidents"]).args(arguments).arg(shared.folder())).out;
        table.lines().filter(|line| line.starts_with("08:41:4")).count()
    };
    assert_eq!((lines(&["-n", "0"]), lines(&["-n", "0", "--each"])), (episodes.len(), incidents.len()));
}

/// NOT SERVED by brute force over the text of Babeltrace 1: the rate of half a second before and after each incident, other long
/// stalls left out, times its length, less what was served in it.
#[test]
fn not_served_is_what_a_count_over_the_text_gives() {
    let shared = SharedTrace::unpack_named("valkey-causes");
    let found = incidents(shared.folder(), &[]);
    let served: Vec<i64> = services(&Trace::open(shared.folder()));
    let long: Vec<(i64, i64)> =
        found.iter().map(span).filter(|(begin, end)| end - begin >= 20_000_000).collect();
    let until = |time: i64| served.partition_point(|&served| served <= time);
    let count = |(begin, end): (i64, i64)| (until(end) - until(begin)) as f64;
    for incident in &found {
        let (begin, end) = span(incident);
        let around = [((begin - 500_000_000).max(served[0]).min(begin), begin), (end, end + 500_000_000)];
        let mut time: f64 = around.iter().map(|(begin, end)| (end - begin) as f64).sum();
        let mut counted: f64 = around.into_iter().map(count).sum();
        let rate = counted / time;
        for other in long.iter().filter(|other| **other != (begin, end)) {
            for part in around {
                let both = (part.0.max(other.0), part.1.min(other.1));
                let length = (both.1 - both.0) as f64;
                if length > 0.0 && count(both) < rate * length / 2.0 {
                    time -= length;
                    counted -= count(both);
                }
            }
        }
        let not_served = (counted * (end - begin) as f64 / time - count((begin - 1, end))).max(0.0);
        let said = incident["not_served"].as_f64().unwrap();
        assert!(
            (said - not_served).abs() <= 10.0 + not_served * 0.2,
            "{said}, counted {not_served}: {incident:#}"
        );
    }
}

/// When the commands of clients ended, those within others left out.
fn services(trace: &Trace) -> Vec<i64> {
    let mut served: Vec<(i64, String)> = Vec::new();
    for event in trace.events_named("valkey_commands:command_call") {
        let field =
            |name: &str| event.fields.iter().find(|(field, _)| field == name).map(|(_, value)| &**value);
        let client = field("addr").unwrap_or("\"\"").to_owned();
        let us: u64 = field("duration").unwrap().parse().unwrap();
        if client == "\"\"" || us >= 1 << 62 {
            continue;
        }
        let begin = event.timestamp - us as i64 * 1000;
        while served.last().is_some_and(|(end, of)| *of == client && *end >= begin) {
            served.pop();
        }
        served.push((event.timestamp, client));
    }
    served.into_iter().map(|(end, _)| end).collect()
}
