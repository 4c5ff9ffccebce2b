//! What `live` says is what `top` says of the folder that the relay wrote.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ctf_reader::Window;
use ltt_analysis::Selection;
use ltt_analysis::groups::Sort;
use ltt_analysis::live::{LiveAnalysis, LiveQuestion, LookBack};
use lttng_live::{Live, Options};
use lttng_testing::{Daemon, Relay, Session, wait_until};
use rustix::process::Signal;
use serde_json::Value;

use self::intake::{Intake, Turn};
use super::replay::{Scene, archive};
use super::support::{Running, json, ltt_top};
use crate::tracee::Tracee;

#[path = "../../src/live/intake.rs"]
#[allow(dead_code, reason = "the program also shows how sessions are doing")]
mod intake;

fn started<'d>(daemon: &'d Daemon, relay: &Relay) -> Session<'d> {
    let session = daemon.live_session(relay, 100_000);
    session.record("tracee:*", &["vpid"]);
    session
}

fn live(url: &str, arguments: &[&str]) -> Running {
    let mut command = ltt_top(["live", url, "--format", "json", "--interval", "100ms"]);
    command.args(arguments);
    Running::start(command)
}

fn events(object: &Value) -> u64 {
    object["trace"]["events"].as_u64().expect("a number")
}

#[test]
fn last_line_has_the_figures_of_the_folder() {
    let daemon = Daemon::start();
    for argument in ["--all", "--by=vpid", "--where=duration>500", "--event=work"] {
        let relay = Relay::start();
        let session = started(&daemon, &relay);
        let mut running = live(&session.url(&relay), &[argument]);
        for round in 1..=2 {
            let mut program = Tracee::start(&daemon);
            program.emit("work", 1000);
            program.emit("every_type", 100);
            running.until(|object| events(object) == round * 1100);
        }
        session.destroy();
        let ended = running.end();
        assert_eq!(ended.status, Some(0), "{ended:?}");
        let last: Value = serde_json::from_str(ended.out.lines().last().expect("a last line")).unwrap();
        assert_eq!(last["is_last"], true);
        assert_eq!(last["sessions"][0]["state"], "ended");
        crate::cli::schema::check(&last, "live");
        let top = json(ltt_top(["top", argument]).arg(relay.folder()));
        for part in ["trace", "groups", "hidden_groups", "sorted_by", "notes"] {
            assert_eq!(last[part], top[part], "{argument}: {part}");
        }
    }
}

#[test]
fn time_that_is_given_ends_it_and_so_does_a_signal() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    let ended = live(&session.url(&relay), &["--for", "300ms"]).end();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let last: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["is_last"], &last["sessions"][0]["state"]), (&true.into(), &"attached".into()));
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut running = live(&session.url(&relay), &[]);
        running.object();
        running.signal(signal);
        let ended = running.end();
        assert_eq!(ended.status, Some(0), "{ended:?}");
        let last: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
        assert_eq!(last["is_last"], true);
    }
}

#[test]
fn table_is_written_every_interval_where_there_is_no_terminal() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    let mut program = Tracee::start(&daemon);
    program.emit("work", 1000);
    let command = ltt_top(["live", &session.url(&relay), "--interval", "50ms"]);
    let mut running = Running::start(command);
    let mut tables = 0;
    while tables < 3 {
        let line = running.line();
        assert!(!line.is_empty());
        tables += usize::from(line.contains("tracee:work"));
    }
    drop(program);
    session.destroy();
    let ended = running.end();
    assert_eq!(ended.status, Some(0));
    let last = ended.out.trim_end().rsplit("\n\n").next().unwrap();
    assert!(last.contains("ended") && last.contains("1,000 events"), "{last}");
}

#[test]
fn output_that_is_closed_ends_it() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    for command in [&["live"][..], &["live", "--format=json"], &["events", "--follow"]] {
        let mut program = Tracee::start(&daemon);
        program.emit("work", 10);
        let mut whole = ltt_top(command);
        whole.arg(session.url(&relay));
        let mut running = Running::start(whole);
        assert!(!running.line().is_empty());
        let status = running.close_output(|| program.emit("work", 10));
        assert_eq!(status, Some(0), "{command:?}");
    }
}

#[test]
fn events_are_followed_with_filters_and_chosen_fields() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    let url = session.url(&relay);
    let fields = ["--fields", "duration,vpid", "--where", "duration>=7"];
    let mut text = ltt_top(["events", "-f", &url]);
    text.args(fields);
    let mut text = Running::start(text);
    let mut program = Tracee::start(&daemon);
    program.emit("work", 10);
    for duration in 7..10 {
        let line = text.line();
        assert!(line.contains(&format!("tracee:work: {{ duration = {duration} }}, {{ vpid = ")), "{line}");
    }
    // A relay shows a session to one viewer at a time.
    let second = Running::start(ltt_top(["events", "--follow", &url])).end();
    assert!(second.status == Some(1) && second.err.contains("another viewer is attached"), "{second:?}");
    drop(text);
    let mut all = Running::start(ltt_top(["events", "--follow", &url, "--format", "json"]));
    for number in 0..10 {
        let event = all.object();
        assert_eq!((&event["event"], &event["fields"]["duration"]), (&"tracee:work".into(), &number.into()));
        assert!(event["host"].is_string());
    }
    drop(program);
    session.destroy();
    assert_eq!(all.end().status, Some(0));
}

#[test]
fn what_is_missing_is_said_in_one_line() {
    let relay = Relay::start();
    let port = relay.viewer_port();
    let said = |arguments: &[&str]| {
        let ended = Running::start(ltt_top(arguments)).end();
        (ended.status, ended.err)
    };
    let (status, err) = said(&["live", &format!("net://127.0.0.1:{port}")]);
    assert!(status == Some(1) && err.contains("no live session") && err.lines().count() == 1, "{err}");
    let (status, err) = said(&["live", "net://127.0.0.1:1/demo"]);
    assert!(status == Some(1) && err.contains("lttng-relayd") && err.lines().count() == 1, "{err}");
    let (status, err) = said(&["live", "somewhere"]);
    assert!(status == Some(2) && err.contains("net://HOST") && err.lines().count() == 1, "{err}");
    let daemon = Daemon::start();
    let (first, second) = (started(&daemon, &relay), started(&daemon, &relay));
    let ended = Running::start(ltt_top(["live", &relay.viewer_url()])).end();
    assert_eq!(ended.status, Some(0));
    assert!(ended.out.contains(first.name()) && ended.out.contains(second.name()), "{}", ended.out);
    let (status, err) = said(&["live", &format!("{}x", first.url(&relay))]);
    assert!(status == Some(1) && err.contains("did you mean"), "{err}");
}

#[test]
fn session_that_does_not_exist_yet_is_waited_for() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let mut running = live(&format!("{}/later", relay.viewer_url()), &["--wait"]);
    let said = running.error_line();
    assert!(said.contains("waiting: ") && said.contains("has no live session"), "{said}");
    daemon.lttng(["create", "later", "--live=100000", &format!("--set-url={}", relay.collector_url())]);
    daemon.lttng(["enable-event", "--session=later", "--userspace", "tracee:*"]);
    daemon.lttng(["start", "later"]);
    let mut program = Tracee::start(&daemon);
    program.emit("work", 10);
    running.until(|object| events(object) == 10);
}

#[test]
fn relay_that_is_killed_is_told_and_what_was_seen_stays() {
    let (mut relay, daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    let mut running = live(&session.url(&relay), &[]);
    let mut program = Tracee::start(&daemon);
    program.emit("work", 1000);
    running.until(|object| events(object) == 1000);
    relay.kill();
    let lost = running.until(|object| object["sessions"][0]["state"] == "lost");
    assert!(lost["sessions"][0]["reason"].is_string());
    assert_eq!((events(&lost), &lost["groups"][0]["count"]), (1000, &1000.into()));
    relay.restart();
    let still = running.until(|object| object["sessions"][0]["reason"] == "no such session");
    assert_eq!(events(&still), 1000);
    running.signal(Signal::INT);
    let ended = running.end();
    assert!(ended.status == Some(0) && ended.err.contains("was lost"), "{ended:?}");
}

#[test]
fn every_incident_is_written_once() {
    let place =
        |incident: &Value| (incident["begin_ns"].as_i64().unwrap(), incident["end_ns"].as_i64().unwrap());
    let rule = ["--longer-than", "100us"];
    let found = json(ltt_top(["incidents", "--limit", "0"]).args(rule).arg(archive()));
    let expected: BTreeSet<_> = found["incidents"].as_array().unwrap().iter().map(place).collect();
    assert!(expected.len() > 1000, "{}", expected.len());
    // All at once, and in many small steps.
    for interval in ["1h", "10ms"] {
        let url = Scene::recorded(true).serve_all();
        let mut command = ltt_top(["live", &url, "--format", "json", "--interval", interval]);
        command.args(rule);
        let ended = Running::start(command).end();
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let mut written = Vec::new();
        for line in ended.out.lines() {
            let object: Value = serde_json::from_str(line).expect("it is JSON");
            assert_eq!(object["hidden_incidents"], 0);
            written.extend(object["incidents"].as_array().unwrap().iter().map(place));
        }
        let distinct: BTreeSet<_> = written.iter().copied().collect();
        assert_eq!(distinct.len(), written.len(), "{interval}: none is written twice");
        let missing: Vec<_> = expected.difference(&distinct).collect();
        assert!(missing.is_empty(), "{interval}: {} of {} missing", missing.len(), expected.len());
    }
}

#[test]
fn groups_that_come_late_are_shown_however_many_there_are() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    let arguments = ["--by", "duration", "--sort", "max", "--window", "10m"];
    let mut running = live(&session.url(&relay), &arguments);
    let mut program = Tracee::start(&daemon);
    // More than have had slices of time, and more than are kept.
    for (count, total) in [(600, 600), (12_000, 12_600)] {
        program.emit("work", count);
        let seen = running.until(|object| events(object) == total);
        assert_eq!(seen["groups"][0]["key"]["duration"], count - 1, "{}", seen["groups"][0]);
        let listed = seen["groups"].as_array().unwrap().iter().map(|group| group["count"].as_u64().unwrap());
        let folded = seen["folded"]["count"].as_u64().unwrap_or(0);
        assert_eq!(listed.sum::<u64>() + folded, total);
    }
}

#[test]
fn rates_count_from_when_the_selection_was_changed() {
    let url = Scene::recorded(true).serve_all();
    let live = Live::start(vec![url.parse().unwrap()], &Options::default());
    let selection = Arc::new(Selection::default());
    let analysis = LiveAnalysis::new(&selection, 1_000_000);
    let mut intake = Intake::new(live, Window::default(), analysis);
    let mut question = LiveQuestion {
        window: LookBack::All,
        sort: Sort::Total,
        quantiles: Vec::new(),
        limit: usize::MAX,
        incidents: 0,
        is_drawn: false,
        narrow: String::new(),
        detail: None,
    };
    let ask = |intake: &Intake<'_, LiveAnalysis>, question: &LiveQuestion| {
        let (report, watermark) = (intake.report(), intake.watermark());
        intake.with_audience(|analysis| analysis.finding(question, report, watermark))
    };
    let mut changed = None;
    wait_until("the scene is over", || {
        let turn = intake.turn(Duration::from_millis(10));
        let so_far = ask(&intake, &question);
        if changed.is_none() && so_far.top.trace.events > 50_000 {
            intake.with_audience(|analysis| analysis.select(&selection));
            changed = so_far.time_ns;
        }
        turn == Turn::Over
    });
    for window in [LookBack::All, LookBack::Minutes, LookBack::Minute] {
        question.window = window;
        let finding = ask(&intake, &question);
        let length = (finding.time_ns.unwrap() - changed.unwrap()) as f64 / 1e9;
        assert!(length > 1.0 && finding.top.groups.len() > 5);
        let is_near = |rate: Option<f64>, count: u64| {
            let expected = count as f64 / length;
            (rate.unwrap() - expected).abs() < 0.02 * expected
        };
        let mut count = 0;
        for group in &finding.top.groups {
            assert!(is_near(group.rate_per_s, group.count), "{window}: {group:?} in {length} s");
            count += group.count;
        }
        // The rate of all events does not depend on how many groups are shown.
        let few = ask(&intake, &LiveQuestion { limit: 2, ..question.clone() });
        assert!(
            is_near(few.rate_per_s, count) && few.top.groups.len() == 2,
            "{window}: {:?}",
            few.rate_per_s
        );
    }
}

fn with_process_buffers<'d>(daemon: &'d Daemon, relay: &Relay) -> Session<'d> {
    let session = daemon.live_session(relay, 100_000);
    session.lttng("enable-channel", ["--userspace", "--buffers-pid", "own"]);
    session.enable_with("tracee:*", &["--channel=own"]);
    session.start();
    session
}

#[test]
fn streams_that_a_relay_never_showed_are_counted() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = with_process_buffers(&daemon, &relay);
    let mut running = live(&session.url(&relay), &[]);
    let mut program = Tracee::start(&daemon);
    program.emit("work", 10);
    running.until(|object| events(object) == 10);
    // Programs come and go while nobody asks for their streams.
    running.signal(Signal::STOP);
    for _ in 0..3 {
        Tracee::start(&daemon).emit("work", 5);
    }
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::CONT);
    let mut last = Tracee::start(&daemon);
    last.emit("work", 1);
    let unseen = |object: &Value| object["sessions"][0]["unseen_streams"].as_u64().expect("a number");
    running.until(|object| unseen(object) > 0);
    let ended = running.end_by(Signal::INT);
    assert!(ended.status == Some(3) && ended.err.contains("of processes that ended"), "{ended:?}");
}

#[test]
fn session_whose_daemon_is_killed_is_reported() {
    let (relay, mut daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    let address = session.url(&relay);
    session.abandon();
    let mut program = Tracee::start(&daemon);
    let arguments = ["live", &address, "--format", "json", "--interval", "100ms"];
    let mut running = Running::start(super::record::ltt_top(&daemon, &arguments));
    program.emit("work", 100);
    running.until(|object| events(object) == 100);
    daemon.kill();
    let ended = running.end();
    assert!(ended.status == Some(3) && ended.err.contains("the session daemon (process "), "{ended:?}");
}

#[test]
fn buffers_for_each_process_are_warned_of() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = with_process_buffers(&daemon, &relay);
    let mut running = live(&session.url(&relay), &[]);
    let mut program = Tracee::start(&daemon);
    program.emit("work", 10);
    let seen = running.until(|object| events(object) == 10);
    assert_eq!(seen["has_process_buffers"], true);
    let ended = running.end_by(Signal::INT);
    assert!(ended.status == Some(0) && ended.err.contains("--buffers-uid"), "{ended:?}");
}
