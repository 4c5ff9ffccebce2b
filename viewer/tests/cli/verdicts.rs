//! `outliers` from a trace on: single events, slow modes, slow periods, and a threshold.

use serde_json::Value;

use super::handwritten::{BEGIN, Handwritten};
use super::run::{json, ltt_top, said};

/// A call: its name, the time after the beginning in nanoseconds, and its duration in microseconds.
type Call<'a> = (&'a str, u64, u64);

fn trace(calls: &[Call<'_>]) -> tempfile::TempDir {
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("valkey_commands:command_call", "string _name; u64 _duration;");
    let mut calls = calls.to_vec();
    calls.sort_by_key(|(_, time, _)| *time);
    for (name, time, duration) in calls {
        trace.event_at(BEGIN + time, class, &[name.as_bytes(), b"\0", &duration.to_le_bytes()]);
    }
    trace.write()
}

/// Numbers that look random and are the same on every run.
fn scrambled(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33
}

/// Healthy GETs of 0 to 2 µs, one every 10 µs.
fn gets(count: u64) -> Vec<Call<'static>> {
    (0..count).map(|n| ("get", n * 10_000, scrambled(n) % 3)).collect()
}

/// What a list of findings adds up to.
fn sum(found: &Value, list: &str) -> u64 {
    found[list].as_array().unwrap().iter().map(|finding| finding["count"].as_u64().unwrap()).sum()
}

#[test]
fn stalls_do_not_vanish_as_they_become_more_frequent() {
    for (calls, stalls, name) in [
        (100_000, 25, "get"),
        (100_000, 26, "get"),
        (10_000, 1_000, "get"),
        (10_000, 19, "keys"),
        (10_000, 20, "keys"),
        (10_000, 1_000, "keys"),
        (1_000, 5, "get"),
        (999, 5, "get"),
        (100, 10, "keys"),
        (100, 1, "get"),
    ] {
        let mut all = gets(calls);
        all.extend((0..stalls).map(|n| (name, (n * calls / stalls) * 10_000 + 5_000, 100_000)));
        let trace = trace(&all);
        let found = json(ltt_top(["outliers"]).arg(trace.path()));
        let counted = found["found"].as_u64().unwrap() + sum(&found, "modes") + sum(&found, "periods");
        assert_eq!(counted, stalls, "{stalls} {name} among {calls}: {found:#}");
        let listed = found["events"].as_array().unwrap().len() as u64;
        assert_eq!(listed + found["hidden_events"].as_u64().unwrap(), found["found"].as_u64().unwrap());
    }
}

#[test]
fn a_mode_is_one_line_with_its_reason_however_many_events_it_has() {
    let mut calls = gets(99_000);
    calls.extend((0..1_000).map(|n| ("get", n * 990_000, 100_000)));
    let trace = trace(&calls);
    let found = json(ltt_top(["outliers"]).arg(trace.path()));
    let [mode] = &found["modes"].as_array().unwrap()[..] else { panic!("{found:#}") };
    assert_eq!(
        (&mode["count"], &mode["key"]["name"], &mode["rule"]),
        (&1000.into(), &"get".into(), &"own".into())
    );
    let reason = "1,000 calls, 1%, around 100 ms, 100,000 times the usual; 100 s in all";
    assert!(mode["reason"].as_str().unwrap().starts_with(reason), "{mode:#}");
    let table = said(ltt_top(["outliers"]).arg(trace.path()).env("COLUMNS", "100"));
    assert!(table.out.contains(reason) && table.out.contains("slow mode"), "{}", table.out);
    assert!(!table.out.contains("rule: "), "{}", table.out);
    let table = said(ltt_top(["outliers", "--explain"]).arg(trace.path()));
    assert!(table.out.contains("rule: ") && table.out.contains("0.005"), "{}", table.out);
    let csv = said(ltt_top(["outliers", "--format", "csv"]).arg(trace.path()));
    assert!(csv.out.lines().nth(1).unwrap().starts_with("mode,1000,"), "{}", csv.out);
    assert_eq!(csv.out.lines().count(), 2);
}

/// Commands of 0 or 1 µs, 105,000 a second, but for 86 ms in which there are 21,000 a second, each slower.
fn slow_period(names: &[&'static str]) -> Vec<Call<'static>> {
    let mut calls = Vec::new();
    let (mut time, mut number) = (0, 0);
    while time < 1_200_000_000 {
        let name = names[(scrambled(number + 7) % names.len() as u64) as usize];
        let is_slow = (800_000_000..886_000_000).contains(&time);
        let duration = match (is_slow, scrambled(number) % 100) {
            (false, part) => u64::from(part < 30),
            (true, part) => 1 + u64::from(part < 35),
        };
        calls.push((name, time, duration));
        time += if is_slow { 47_600 } else { 9_520 };
        number += 1;
    }
    calls
}

#[test]
fn a_slow_period_is_found_with_its_time_its_rates_and_its_means() {
    for (names, words) in [
        (&["get"][..], "get mean 300 ns -> 1.36 µs, all its events alike: suspect the machine"),
        (&["get", "set", "incr"], "and 2 other groups, all 3 groups alike: suspect the machine"),
    ] {
        let trace = trace(&slow_period(names));
        let found = json(ltt_top(["outliers"]).arg(trace.path()));
        assert_eq!((&found["found"], &found["modes"]), (&0.into(), &serde_json::json!([])), "{found:#}");
        let [period] = &found["periods"].as_array().unwrap()[..] else { panic!("{found:#}") };
        let near = |key: &str, after: u64| period[key].as_u64().unwrap().abs_diff(BEGIN + after) < 2_000_000;
        assert!(near("begin_ns", 800_000_000) && near("end_ns", 886_000_000), "{period:#}");
        let reason = period["reason"].as_str().unwrap();
        assert!(reason.starts_with("105k/s -> 21") && reason.contains(words), "{reason}");
        assert_eq!(period["kind"], "period");
        assert!(period["count"].as_u64().unwrap().abs_diff(1_807) < 60, "{period:#}");
    }
}

/// `incidents` takes slow periods from the intervals that it finds incidents among. In isolation or with a filter all events
/// are collected in passing. With those that repeat others there is a reading of their own, and so there is where not all
/// groups are intervals: one of years is due to a clock, and there are names for so many groups only.
#[test]
fn slow_periods_beside_incidents_are_those_of_a_reading_of_their_own() {
    let of_years = 10 * 365 * 86_400 * 1_000_000;
    let many: Vec<String> = (0..10_500).map(|number| format!("key {number}")).collect();
    let many = many.iter().zip(0..).map(|(name, number)| (&**name, number * 100_000, 1));
    for (besides, groups) in [
        (Vec::new(), 1),
        (vec![("set", 5, 3), ("get", 1_000_000_000, of_years)], 1),
        (many.collect(), 10_501),
    ] {
        let mut calls = slow_period(&["get"]);
        calls.extend(besides);
        let trace = trace(&calls);
        let periods = |options: &[&str]| {
            let found = json(ltt_top(["incidents"]).args(options).arg(trace.path()));
            found["periods"].as_array().unwrap().clone()
        };
        let found = periods(&[]);
        for options in [&["--in-isolation"][..], &["--all"], &["--event", "*"], &["--event", "*", "--all"]] {
            assert_eq!(found, periods(options), "{options:?}, of {groups} groups");
        }
        assert_eq!(found.len(), 1, "of {groups} groups: {found:#?}");
    }
}

#[test]
fn a_level_that_shifts_and_stays_is_said_to() {
    let calls: Vec<Call<'_>> = (0..30_000)
        .map(|n| ("get", n * 100_000, (50 + scrambled(n) % 50) * if n < 20_000 { 1 } else { 2 }))
        .collect();
    let found = json(ltt_top(["outliers"]).arg(trace(&calls).path()));
    let [period] = &found["periods"].as_array().unwrap()[..] else { panic!("{found:#}") };
    assert_eq!(period["kind"], "shift");
    assert!(period["count"].as_u64().unwrap().abs_diff(10_000) < 20, "{period:#}");
}

#[test]
fn a_threshold_lists_and_counts_whatever_is_common() {
    let mut calls = gets(1_000);
    calls.extend((0..300).map(|n| ("get", n * 33_000, 10_000 + n)));
    calls.extend([("keys", 5, 9_999), ("keys", 6, 50_000), ("keys", 7, u64::MAX)]);
    let trace = trace(&calls);
    let found = json(ltt_top(["outliers", "--slower-than", "10ms"]).arg(trace.path()));
    assert_eq!((&found["found"], &found["threshold"]["count"]), (&301.into(), &301.into()));
    assert_eq!((&found["threshold"]["slower_than_us"], &found["rule"]), (&10_000.into(), &Value::Null));
    let groups = found["threshold"]["groups"].as_array().unwrap();
    let counts: Vec<_> = groups.iter().map(|group| (&group["key"]["name"], &group["count"])).collect();
    assert_eq!(counts, [(&"get".into(), &300.into()), (&"keys".into(), &2.into())]);
    assert_eq!(found["implausible"], 1);
    assert_eq!(
        (&found["events"][0]["duration_us"], &found["events"][0]["rule"]),
        (&50_000.into(), &"threshold".into())
    );
    let table = said(ltt_top(["outliers", "--slower-than", "10ms", "-n", "2"]).arg(trace.path()));
    assert!(table.out.contains("301 events took 10 ms or longer"), "{}", table.out);
    assert!(table.out.contains("the 299 shortest are not shown"), "{}", table.out);
    let none = said(ltt_top(["outliers", "--slower-than", "1m"]).arg(trace.path()));
    assert!(none.status == 0 && none.out.contains("0 events took 60 s or longer"), "{none:?}");
}

#[test]
fn thousands_of_healthy_groups_get_hardly_any_line() {
    let names: Vec<String> = (0..3_000).map(|n| format!("command-{n}")).collect();
    let mut calls: Vec<Call<'_>> = Vec::new();
    for n in 0..120_000 {
        let uniform = (scrambled(n) as f64 + 0.5) / (1_u64 << 31) as f64;
        calls.push((&names[(n % 3_000) as usize], n * 10_000, (-100.0 * uniform.ln()) as u64));
    }
    calls.push((&names[17], 5, 500_000));
    let found = json(ltt_top(["outliers"]).arg(trace(&calls).path()));
    assert_eq!(
        (&found["found"], &found["events"][0]["duration_us"]),
        (&1.into(), &500_000.into()),
        "{found:#}"
    );
    assert_eq!(sum(&found, "modes") + sum(&found, "periods"), 0, "{found:#}");
}

#[test]
fn traces_with_a_few_events_or_none_say_so() {
    let few: Vec<Call<'_>> = (0..10).map(|n| ("get", n * 6_000_000_000, 5 + n % 3)).collect();
    let found = json(ltt_top(["outliers"]).arg(trace(&few).path()));
    assert_eq!((&found["judged"], &found["found"]), (&10.into(), &0.into()));
    let found = json(ltt_top(["outliers"]).arg(trace(&few[..3]).path()));
    assert_eq!((&found["judged"], &found["unjudged"][0]["count"]), (&0.into(), &3.into()));
    let same: Vec<Call<'_>> = (0..1_000).map(|_| ("get", 0, 7)).collect();
    let found = json(ltt_top(["outliers"]).arg(trace(&same).path()));
    assert_eq!((&found["judged"], &found["found"]), (&1000.into(), &0.into()), "all at the same time");
}
