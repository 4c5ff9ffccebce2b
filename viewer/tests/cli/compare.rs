//! `ltt-top compare`: two recordings with a known difference.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::handwritten::{BEGIN, Handwritten};
use super::run::{json, ltt_top, said};
use super::shared_trace::SharedTrace;

/// Two thousand requests in two seconds whose durations vary around a number of microseconds, and others that do not
/// differ between recordings.
fn recording(seed: u64, microseconds: f64, extra: Option<&str>) -> TempDir {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut trace = Handwritten::new("host");
    let get = trace.class("app:get", "u64 _latency_us;");
    let put = trace.class("app:put", "u64 _latency_us;");
    let extra = extra.map(|name| trace.class(name, "u64 _latency_us;"));
    for number in 0..2000 {
        let at = BEGIN + number * 1_000_000;
        let mut duration = |level: f64| ((level * (0.5 + random.f64())) as u64).to_le_bytes();
        trace.event_at(at, get, &[&duration(microseconds)]);
        trace.event_at(at + 1000, put, &[&duration(300.0)]);
        if let Some(extra) = extra {
            trace.event_at(at + 2000, extra, &[&duration(9.0)]);
        }
    }
    trace.write()
}

fn group<'f>(found: &'f Value, event: &str) -> &'f Value {
    let groups = found["groups"].as_array().unwrap();
    groups.iter().find(|group| group["event"] == event).unwrap_or_else(|| panic!("{event}: {found}"))
}

#[test]
fn a_regression_is_found_and_ranked_by_the_time_that_it_costs() {
    let (before, after) = (recording(1, 100.0, Some("app:old")), recording(2, 150.0, Some("app:new")));
    let found = json(ltt_top(["compare"]).args([before.path(), after.path()]));
    let get = group(&found, "app:get");
    assert_eq!(
        (&get["verdict"], &found["groups"][0]["event"]),
        (&"slower".into(), &"app:get".into()),
        "{found}"
    );
    let median = &get["changes"][1];
    assert_eq!(median["figure"], "p50_us");
    let (low, high) = (median["low"].as_f64().unwrap(), median["high"].as_f64().unwrap());
    assert!(low > 1.3 && low < 1.5 && high > 1.5 && high < 1.7, "{median}");
    assert_eq!(group(&found, "app:put")["verdict"], "no_difference");
    assert_eq!(group(&found, "app:new")["verdict"], "new");
    assert_eq!(group(&found, "app:old")["verdict"], "gone");
    let back = json(ltt_top(["compare"]).args([after.path(), before.path()]));
    assert_eq!(group(&back, "app:get")["verdict"], "faster");
}

#[test]
fn figures_of_both_sides_are_those_of_top() {
    let (before, after) = (recording(3, 100.0, None), recording(4, 110.0, None));
    let found = json(ltt_top(["compare"]).args([before.path(), after.path()]));
    for (side, folder) in [("before", before.path()), ("after", after.path())] {
        let top = json(ltt_top(["top"]).arg(folder));
        for event in ["app:get", "app:put"] {
            let (compared, expected) = (&group(&found, event)["figures"][side], group(&top, event));
            for figure in ["p50_us", "p90_us", "p99_us", "p999_us", "max_us", "rate_per_s"] {
                assert_eq!(
                    compared[figure].as_f64(),
                    expected[figure].as_f64(),
                    "{figure} of {event} {side}"
                );
            }
            let share = expected["wall_share"].as_f64().unwrap();
            assert!((compared["time_us_per_s"].as_f64().unwrap() / 1e6 - share).abs() < 1e-9);
        }
    }
}

#[test]
fn a_limit_fails_only_where_the_data_exclude_the_rest() {
    let (before, after) = (recording(5, 100.0, None), recording(6, 150.0, None));
    let status = |condition: &str, sides: [&Path; 2]| {
        let said = said(ltt_top(["compare", "--fail-if", condition]).args(sides));
        (said.status, said.out.contains("fails "))
    };
    let sides = [before.path(), after.path()];
    assert_eq!(status("p50>+10%", sides), (4, true));
    assert_eq!(status("time>+10%", sides), (4, true));
    assert_eq!(status("p50>+49%", sides), (0, false), "the interval includes it");
    assert_eq!(status("p50<-10%", sides), (0, false));
    assert_eq!(status("p50<-10%", [after.path(), before.path()]), (4, true));
    assert_eq!(status("p50>+1%", [before.path(), before.path()]), (0, false));
    let wrong = said(ltt_top(["compare", "--fail-if", "p98>1"]).args(sides));
    assert_eq!((wrong.status, wrong.err.lines().count()), (2, 1), "{wrong:?}");
}

#[test]
fn every_format_has_the_verdicts_and_sides_may_have_several_traces() {
    let (before, after) = (recording(7, 100.0, None), recording(8, 150.0, None));
    for format in ["table", "markdown", "csv"] {
        let said = said(ltt_top(["compare", "--format", format]).args([before.path(), after.path()]));
        assert_eq!(said.status, 0, "{said:?}");
        let line = said.out.lines().find(|line| line.contains("app:get")).expect("the group");
        assert!(line.contains("slower"), "{line}");
    }
    let several = |options: &[&str]| said(ltt_top(["compare"]).args(options)).status;
    let [before, after] = [before.path().to_str().unwrap(), after.path().to_str().unwrap()];
    assert_eq!(several(&["--before", before, "--before", after, "--after", after]), 0);
    for wrong in [&[before][..], &["--before", before], &[before, after, after], &[]] {
        assert_eq!(several(wrong), 2, "{wrong:?}");
    }
}

/// Three recordings of a real Valkey: two of the same build, and one with a regression of 10 % in GET and LRANGE.
#[test]
fn of_a_real_server_the_same_build_is_the_same_and_a_regression_is_found() {
    let recorded = SharedTrace::unpack_named("valkey-pair");
    let compare = |before: &str, after: &str| {
        json(ltt_top(["compare"]).args([before, after].map(|name| recorded.folder().join(name))))
    };
    let again = compare("before", "again");
    assert_eq!((&again["compared"], &again["slower"], &again["faster"]), (&5.into(), &0.into(), &0.into()));
    for group in again["groups"].as_array().unwrap() {
        for change in group["changes"].as_array().unwrap() {
            let (low, high) = (change["low"].as_f64(), change["high"].as_f64());
            let allows_none = low.is_none_or(|low| low <= 1.0) && high.is_none_or(|high| high >= 1.0);
            assert!(allows_none, "{}: {change}", group["key"]);
        }
    }
    let slower = compare("before", "slower");
    let named = |name: &str| {
        let is_it = |group: &&Value| group["key"]["name"] == name;
        slower["groups"].as_array().unwrap().iter().find(is_it).unwrap()
    };
    let lrange = named("lrange");
    assert_eq!(
        (&lrange["verdict"], &slower["groups"][0]["key"]["name"]),
        (&"slower".into(), &"lrange".into())
    );
    let time = lrange["changes"].as_array().unwrap().last().unwrap();
    let (low, high) = (time["low"].as_f64().unwrap(), time["high"].as_f64().unwrap());
    assert!((low..=high).contains(&1.1), "{time}");
    for name in ["set", "hset", "zadd"] {
        assert_eq!(named(name)["verdict"], "no_difference", "{name}");
    }
    assert_eq!(
        (&slower["slower"], &slower["faster"]),
        (&1.into(), &0.into()),
        "GET takes 2 µs, which hides a tenth"
    );
}
