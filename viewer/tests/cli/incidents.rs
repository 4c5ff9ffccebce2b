//! `ltt-top incidents`: timelines with what they must come to, and a real server with stalls made on purpose.

use std::path::Path;

use lttng_testing::check_golden;
use serde_json::Value;

use super::run::{json, ltt_top, said};
use super::shared_trace::{SharedTrace, data};
use super::timeline::{self, BEGIN, Item, Recorded};

/// Each file of `incidents/` is a timeline and, after `== incidents`, what is found in it. `OVERWRITE=1` rewrites that.
#[test]
fn timelines_come_to_their_incidents() {
    let mut failures = Vec::new();
    for (case, timeline) in cases() {
        let trace = timeline::write(&timeline);
        let found = json(ltt_top(["incidents"]).arg(trace.path()));
        failures.extend(check_golden(case, &format!("{timeline}== incidents\n{}", outline(&found))).err());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Yesterday's recording, read together with today's, changes nothing of what either says.
#[test]
fn recordings_of_two_days_are_found_as_each_alone() {
    const DAY: u64 = 24 * 3600 * 1_000_000;
    for (case, timeline) in cases() {
        let [today, tomorrow] = [0, DAY].map(|later| timeline::write_later(&timeline, later));
        let incidents = |folders: &[&Path]| {
            let found = json(ltt_top(["incidents", "-n", "0"]).args(folders));
            let mut incidents = found["incidents"].as_array().unwrap().clone();
            incidents.sort_by_key(|incident| incident["begin_ns"].as_i64());
            let line = |one: &Value| {
                let names = ["begin_ns", "held_us", "kind", "cause", "unexplained_us"];
                let line = names.map(|name| one[name].to_string()).join(" ");
                // Who waits for the first turn ever is known only if turns are.
                match timeline.contains("times every") && one["waited"]["clients"] != 0 {
                    true => format!("{line} {} {}", one["waited"], one["not_served"]),
                    false => line,
                }
            };
            let lines = incidents.iter().map(line);
            lines.collect::<Vec<_>>()
        };
        let apart = [incidents(&[today.path()]), incidents(&[tomorrow.path()])].concat();
        assert_eq!(incidents(&[today.path(), tomorrow.path()]), apart, "{case}");
    }
}

/// The names and the timelines of `incidents/`.
fn cases() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/incidents");
    let cases = std::fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let (timeline, _) = text.split_once("== incidents\n").expect("a case has `== incidents`");
        (path.display().to_string(), timeline.to_owned())
    });
    let mut cases: Vec<_> = cases.collect();
    cases.sort();
    assert!(cases.len() >= 20, "only {} cases are left", cases.len());
    cases
}

/// What was found, a line for each incident: times in microseconds.
fn outline(found: &Value) -> String {
    let mut text = String::new();
    for incident in found["incidents"].as_array().unwrap() {
        let link = |link: &Value| {
            let event = link["event"].as_str().unwrap();
            let name = link["key"].as_object().unwrap().values().next().and_then(Value::as_str);
            let name = name.unwrap_or(event.split(':').next_back().unwrap());
            let count = link["count"].as_u64().unwrap();
            let times = if count > 1 { format!("{count} × ") } else { String::new() };
            format!("{times}{name} {}", link["duration_us"])
        };
        let chain: Vec<String> = incident["chain"].as_array().unwrap().iter().map(link).collect();
        let begin = (incident["begin_ns"].as_i64().unwrap() - BEGIN as i64) as f64 / 1e3;
        let cause = match &incident["cause"] {
            Value::Null => "nothing".into(),
            cause => link(cause),
        };
        let waited = &incident["waited"];
        text += &format!(
            "{} at {begin}: {}; cause {cause}; unexplained {}",
            incident["kind"].as_str().unwrap(),
            chain.join(" < "),
            incident["unexplained_us"]
        );
        if waited["of"].as_u64() > Some(0) {
            text +=
                &format!("; waited {} of {} up to {}", waited["clients"], waited["of"], waited["longest_us"]);
        }
        if waited.is_null() && incident["not_served"] != 0 {
            text += &format!("; not served {}", incident["not_served"]);
        }
        if let Some(evidence) = incident["evidence"].as_str() {
            text += &format!("; by {evidence}");
        }
        if let Some(side) = incident["beside"]["side"].as_str() {
            text += &format!("; {} {side} it", incident["beside"]["time_us"]);
        }
        if incident["is_incomplete"] == true {
            text += "; incomplete";
        }
        for other in incident["meanwhile"].as_array().unwrap() {
            text += &format!("; meanwhile {}", link(&other["event"]));
        }
        text.push('\n');
    }
    for what in ["untraced", "restarts"] {
        for time in found[what].as_array().unwrap() {
            let [begin, end] =
                ["begin_ns", "end_ns"].map(|name| (time[name].as_i64().unwrap() - BEGIN as i64) as f64 / 1e3);
            text += &format!("{what}: {begin} to {end}\n");
        }
    }
    text + &format!(
        "blocked {}, unexplained {}, set aside {}\n",
        found["blocked_us"], found["unexplained_us"], found["set_aside"]
    )
}

/// The incident of the causes trace that begins within a number of milliseconds after a time of the truth.
fn after<'f>(found: &'f Value, truth: &str, within_ms: i64) -> Vec<&'f Value> {
    let (seconds, _) = truth.split_once(' ').unwrap();
    let (whole, fraction) = seconds.split_once('.').unwrap();
    let sent = whole.parse::<i64>().unwrap() * 1_000_000_000 + fraction.parse::<i64>().unwrap();
    let is_near = |incident: &&Value| {
        (sent - 1_000_000..sent + within_ms * 1_000_000).contains(&incident["begin_ns"].as_i64().unwrap())
    };
    found["incidents"].as_array().unwrap().iter().filter(is_near).collect()
}

#[test]
fn a_longer_threshold_only_leaves_out_shorter_incidents() {
    let shared = SharedTrace::unpack_named("valkey-causes");
    let found = |threshold: &str| {
        let found = json(ltt_top(["incidents", "-n", "0", "--longer-than", threshold]).arg(shared.folder()));
        found["incidents"].as_array().unwrap().clone()
    };
    let (all, long) = (found("1ms"), found("10ms"));
    let is_long = |incident: &&Value| incident["held_us"].as_f64().unwrap() >= 10_000.0;
    let expected: Vec<Value> = all.iter().filter(is_long).cloned().collect();
    assert!(long.len() > 3 && all.len() > long.len());
    let times = |of: &[Value]| -> Vec<(i64, i64)> {
        let time = |incident: &Value, name: &str| incident[name].as_i64().unwrap();
        let mut times: Vec<_> = of.iter().map(|one| (time(one, "begin_ns"), time(one, "end_ns"))).collect();
        times.sort_unstable();
        times
    };
    assert_eq!(times(&long), times(&expected));
}

#[test]
fn every_stall_made_on_purpose_is_one_incident_with_its_cause() {
    let shared = SharedTrace::unpack_named("valkey-causes");
    let found = json(ltt_top(["incidents", "--longer-than", "10ms"]).arg(shared.folder()));
    let truth = std::fs::read_to_string(data("valkey-causes.truth")).unwrap();
    let line = |about: &str| truth.lines().find(|line| line.contains(about)).unwrap();
    // What was sent, the command that ran, how long its turn and the command took, and what no event covers: those of
    // Babeltrace's text, worked out by hand.
    for (about, name, held, took, unexplained) in [
        ("smembers", "smembers", 116_593, 116_243, 347),
        ("exec two", "exec", 164_847, 164_613, 230),
        ("eval 40000", "eval", 115_633, 115_356, 274),
        ("debug sleep", "debug", 30_364, 30_169, 192),
        ("bgrewriteaof", "bgrewriteaof", 45_479, 6_591, 38_886),
        ("del of a set", "del", 109_678, 107_303, 2_311),
        ("expire of 60000", "eval", 520_596, 378_152, 112_053),
    ] {
        let incidents = after(&found, line(about), 15);
        let [incident] = &incidents[..] else { panic!("{about}: {incidents:#?}") };
        let cause = &incident["cause"];
        assert_eq!(cause["event"], "valkey_commands:command_call", "{about}");
        assert_eq!(cause["key"]["name"], name);
        assert_eq!((&incident["held_us"], &cause["duration_us"]), (&held.into(), &took.into()), "{about}");
        let us = |value: &Value| value.as_f64().unwrap();
        let handling = us(&cause["spent_us"]) - us(&cause["duration_us"]);
        let uncovered = us(&incident["unexplained_us"]) + handling;
        assert!((uncovered - f64::from(unexplained)).abs() < 0.01, "{about}: {uncovered}");
        assert!(cause["client"].as_str().unwrap().starts_with("127.0.0.1:"));
        assert!(incident["advice"].as_str().unwrap().len() > 40);
    }
    let exec = after(&found, line("exec two"), 15)[0];
    assert_eq!(
        (&exec["chain"][2]["key"]["name"], &exec["chain"][2]["count"]),
        (&"hgetall".into(), &2.into())
    );
    assert_eq!((&exec["waited"]["clients"], &exec["waited"]["of"]), (&6.into(), &15.into()));
    assert!(exec["not_served"].as_u64().unwrap() > 5000);
    let rewrite = after(&found, line("bgrewriteaof"), 15)[0];
    assert_eq!(rewrite["chain"][2]["event"], "valkey_aof:fork");
    assert!(
        rewrite["advice"].as_str().unwrap().contains("huge pages"),
        "the innermost event knows what helps"
    );
    // The process was stopped while it slept: it woke up late, and nothing before its timer was due can tell.
    let stopped = after(&found, line("stopped"), 80);
    let [stopped] = &stopped[..] else { panic!("{stopped:#?}") };
    assert_eq!((&stopped["kind"], &stopped["cause"]), (&"silence".into(), &Value::Null));
    let late = stopped["held_us"].as_f64().unwrap();
    assert!((29_000.0..31_000.0).contains(&late), "{late}");
    // Keys expire in cycles of 25 ms, one after another.
    let expiry: Vec<&Value> = found["causes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|cause| cause["event"] == "valkey_db:expire_cycle_keys")
        .collect();
    assert_eq!(expiry.len(), 1);
    assert_eq!(expiry[0]["count"], 7);
    assert!(expiry[0]["advice"].as_str().unwrap().contains("expire at the same time"));
    let unrecorded = found["unrecorded"].as_array().unwrap();
    assert!(unrecorded.iter().any(|event| event == "valkey_db:eviction_cycle"));
    assert!(
        found["not_causes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|other| other["event"] == "valkey_server:module_acquire_gil")
    );
}

#[test]
fn the_default_command_shows_incidents_and_then_groups() {
    let shared = SharedTrace::unpack_named("valkey-causes");
    let said = said(ltt_top([] as [&str; 0]).arg(shared.folder()).env("COLUMNS", "120"));
    assert_eq!((said.status, &*said.err), (0, ""));
    let (incidents, groups) = said.out.split_once("\n\n").expect("they are apart");
    assert!(
        incidents.contains("blocked 1.45 s of 5.92 s") && incidents.contains("smembers 116ms"),
        "{incidents}"
    );
    assert!(groups.contains("P99.9") && groups.contains("SMEMBERS answers with the whole set"), "{groups}");
    assert!(said.out.lines().all(|line| line.chars().count() <= 120), "{}", said.out);
    let found = json(ltt_top([] as [&str; 0]).arg(shared.folder()));
    assert!(
        found["groups"].as_array().unwrap().len() > 10 && found["incidents"]["found"].as_u64().unwrap() > 20
    );
}

#[test]
fn a_filter_leaves_out_what_it_does_not_choose() {
    let shared = SharedTrace::unpack_named("valkey-causes");
    let with = |arguments: &[&str]| json(ltt_top(["incidents"]).args(arguments).arg(shared.folder()));
    let commands = with(&["--event", "command_call", "--where", "duration>50ms"]);
    let names: Vec<&str> = commands["incidents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|incident| incident["cause"]["key"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["smembers", "exec", "eval", "del", "eval"]);
    let late = with(&["--since", "+5.2s"]);
    assert!(
        late["incidents"]
            .as_array()
            .unwrap()
            .iter()
            .all(|incident| incident["cause"]["event"] == "valkey_db:expire_cycle_keys")
    );
    assert_eq!(with(&["--pid", "1"])["found"], 0);
    assert_eq!(with(&["--longer-than", "1s"])["found"], 0);
}

#[test]
fn slow_says_what_an_event_was_slow_because_of() {
    let shared = SharedTrace::unpack_named("valkey-causes");
    let found = json(ltt_top(["slow", "--where", "name=exec"]).arg(shared.folder()));
    let names = |chain: &Value| -> Vec<String> {
        let links = chain.as_array().unwrap().iter();
        links
            .map(|link| link["key"]["name"].as_str().unwrap_or(link["event"].as_str().unwrap()).into())
            .collect()
    };
    assert_eq!(names(&found["events"][0]["chain"]), ["valkey_server:eventloop", "exec", "hgetall"]);
    let found = json(ltt_top(["slow", "--event", "valkey_aof:fork"]).arg(shared.folder()));
    assert_eq!(
        names(&found["events"][0]["chain"]),
        ["valkey_server:eventloop", "bgrewriteaof", "valkey_aof:fork"]
    );
    let said = said(ltt_top(["slow", "--event", "eventloop"]).arg(shared.folder()));
    assert!(said.out.contains("exec 165ms < 2 × hgetall 165ms"), "{}", said.out);
}

#[test]
fn csv_has_a_row_for_each_incident() {
    let shared = SharedTrace::unpack_named("valkey-causes");
    let said = said(ltt_top(["incidents", "--longer-than", "100ms", "--format", "csv"]).arg(shared.folder()));
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(
        lines[0].starts_with("begin_ns,end_ns,held_us,kind,pid,cause.event,cause.key.name,cause.client"),
        "{}",
        lines[0]
    );
    assert_eq!(lines.len(), 6, "{}", said.out);
    assert!(
        lines[1].contains("116593,turn,32613,valkey_commands:command_call,smembers,127.0.0.1:52668,116243")
    );
}

/// Times that go back and forth, durations of any length, threads that mix, pairs without an end: whatever a trace says,
/// there is an answer, it is the same each time, and no more is blocked than the trace is long.
#[test]
fn random_and_hostile_timelines_are_survived() {
    const EVENTS: [&str; 9] =
        ["turn", "call", "flush", "fork", "cron", "gil", "app:request", "app:call_entry", "app:call_exit"];
    for seed in 0..24 {
        let random = &mut fastrand::Rng::with_seed(seed);
        let is_hostile = seed % 3 == 0;
        let mut time = BEGIN;
        let mut items = Vec::new();
        for _ in 0..random.usize(0..400) {
            let stream = random.u32(0..3);
            time = match random.u8(..) {
                0 => time.wrapping_add(random.u64(..)),
                1..3 if is_hostile => random.u64(..),
                _ => time.wrapping_add(random.u64(0..300_000)),
            };
            let event = EVENTS[random.usize(..EVENTS.len())];
            let duration = match random.u8(..) {
                0 if is_hostile => random.u64(..),
                1 if is_hostile => u64::MAX >> random.u32(0..64),
                2..20 => random.u64(0..50_000),
                _ => random.u64(0..100),
            };
            if random.u8(..) < 4 {
                items.push(if random.bool() { Item::Lost(stream) } else { Item::Packet(stream) });
            }
            items.push(Item::Event(Recorded {
                stream,
                tid: random.u32(1..4),
                event: event.into(),
                time,
                duration: (!event.contains("call_")).then_some(duration),
                name: ["get", "set", ""][random.usize(..3)].into(),
                client: ["a", "b", "c", ""][random.usize(..4)].into(),
            }));
        }
        if items.is_empty() {
            continue;
        }
        let trace = timeline::write_items(&items, random.bool());
        let find = || said(ltt_top(["incidents", "--format", "json", "-n", "0"]).arg(trace.path()));
        let found = find();
        assert!(found.status == 0 || found.status == 3, "seed {seed}: {found:?}");
        assert_eq!(found.out, find().out, "seed {seed}");
        let found: Value = serde_json::from_str(&found.out).expect("it is JSON");
        for incident in found["incidents"].as_array().unwrap() {
            assert!(incident["end_ns"].as_i64() >= incident["begin_ns"].as_i64(), "seed {seed}: {incident}");
            assert!(
                incident["unexplained_us"].as_f64() <= incident["held_us"].as_f64(),
                "seed {seed}: {incident}"
            );
        }
    }
}

/// The goal for a busy machine: what no event explains, the scheduler does.
#[test]
fn of_the_time_that_a_busy_demo_was_blocked_nearly_all_has_a_cause() {
    let recorded = SharedTrace::unpack_named("valkey-lite-busy");
    let found = json(ltt_top(["incidents"]).arg(recorded.folder()));
    let us = |key: &str| found[key].as_f64().unwrap();
    let known = 1.0 - us("unaccounted_us") / us("blocked_us");
    // What samples leave open, because they are too far apart, has no cause.
    assert!(known >= 0.55, "only {known:.3} of {} µs has a cause: {}", us("blocked_us"), found["causes"]);
}

/// The headline has what lies in no event, as the rows add up to it, and what is left of that by samples of the scheduler.
#[test]
fn the_headline_says_of_unexplained_time_what_the_rows_do() {
    let unexplained = "0 1 call 10 20 get a\n0 1 turn 0 5000\n";
    let explained = "0 1 call 0 5000 get a\n0 1 turn 0 5000\n";
    let busy = SharedTrace::unpack_named("valkey-lite-busy");
    let traces = [timeline::write(unexplained), timeline::write(explained)];
    let folders = [traces[0].path(), traces[1].path(), busy.folder()];
    for (folder, has) in folders.into_iter().zip([[true, false], [false, false], [true, true]]) {
        let found = json(ltt_top(["incidents", "-n", "0"]).arg(folder));
        let us = |of: &Value, key: &str| of[key].as_f64().unwrap();
        let rows: f64 = found["incidents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|incident| us(incident, "unexplained_us"))
            .sum();
        assert!((rows - us(&found, "unexplained_us")).abs() < 1.0, "{rows}: {found:#}");
        assert!(us(&found, "unaccounted_us") <= us(&found, "unexplained_us"), "{found:#}");
        let said = said(ltt_top(["incidents"]).arg(folder)).out;
        let headline = said.lines().find(|line| line.starts_with("blocked ")).expect("a headline");
        let words = [headline.contains("unexplained"), headline.contains(" in no event, ")];
        assert_eq!(words, has, "{headline}");
    }
}

/// A turn of 20 ms is no reason to look at the SET of 1 µs in it.
#[test]
fn causes_that_hardly_matter_have_no_advice() {
    let folder = timeline::write("0 1 call 19900 19901 set a\n0 1 turn 0 20000\n");
    let found = json(ltt_top(["incidents"]).arg(folder.path()));
    let causes = found["causes"].as_array().unwrap();
    assert!(causes.iter().any(|cause| cause["key"]["name"] == "set"), "{causes:#?}");
    let table = said(ltt_top(["incidents"]).arg(folder.path())).out;
    assert!(!table.lines().any(|line| line.ends_with("  set")), "{table}");
    assert!(table.contains("1 cause that took less time not shown"), "{table}");
}

/// Where no event covers the time before a request, it may be a part of a larger one of somebody else that was read.
#[test]
fn whose_request_was_read_is_a_guess() {
    let folder = timeline::write(
        "0 1 call 10 20 get alice\n0 1 turn 0 50\n0 1 call 9000 9010 set bob\n0 1 turn 4000 9050\n",
    );
    let table = said(ltt_top(["incidents"]).arg(folder.path())).out;
    assert!(table.contains("in no event before set 10µs") && table.contains("bob?"), "{table}");
    let folder = timeline::write(
        "0 1 call 10 20 get alice\n0 1 turn 0 50\n0 1 call 4010 4020 set bob\n0 1 turn 4000 9050\n",
    );
    let table = said(ltt_top(["incidents"]).arg(folder.path())).out;
    assert!(table.contains("in no event after set 10µs") && !table.contains("bob?"), "{table}");
}
