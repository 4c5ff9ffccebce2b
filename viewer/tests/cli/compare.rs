//! `ltt-top compare`: two recordings with a known difference.

use std::path::Path;

use lttng_testing::CommandInTime as _;
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

/// A recording of as many requests of 100 us as there are milliseconds, and an event without a duration.
fn steady(milliseconds: u64, duration: impl Fn(u64) -> u64) -> TempDir {
    let mut random = fastrand::Rng::with_seed(milliseconds);
    let mut trace = Handwritten::new("host");
    let get = trace.class("app:get", "u64 _latency_us;");
    let mark = trace.class("app:mark", "u64 _number;");
    trace.event_at(BEGIN, mark, &[&1_u64.to_le_bytes()]);
    for number in 0..milliseconds {
        let microseconds = duration(number) + random.u64(..20);
        trace.event_at(BEGIN + (number + 1) * 1_000_000, get, &[&microseconds.to_le_bytes()]);
    }
    trace.write()
}

/// How a gate ends, and what it says.
fn passed(sides: [&TempDir; 2], options: &[&str]) -> (i32, String) {
    let said = said(ltt_top(["compare"]).args(options).args(sides.map(TempDir::path)));
    (said.status, [said.out, said.err].concat())
}

#[test]
fn a_run_that_crashed_does_not_pass_a_gate() {
    let before = steady(2000, |_| 100);
    let limits = ["--fail-if", "p99>+10%", "--fail-if", "rate<-5%"];
    let allowed = |what: &'static str| [&limits[..], &["--allow", what]].concat();
    // Nothing but an event without a duration, and a tenth of the time.
    for (after, doubts) in
        [(steady(0, |_| 100), &["empty", "short", "gone>0.1%"][..]), (steady(200, |_| 100), &["short"])]
    {
        let (status, said) = passed([&before, &after], &limits);
        assert_eq!(status, 4, "{said}");
        for doubt in doubts {
            assert!(said.contains(&format!("fails {doubt}: ")), "{doubt}: {said}");
        }
        let names = doubts.iter().map(|doubt| doubt.split('>').next().unwrap()).collect::<Vec<_>>().join(",");
        let (status, said) = passed([&before, &after], &allowed(String::leak(names)));
        assert_eq!(status, 0, "{said}");
    }
    assert_eq!(passed([&before, &steady(2000, |_| 100)], &limits).0, 0);
}

#[test]
fn a_recording_that_lost_events_or_is_damaged_does_not_pass_a_gate() {
    let recorded = SharedTrace::unpack_named("valkey-pair");
    let [before, after] = ["before", "again"].map(|name| recorded.folder().join(name));
    let run = |options: &[&str], after: &Path| {
        let said = said(ltt_top(["compare", "--fail-if", "p50>+50%"]).args(options).arg(&before).arg(after));
        (said.status, said.out)
    };
    assert_eq!(run(&[], &after).0, 0);
    let damaged = TempDir::new().unwrap();
    let copied = std::process::Command::new("cp").arg("-r").arg(&after).arg(damaged.path()).status().unwrap();
    assert!(copied.success());
    let folder = damaged.path().join("again");
    let mut streams = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                false if entry.file_name().is_some_and(|name| name != "metadata") => streams.push(entry),
                false => {}
            }
        }
    }
    let largest = streams.iter().max_by_key(|stream| stream.metadata().unwrap().len()).unwrap();
    let file = std::fs::File::options().write(true).open(largest).unwrap();
    file.set_len(file.metadata().unwrap().len() - 1000).unwrap();
    let (status, said) = run(&[], &folder);
    assert!(status == 4 && said.contains("fails damaged: AFTER is damaged"), "{said}");
    let (status, said) = run(&["--allow", "damaged,short,lost"], &folder);
    assert_eq!(status, 3, "damage is still said: {said}");
}

#[test]
fn groups_that_appear_or_vanish_have_limits_of_their_own() {
    let (before, after) = (recording(9, 100.0, None), recording(10, 100.0, Some("app:new")));
    // 9 us in each millisecond: 0.9 % of the time.
    for (limit, status) in [("p99>+50%", 4), ("new>0.5%", 4), ("new>2%", 0), ("gone>0%", 4)] {
        let (ended, said) = passed([&before, &after], &["--fail-if", limit]);
        assert_eq!(ended, status, "{limit}: {said}");
        assert_eq!(said.contains("of the time, only in AFTER"), status == 4, "{limit}: {said}");
    }
    let (status, said) = passed([&after, &before], &["--fail-if", "new>0%"]);
    assert!(status == 4 && said.contains("fails gone>0.1%: app:new: "), "{said}");
}

#[test]
fn a_longer_tail_and_one_against_the_rest_have_verdicts_of_their_own() {
    let before = steady(20_000, |number| if number % 50 == 0 { 400 } else { 100 });
    let tail = steady(20_001, |number| if number % 50 == 0 { 600 } else { 100 });
    let mixed = steady(20_002, |number| if number % 50 == 0 { 600 } else { 80 });
    let verdict = |after: &TempDir| {
        let found = json(ltt_top(["compare"]).args([before.path(), after.path()]));
        group(&found, "app:get")["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!([&tail, &mixed, &before].map(verdict), ["tail_slower", "mixed", "no_difference"]);
}

#[test]
fn blocked_time_and_incidents_have_limits() {
    let recorded = ["valkey-mixed", "valkey-causes"].map(SharedTrace::unpack_named);
    let [before, after] = recorded.each_ref().map(|trace| trace.folder().to_path_buf());
    let incidents = |side: &Path| json(ltt_top(["incidents"]).arg(side));
    let sides = [&before, &after].map(|side| incidents(side));
    for (figure, ratio) in [
        (
            "blocked",
            sides[1]["blocked_share"].as_f64().unwrap() / sides[0]["blocked_share"].as_f64().unwrap(),
        ),
        ("incidents", {
            let rate =
                |side: &Value| side["found"].as_f64().unwrap() / side["trace"]["length_ns"].as_f64().unwrap();
            rate(&sides[1]) / rate(&sides[0])
        }),
    ] {
        let percent = (ratio - 1.0) * 100.0;
        for (limit, status) in [(percent - 1.0, 4), (percent + 1.0, 0)] {
            let condition = format!("{figure}>{limit}%");
            let said = said(
                ltt_top(["compare", "--allow", "empty,lost,short,new,gone", "--fail-if", &condition])
                    .args([&before, &after]),
            );
            assert_eq!(said.status, status, "{condition}: {}", said.out);
        }
    }
}

#[test]
fn ci_gets_a_summary_tests_and_annotations() {
    let (before, after) = (recording(11, 100.0, None), recording(12, 150.0, None));
    let folder = TempDir::new().unwrap();
    let [summary, tests] = ["summary.md", "gate.xml"].map(|name| folder.path().join(name));
    std::fs::write(&summary, "before\n").unwrap();
    let reports = [&summary, &tests].map(|path| path.to_str().unwrap());
    let options = ["--annotate", "--report", reports[0], "--report", reports[1], "--fail-if", "p50>+10%"];
    let (status, said) = passed([&before, &after], &options);
    assert_eq!(status, 4, "{said}");
    let annotation = said.lines().next().unwrap();
    assert!(annotation.starts_with("::error title=ltt-top compare p50>+10%25::app:get: +"), "{annotation}");
    // A program that reads the output reads nothing else there, and a file that cannot be written does not take it along.
    let sides = [before.path(), after.path()];
    for format in ["json", "csv"] {
        let mut command = ltt_top(["compare", "--format", format, "--report", "/nowhere/gate.xml"]);
        let said = super::run::said(command.args(["--annotate", "--fail-if", "p50>+10%"]).args(sides));
        assert!(said.status == 1 && said.err.contains("cannot write /nowhere/gate.xml: "), "{said:?}");
        assert!(!said.out.contains("::error") && said.err.contains("::error title="), "{said:?}");
        match format {
            "json" => assert_eq!(serde_json::from_str::<Value>(&said.out).unwrap()["kind"], "compare"),
            _ => assert!(said.err.contains("warning: fails p50>+10%: app:get: +"), "{said:?}"),
        }
    }
    let summary = std::fs::read_to_string(summary).unwrap();
    assert!(
        summary.starts_with("before\n") && summary.contains("fails p50") && summary.contains("| "),
        "{summary}"
    );
    // A reader that is not ours.
    let script = "import sys, xml.etree.ElementTree as tree\n\
                  suite = tree.parse(sys.argv[1]).getroot()\n\
                  print(suite.get('tests'), suite.get('failures'), *[test.get('name') for test in suite if len(test)])";
    let mut python = std::process::Command::new("python3");
    let output = python.args(["-c", script]).arg(&tests).output_in_time().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "7 1 p50>+10%\n", "{output:?}");
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

/// Three recordings of a real Valkey on a busy machine: two of the same build, and one with a regression of 10 % in GET and LRANGE. The
/// level of the same build wanders by a third for seconds, so that one recording a side cannot tell a tenth.
#[test]
fn of_a_real_server_whose_level_wanders_a_tenth_is_not_told_and_the_truth_is_allowed() {
    let recorded = SharedTrace::unpack_named("valkey-pair");
    for (after, truth) in [("again", 1.0), ("slower", 1.1)] {
        let sides = ["before", after].map(|name| recorded.folder().join(name));
        let found = json(ltt_top(["compare"]).args(&sides));
        assert_eq!(
            (&found["compared"], &found["slower"], &found["faster"]),
            (&5.into(), &0.into(), &0.into())
        );
        for group in found["groups"].as_array().unwrap() {
            // The machine was busier when the slower build began.
            if after == "slower" && group["key"]["name"] != "lrange" {
                continue;
            }
            for change in group["changes"].as_array().unwrap().iter().skip(1) {
                let [low, high] = ["low", "high"].map(|end| change[end].as_f64());
                let is_allowed = low.is_none_or(|low| low <= truth) && high.is_none_or(|high| high >= truth);
                assert!(is_allowed, "{after}: {}: {change}", group["key"]);
            }
        }
        let told = said(ltt_top(["compare"]).args(sides)).out;
        assert!(told.contains("cannot tell") && told.contains("made in turns (compare --plan)"), "{told}");
        if after == "slower" {
            let first = &found["groups"][0];
            assert_eq!((&first["key"]["name"], &first["verdict"]), (&"lrange".into(), &"cannot_tell".into()));
            assert!(first["would_need_s"].as_f64().unwrap() > 60.0, "{first}");
        }
    }
}

/// Eight groups of a machine whose level is another one in each recording, of a second from a time on; one group may be slower.
fn wandering(start_s: u64, level: f64, factor: f64) -> TempDir {
    let mut random = fastrand::Rng::with_seed(start_s);
    let mut trace = Handwritten::new("host");
    let groups: Vec<u32> =
        (0..8).map(|group| trace.class(&format!("app:work{group}"), "u64 _latency_ns;")).collect();
    for number in 0..600 {
        let at = BEGIN + start_s * 1_000_000_000 + number * 1_600_000;
        for (place, class) in groups.iter().enumerate() {
            let own = if place == 0 { factor } else { 1.0 };
            let duration = 30_000.0 * level * own * (0.7 + 0.6 * random.f64());
            trace.event_at(at + 1000 * place as u64, *class, &[&(duration as u64).to_le_bytes()]);
        }
    }
    trace.write()
}

/// The verdicts on the slower group and on one of the others, and its rate.
fn verdicts(sides: [&[&TempDir]; 2]) -> (String, String, f64) {
    let paths = |side: &[&TempDir]| side.iter().map(|one| one.path().to_owned()).collect::<Vec<_>>();
    let [before, after] = sides.map(paths);
    let found = json(ltt_top(["compare", "--before"]).args(before).arg("--after").args(after));
    let verdict = |event: &str| group(&found, event)["verdict"].as_str().unwrap().to_owned();
    let rate = group(&found, "app:work0")["figures"]["after"]["rate_per_s"].as_f64().unwrap();
    (verdict("app:work0"), verdict("app:work5"), rate)
}

#[test]
fn recordings_are_named_and_exchanged_ones_are_noticed() {
    let [one, other] = [100, 200].map(|start_s| wandering(start_s, 1.0, 1.0));
    let text = |sides: [&TempDir; 2]| {
        said(ltt_top(["compare"]).args(sides.map(|side| side.path())).env("COLUMNS", "300")).out
    };
    let [right, exchanged] = [[&one, &other], [&other, &one]].map(text);
    for word in [&*one.path().to_string_lossy(), &other.path().to_string_lossy(), "TIME/S", "P90", "P99.9"] {
        assert!(right.contains(word), "{word}: {right}");
    }
    let note = "AFTER was recorded earlier than BEFORE";
    assert!(!right.contains(note) && exchanged.contains(note), "{exchanged}");
}

#[test]
fn what_all_groups_have_in_common_is_taken_out_and_recordings_in_turns_are_one_side() {
    // A machine that becomes slower by a fifth with each recording.
    let recordings: [TempDir; 6] = std::array::from_fn(|turn| {
        let factor = if matches!(turn % 4, 1 | 2) { 1.1 } else { 1.0 };
        wandering(turn as u64 * 10, 1.0 + 0.2 * turn as f64, factor)
    });
    let [a, b, c, d, e, f] = &recordings;
    let (slower, other, rate) = verdicts([&[a, d, e], &[b, c, f]]);
    assert!(slower.starts_with("slower"), "{slower}");
    assert!(["no_difference", "cannot_tell"].contains(&&*other), "{other}");
    assert!((rate - 625.0).abs() < 10.0, "what is between recordings does not count: {rate}");
}

#[test]
fn the_plan_records_both_sides_in_turns_and_compares_them() {
    let plan = said(&mut ltt_top(["compare", "--plan"]));
    assert_eq!(plan.status, 0, "{plan:?}");
    let folder = TempDir::new().unwrap();
    let [script, program] = ["plan.sh", "ltt-top"].map(|name| folder.path().join(name));
    std::fs::write(&script, &plan.out).unwrap();
    // In place of the program: what it is called with. A recording is a folder.
    let stub = "#!/bin/sh\necho \"$@\"\n[ $1 = compare ] || mkdir \"$5\"\n";
    std::fs::write(&program, stub).unwrap();
    let mut sh = std::process::Command::new("sh");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let allow = std::process::Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    assert!(allow.success());
    let output = sh.arg(&script).current_dir(folder.path()).env("PATH", path).output_in_time().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 13, "{said}");
    assert!(lines[0].starts_with("record --enable * --output before-1 -- sh -c ./before/server"), "{said}");
    assert!(lines[2].contains("--output after-2"), "the other one comes first: {said}");
    let last = lines[12];
    assert!(last.starts_with("compare --before before-1 before-2 ") && last.ends_with(" after-6"), "{last}");
}
