//! `outliers` where time, processes, fields, windows and filters matter; and `top` over time.

use serde_json::Value;
use tempfile::TempDir;

use super::handwritten::{BEGIN, Handwritten};
use super::run::{json, ltt_top, said};

/// Draws that are the same on every run.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        println!("seed {seed}");
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> u64 {
        (-self.uniform().ln() * mean) as u64
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.uniform() * limit as f64) as u64
    }
}

/// A command that was called.
#[derive(Clone, Copy)]
struct Call {
    name: &'static str,
    /// After the beginning, in nanoseconds.
    time: u64,
    duration_us: u64,
    process: u32,
    client: u64,
}

const SECOND: u64 = 1_000_000_000;

fn call(name: &'static str, time: u64, duration_us: u64) -> Call {
    Call { name, time, duration_us, process: 42, client: 1 }
}

fn trace(calls: &[Call]) -> TempDir {
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("valkey_commands:command_call", "string _name; string _addr; u64 _duration;");
    let mut calls = calls.to_vec();
    calls.sort_by_key(|call| call.time);
    for Call { name, time, duration_us, process, client } in calls {
        let client = format!("10.0.0.{client}:4242\0");
        let payload: [&[u8]; 4] = [name.as_bytes(), b"\0", client.as_bytes(), &duration_us.to_le_bytes()];
        trace.event_of(process, BEGIN + time, class, &payload);
    }
    trace.write()
}

/// Healthy commands of exponential durations over a minute.
fn healthy(name: &'static str, count: u64, mean_us: f64, random: &mut Random) -> Vec<Call> {
    (0..count).map(|_| call(name, random.below(60 * SECOND), random.exponential(mean_us))).collect()
}

fn outliers(trace: &TempDir, arguments: &[&str]) -> Value {
    json(ltt_top(["outliers"]).args(arguments).arg(trace.path()))
}

fn list<'a>(found: &'a Value, name: &str) -> &'a [Value] {
    found[name].as_array().unwrap()
}

#[test]
fn a_stall_in_a_fast_server_is_found_beside_a_slow_one() {
    let mut random = Random::new(31);
    let mut calls = healthy("get", 10_000, 2_000.0, &mut random);
    calls.iter_mut().for_each(|call| call.process = 7);
    calls.extend(healthy("get", 10_000, 10.0, &mut random));
    calls.push(call("get", 30 * SECOND, 5_000));
    let found = outliers(&trace(&calls), &[]);
    let [stall] = list(&found, "events") else { panic!("{found:#}") };
    assert_eq!((&stall["duration_us"], &stall["key"]["vpid"]), (&5_000.into(), &42.into()), "{found:#}");
}

#[test]
fn processes_that_are_alike_are_judged_together() {
    let mut random = Random::new(32);
    let mut calls = healthy("get", 20_000, 10.0, &mut random);
    calls.iter_mut().enumerate().for_each(|(number, call)| call.process = 7 + number as u32 % 3);
    calls.push(call("get", 30 * SECOND, 5_000));
    let found = outliers(&trace(&calls), &[]);
    let [stall] = list(&found, "events") else { panic!("{found:#}") };
    assert_eq!(stall["key"], serde_json::json!({ "name": "get" }), "{found:#}");
    assert_eq!(found["rule"]["judged_groups"], 1, "{found:#}");
}

#[test]
fn a_slow_client_is_named_and_healthy_ones_are_not() {
    for (seed, times) in [(33, 1), (34, 10), (35, 50)] {
        let mut random = Random::new(seed);
        let mut calls = healthy("get", 20_000, 100.0, &mut random);
        for call in &mut calls {
            call.client = random.below(50);
            call.duration_us *= if call.client == 7 { times } else { 1 };
        }
        let trace = trace(&calls);
        let found = outliers(&trace, &[]);
        let named: Vec<_> =
            list(&found, "shared").iter().map(|shared| (&shared["field"], &shared["value"])).collect();
        match times {
            1 => assert!(named.is_empty(), "{found:#}"),
            _ => {
                assert_eq!(named, [(&"client".into(), &"10.0.0.7:4242".into())], "{found:#}");
                let factor = found["shared"][0]["factor"].as_f64().unwrap();
                assert!((factor / times as f64 - 1.0).abs() < 0.3, "{found:#}");
                let table = said(ltt_top(["outliers"]).arg(trace.path()));
                assert!(table.out.contains("client=10.0.0.7:4242: "), "{}", table.out);
            }
        }
    }
}

#[test]
fn what_a_mode_or_a_threshold_has_in_common_is_said() {
    let mut random = Random::new(36);
    let mut calls = healthy("get", 20_000, 100.0, &mut random);
    calls.iter_mut().for_each(|call| call.client = random.below(50));
    for number in 0..200 {
        let client = if number % 10 == 0 { random.below(50) } else { 7 };
        calls.push(Call { client, ..call("get", random.below(60 * SECOND), 40_000 + random.below(8_000)) });
    }
    let trace = trace(&calls);
    for arguments in [&[][..], &["--slower-than", "30ms"]] {
        let found = outliers(&trace, arguments);
        let [shared] = list(&found, "shared") else { panic!("{found:#}") };
        assert_eq!(
            (&shared["value"], &shared["slow"]),
            (&"10.0.0.7:4242".into(), &"slow".into()),
            "{found:#}"
        );
        let share = shared["share_of_slow"].as_f64().unwrap();
        assert!((0.85..0.95).contains(&share), "{found:#}");
    }
}

#[test]
fn a_leak_is_a_drift_and_a_healthy_trace_has_none() {
    for (seed, times) in [(37, 1.0), (38, 2.0), (39, 10.0)] {
        let mut random = Random::new(seed);
        let mut calls = healthy("get", 20_000, 1_000.0, &mut random);
        for call in &mut calls {
            let at = call.time as f64 / (60 * SECOND) as f64;
            call.duration_us = (call.duration_us as f64 * (1.0 + (times - 1.0) * at)) as u64;
        }
        let trace = trace(&calls);
        let found = outliers(&trace, &[]);
        match list(&found, "drifts") {
            [] => assert!(times < 1.5, "{times} {found:#}"),
            [drift] => {
                let factor = drift["factor"].as_f64().unwrap();
                assert!(times > 1.5 && (0.6..1.4).contains(&(factor / times)), "{found:#}");
                let table = said(ltt_top(["outliers"]).arg(trace.path()));
                assert!(table.out.contains("level rose by a factor of"), "{}", table.out);
            }
            _ => panic!("{found:#}"),
        }
    }
}

/// An event as the report has it, without what only the window decides.
fn told(event: &Value) -> String {
    format!("{} {} {}", event["timestamp_ns"], event["reason"], event["limit_us"])
}

#[test]
fn windows_and_filters_select_from_what_the_whole_trace_reports() {
    let mut random = Random::new(40);
    let mut calls = Vec::new();
    let names = ["get", "set", "del", "incr", "lpush", "zadd", "hset", "ping"];
    for (number, name) in (0..).zip(names) {
        calls.extend(healthy(name, 3_000, 100.0, &mut random));
        calls.push(call(name, (7 * number + 1) * SECOND, 40_000 * (1 + number)));
    }
    calls.iter_mut().for_each(|call| call.client = random.below(5));
    let trace = trace(&calls);
    let whole: Vec<Value> = list(&outliers(&trace, &[]), "events").to_vec();
    assert_eq!(whole.len(), 8, "{whole:#?}");
    for _ in 0..5 {
        let since = random.below(50);
        let until = since + 1 + random.below(10);
        let client = random.below(5);
        let window = [format!("+{since}s"), format!("+{until}s")];
        let mut arguments = vec!["--since", &window[0], "--until", &window[1]];
        let wanted_client = format!("10.0.0.{client}:4242");
        let filter = format!("client={wanted_client}");
        let filters = random.uniform() < 0.5;
        if filters {
            arguments.extend(["--where", &filter, "--where", "duration>1ms"]);
        }
        let found = outliers(&trace, &arguments);
        let is_in = |event: &&Value| {
            let after = event["timestamp_ns"].as_u64().unwrap() - BEGIN;
            let begin = calls.iter().map(|call| call.time).min().unwrap();
            (since * SECOND..=until * SECOND).contains(&(after - begin))
                && (!filters || event["client"] == *wanted_client)
        };
        let wanted: Vec<String> = whole.iter().filter(is_in).map(told).collect();
        let selected: Vec<String> = list(&found, "events").iter().map(told).collect();
        assert_eq!(selected, wanted, "{arguments:?}");
    }
    let alone = outliers(&trace, &["--where", "duration>1ms", "--in-isolation"]);
    assert_eq!(list(&alone, "events").len(), 0, "nothing is usual beside them: {alone:#}");
}

#[test]
fn a_mode_and_a_period_are_in_each_window_that_they_reach_into_and_in_no_other() {
    let mut random = Random::new(41);
    let mut calls = healthy("get", 30_000, 100.0, &mut random);
    for call in &mut calls {
        call.duration_us *= if (20 * SECOND..25 * SECOND).contains(&call.time) { 8 } else { 1 };
    }
    calls.extend((0..100).map(|_| call("get", (40 * SECOND) + random.below(SECOND), 400_000)));
    let trace = trace(&calls);
    for (since, until, periods, modes) in
        [("+22s", "+23s", 1, 0), ("+40s", "+41s", 0, 1), ("+5s", "+6s", 0, 0)]
    {
        let found = outliers(&trace, &["--since", since, "--until", until]);
        let numbers = (list(&found, "periods").len(), list(&found, "modes").len());
        assert_eq!(numbers, (periods, modes), "{since} {found:#}");
        let of_set = outliers(&trace, &["--since", since, "--until", until, "--where", "name=set"]);
        assert_eq!(list(&of_set, "periods").len() + list(&of_set, "modes").len(), 0);
    }
}

#[test]
fn top_shows_figures_over_time_in_every_format() {
    let mut random = Random::new(42);
    let mut calls = healthy("get", 6_000, 100.0, &mut random);
    calls.push(call("set", 30 * SECOND, 5));
    let trace = trace(&calls);
    let found = json(ltt_top(["top", "--every", "10s"]).arg(trace.path()));
    let slices = found["over_time"]["slices"].as_array().unwrap();
    let of = |key: &str| -> u64 {
        let groups = slices.iter().flat_map(|slice| slice["groups"].as_array().unwrap());
        groups.filter(|group| group["key"]["name"] == key).map(|group| group["count"].as_u64().unwrap()).sum()
    };
    assert_eq!((of("get"), of("set")), (6_000, 1), "{found:#}");
    assert!((6..=7).contains(&slices.len()), "{found:#}");
    assert!(slices[1]["begin"].as_str().unwrap().starts_with("2023-11-14T22:13:3"), "{found:#}");
    let rate = slices[1]["groups"][0]["rate_per_s"].as_f64().unwrap();
    assert!((80.0..120.0).contains(&rate), "{found:#}");
    let csv = said(ltt_top(["top", "--every", "10s", "--format", "csv"]).arg(trace.path()));
    assert!(csv.out.starts_with("begin_ns,end_ns,event,"), "{}", csv.out);
    assert_eq!(csv.out.lines().count(), 1 + slices.len() + 1, "{}", csv.out);
    let table = said(ltt_top(["top", "--every", "10s"]).arg(trace.path()));
    assert!(table.out.contains("FROM") && table.out.contains("22:13:3"), "{}", table.out);
    let refused = said(ltt_top(["top", "--every", "1us"]).arg(trace.path()));
    assert!(refused.status != 0 && refused.err.contains("choose a longer time"), "{refused:?}");
    assert_eq!(said(ltt_top(["top", "--every", "0s"]).arg(trace.path())).status, 2);
}
