//! What no event explains, explained by samples of the scheduler beside a trace.

use std::fs;
use std::path::Path;

use ltt_analysis::samples::{
    FOLDER, LimitSample, MachineSample, RunnerSample, Sample, SampleWriter, ThreadSample,
};
use lttng_testing::Trace;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::html::Page;
use super::run::{json, ltt_top, said};
use super::timeline::{self, BEGIN};

/// The turns of a loop, a millisecond apart, and one from 30 to 40 ms in which nothing is recorded.
pub const TURNS: &str = "30 times every 1000\n  0 1 turn 0 100\n0 1 turn 30000 40000\n\
    20 times every 1000\n  0 1 turn 41000 41100\n";

/// Turns with 80 ms between them in which nothing is recorded.
const APART: &str = "30 times every 1000\n  0 1 turn 0 100\n40 times every 1000\n  0 1 turn 110000 110100\n";

const MS: u64 = 1_000_000;

/// A sample of the thread: milliseconds, its state, milliseconds on a CPU and without one, and major faults.
type Seen = (u64, u8, u64, u64, u64);

/// What it is called, samples of the thread and others, and what must be said: a cause, at least this number of milliseconds,
/// and a sentence.
type Case<'c> = (&'c str, &'c [Seen], Vec<(u64, Sample)>, &'c str, u64, &'c str);

/// A sample of the thread, which has gone to sleep this number of times.
fn thread(&(at, state, on_cpu, queued, major_faults): &Seen, voluntary_switches: u64) -> (u64, Sample) {
    let sample = ThreadSample {
        vpid: 42,
        vtid: 1,
        since_ns: 2 * MS,
        state,
        cpu: 1,
        on_cpu_ns: on_cpu * MS,
        queued_ns: queued * MS,
        voluntary_switches,
        major_faults,
        ..ThreadSample::default()
    };
    (at, Sample::Thread(sample))
}

/// The trace of a timeline, with samples of its thread every two milliseconds where it changed.
pub fn sampled(timeline: &str, seen: &[Seen], others: &[(u64, Sample)]) -> TempDir {
    let trace = timeline::write(timeline);
    let of_thread = seen.iter().map(|seen| thread(seen, 0));
    let mut samples: Vec<(u64, Sample)> = of_thread.chain(others.iter().cloned()).collect();
    samples.sort_by_key(|(at, _)| *at);
    // Like BEGIN, the clock counts from 1970.
    let mut writer = SampleWriter::new(trace.path(), "here", 0);
    samples.iter().for_each(|(at, sample)| writer.add(BEGIN + at * MS, sample).expect("it is written"));
    writer.finish(trace.path()).expect("it is written");
    trace
}

/// The incident of the long turn.
pub fn incident(trace: &Path) -> Value {
    let found = json(ltt_top(["incidents"]).arg(trace));
    let incidents = found["incidents"].as_array().expect("a list").clone();
    let [incident] = &incidents[..] else { panic!("{found:#}") };
    incident.clone()
}

fn runner(tid: i32, comm: &str, on_cpu_ms: u64) -> Sample {
    Sample::Runner(RunnerSample { pid: tid, tid, cpu: 1, on_cpu_ns: on_cpu_ms * MS, comm: comm.into() })
}

#[test]
fn what_no_event_explains_is_explained_by_samples() {
    let machine =
        |steal: u64| Sample::Machine(MachineSample { steal_ns: steal * MS, ..MachineSample::default() });
    let limit = |ms: u64| Sample::Limit(LimitSample { vpid: 42, throttled_ns: ms * MS });
    let alive = [(0, machine(0)), (60, machine(0))];
    // The kernel says how long it waited when it gets a CPU.
    let queued = [(0, b'S', 0, 0, 0), (29, b'S', 3, 0, 0), (30, b'R', 3, 0, 0), (41, b'S', 4, 9, 0)];
    let cases: [Case<'_>; 8] = [
        (
            "queued",
            &queued,
            vec![
                (0, runner(7, "cargo", 0)),
                (0, runner(8, "sh", 0)),
                (45, runner(7, "cargo", 30)),
                (45, runner(8, "sh", 1)),
            ],
            "queued",
            9,
            "waited in the run queue (`cargo` had it)",
        ),
        (
            "throttled",
            &queued,
            vec![(29, limit(0)), (41, limit(10))],
            "throttled",
            9,
            "its control group had used up its limit",
        ),
        (
            "stopped",
            &[(0, b'S', 0, 0, 0), (30, b'T', 3, 0, 0), (41, b'S', 4, 0, 0)],
            vec![],
            "stopped",
            9,
            "stopped by a signal or a debugger",
        ),
        (
            "on the CPU",
            &[
                (0, b'S', 0, 0, 0),
                (30, b'R', 3, 0, 0),
                (34, b'R', 7, 0, 0),
                (40, b'R', 13, 0, 0),
                (41, b'S', 13, 0, 0),
            ],
            vec![],
            "on_cpu",
            10,
            "sampled: code without events",
        ),
        (
            "faults",
            &[(0, b'S', 0, 0, 0), (30, b'D', 3, 0, 0), (40, b'S', 3, 0, 3), (41, b'S', 4, 0, 3)],
            vec![],
            "faults",
            9,
            "3 major faults",
        ),
        (
            "device",
            &[(0, b'S', 0, 0, 0), (30, b'D', 3, 0, 0), (40, b'S', 3, 0, 0), (41, b'S', 4, 0, 0)],
            vec![],
            "device",
            9,
            "waited for a device",
        ),
        (
            "asleep",
            &[
                (0, b'S', 0, 0, 0),
                (30, b'S', 3, 0, 0),
                (34, b'S', 3, 0, 0),
                (40, b'S', 3, 0, 0),
                (41, b'S', 4, 0, 0),
            ],
            vec![],
            "asleep",
            9,
            "waited for a lock, a socket or another process",
        ),
        (
            "stolen",
            &[(0, b'S', 0, 0, 0), (30, b'R', 3, 0, 0), (40, b'R', 13, 0, 0), (41, b'S', 13, 0, 0)],
            vec![(0, machine(0)), (29, machine(0)), (41, machine(10)), (60, machine(10))],
            "stolen",
            10,
            "the hypervisor gave it to others",
        ),
    ];
    for (case, seen, others, cause, least_ms, sentence) in cases {
        let others: Vec<(u64, Sample)> =
            if case == "stolen" { others } else { [others, alive.to_vec()].concat() };
        let trace = sampled(TURNS, seen, &others);
        let incident = incident(trace.path());
        let held_by = &incident["held_by"];
        assert_eq!(held_by["cause"], cause, "{case}: {incident:#}");
        let us = |bound: &str| held_by["time"][bound].as_f64().unwrap();
        assert!(
            us("most_us") >= least_ms as f64 * 900.0 && us("most_us") <= 10_000.0,
            "{case}: {incident:#}"
        );
        assert!(us("least_us") >= 5_000.0, "{case}: {incident:#}");
        let scheduler = &incident["scheduler"];
        assert_eq!(scheduler["source"], "samples");
        let all = ["on_cpu", "queued", "stopped", "device", "asleep"];
        let sum = |bound: &str| all.iter().map(|part| scheduler[part][bound].as_f64().unwrap()).sum::<f64>();
        assert!(sum("least_us") <= 10_000.0 && sum("most_us") >= 10_000.0, "{case}: {scheduler:#}");
        let found = json(ltt_top(["incidents"]).arg(trace.path()));
        assert_eq!(found["causes"][0]["system"], cause, "{case}");
        let table = said(ltt_top(["incidents"]).arg(trace.path()).env("COLUMNS", "100")).out;
        let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(table.contains(sentence), "{case}: {table}");
        let page = Page::of(&[trace.path()]);
        assert!(page.text().contains(sentence), "{case}");
        page.charges_add_up();
        // The page calls causes what the table calls them.
        let called = page.causes();
        assert_ne!(called[0], "in no event", "{case}: {called:?}");
        called.iter().for_each(|name| assert!(table.contains(name.as_str()), "{case}: {name}: {table}"));
        // And so does everything else.
        assert_eq!(found["causes"][0]["in_words"], called[0], "{case}");
        let markdown = said(ltt_top(["incidents", "--format", "markdown"]).arg(trace.path())).out;
        let compared = said(ltt_top(["compare"]).args([trace.path(), trace.path()])).out;
        let timeline = said(ltt_top(["export", "--output", "-"]).arg(trace.path())).out;
        let advice = found["causes"][0]["advice"].as_str().expect("it has some");
        assert!(table.contains(advice) && page.text().contains(advice), "{case}: {advice}: {table}");
        assert!(markdown.contains(advice), "{case}: {advice}: {markdown}");
        for (output, text) in [("markdown", markdown), ("compare", compared), ("timeline", timeline)] {
            assert!(text.contains(&called[0]), "{case}: {} in {output}: {text}", called[0]);
        }
        // An incident has the colour of what explains most of it.
        assert_eq!(page.main_cause(), called[0], "{case}");
    }
}

#[test]
fn a_command_that_had_no_cpu_is_not_blamed() {
    let turns = TURNS.replace("0 1 turn 30000 40000", "0 1 call 30100 39900 keys x\n0 1 turn 30000 40000");
    let seen = [(0, b'S', 0, 0, 0), (29, b'S', 3, 0, 0), (30, b'R', 3, 0, 0), (41, b'S', 4, 9, 0)];
    let trace = sampled(&turns, &seen, &[]);
    let incident = incident(trace.path());
    assert_eq!((&incident["cause"], &incident["held_by"]["cause"]), (&json!(null), &json!("queued")));
    assert_eq!(incident["waited"]["clients"], 1, "whoever sent it waited as well");
    let advice = incident["advice"].as_str().expect("there is some");
    assert!(advice.contains("others had its CPU"), "{advice}");
    let table = said(ltt_top(["incidents"]).arg(trace.path()).env("COLUMNS", "100")).out;
    assert!(table.contains("no CPU") && table.contains("during keys 9.8ms"), "{table}");
    Page::of(&[trace.path()]).charges_add_up();
}

#[test]
fn a_loop_that_was_seen_stopped_once_was_stopped() {
    // On a busy machine, samples are far apart; between them the thread hardly ran.
    let seen = [(0, b'S', 0, 0, 0), (20, b'R', 2, 0, 0), (60, b'T', 3, 0, 0), (111, b'R', 4, 0, 0)];
    let trace = sampled(APART, &seen, &[]);
    let incident = incident(trace.path());
    assert_eq!(incident["evidence"], "scheduler");
    assert_eq!(incident["held_by"]["cause"], "stopped");
    let begin = incident["begin_ns"].as_u64().expect("a time");
    assert!(begin <= BEGIN + 60 * MS, "it was stopped by then: {incident:#}");
}

#[test]
fn a_loop_that_went_on_sleeping_while_tracing_was_stopped_was_not_silent() {
    let turns = APART.replace("40 times", "0 packet\n40 times");
    for (sleeps, silences) in [(0, 1), (40, 0)] {
        let seen = [(0, b'S', 0, 0, 0), (29, b'R', 2, 0, 0), (109, b'R', 3, 78, 0)];
        let seen = seen.map(|seen| thread(&seen, seen.0 * sleeps / 100));
        let found = json(ltt_top(["incidents"]).arg(sampled(&turns, &[], &seen).path()));
        assert_eq!(found["incidents"].as_array().expect("a list").len(), silences, "{found:#}");
    }
}

#[test]
fn nothing_is_said_where_nothing_is_known() {
    // The sampler ended before the turn did.
    let trace = sampled(TURNS, &[(0, b'S', 0, 0, 0), (10, b'S', 1, 0, 0)], &[]);
    let incident = incident(trace.path());
    assert!(incident.get("held_by").is_none() && incident.get("scheduler").is_none(), "{incident:#}");
    assert_eq!(incident["unexplained_us"], 10_000);
}

#[test]
fn samples_are_no_events_unless_they_are_named() {
    let seen: Vec<Seen> = (0..20).map(|step| (step * 2, b'S', step, 0, 0)).collect();
    let with = sampled(TURNS, &seen, &[]);
    let without = timeline::write(TURNS);
    for command in ["top", "slow", "outliers", "info", "hist"] {
        let [with, without] = [&with, &without].map(|trace| json(ltt_top([command]).arg(trace.path())));
        let without_paths = |mut found: Value| {
            found["traces"] = json!(null);
            found["trace"]["folders"] = json!(null);
            found
        };
        assert_eq!(without_paths(with), without_paths(without), "{command}");
    }
    let lines = |folder: &Path| said(ltt_top(["events"]).arg(folder)).out.lines().count();
    assert_eq!((lines(with.path()), lines(without.path())), (51, 51));
    let named = with.path().join(FOLDER);
    assert_eq!(lines(&named), 20);
    let top = said(ltt_top(["info"]).arg(&named)).out;
    assert!(top.contains("ltt_top_samples:thread"), "{top}");
}

#[test]
fn other_readers_read_samples_in_one_order_with_events() {
    let seen: Vec<Seen> = (0..20).map(|step| (step * 2, b'R', step, step * 3, 1)).collect();
    let trace = sampled(TURNS, &seen, &[(5, runner(7, "a \"b\"", 3))]);
    // As LTTng lays it out: no trace is within another one.
    let recording = tempfile::tempdir().expect("a folder");
    fs::rename(trace.path().join(FOLDER), recording.path().join(FOLDER)).expect("it is moved");
    fs::rename(trace.path(), recording.path().join("ust")).expect("it is moved");
    for reader in ["babeltrace", "babeltrace2"] {
        let events = Trace::open(recording.path()).events_read_by(reader);
        assert_eq!(events.len(), 51 + 21, "{reader}");
        assert!(events.is_sorted_by_key(|event| event.timestamp), "{reader}");
        let last =
            events.iter().rfind(|event| event.name == "ltt_top_samples:thread").expect("there are some");
        assert_eq!(last.timestamp, (BEGIN + 38 * MS) as i64);
        assert_eq!((last.field("queued_ns"), last.field("vtid")), ("57000000", "1"));
    }
}

#[test]
fn damaged_samples_explain_less_and_harm_nothing() {
    let seen: Vec<Seen> = (0..20).map(|step| (step * 2, b'S', step, 0, 0)).collect();
    let random = &mut fastrand::Rng::with_seed(7);
    for file in ["metadata", "samples_0"] {
        for _ in 0..20 {
            let trace = sampled(TURNS, &seen, &[]);
            let path = trace.path().join(FOLDER).join(file);
            let mut bytes = fs::read(&path).expect("it is there");
            let at = random.usize(..bytes.len());
            if random.bool() {
                bytes.truncate(at)
            } else {
                bytes[at] ^= 1 << random.u8(0..8)
            }
            fs::write(&path, bytes).expect("it is written");
            let said = said(ltt_top(["incidents", "--format", "json"]).arg(trace.path()));
            assert_eq!(said.status, 0, "{said:?}");
            let found: Value = serde_json::from_str(&said.out).expect("it is JSON");
            assert_eq!((&found["found"], &found["trace"]["events"]), (&1.into(), &51.into()));
        }
    }
}
