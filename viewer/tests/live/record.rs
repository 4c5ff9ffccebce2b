//! `ltt-top record`, `ltt-top list` and `ltt-top live -e`, with a session daemon running and without.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use lttng_testing::{Daemon, Trace, need_namespaces, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use super::support::Running;
use crate::tracee::{Tracee, program};

/// `ltt-top` where this daemon is found, or would be.
pub fn ltt_top(daemon: &Daemon, arguments: &[&str]) -> Command {
    let mut command = daemon.command(env!("CARGO_BIN_EXE_ltt-top"));
    command.args(arguments).env("TZ", "UTC").env_remove("LTTNG_UST_REGISTER_TIMEOUT");
    command
}

/// A place for a daemon where none runs.
pub fn nowhere() -> Daemon {
    let mut daemon = Daemon::start();
    daemon.stop();
    daemon
}

/// The processes that belong to a daemon's place, with their commands.
pub fn processes(daemon: &Daemon) -> Vec<(i32, String)> {
    let mark = format!("LTTNG_HOME={}", daemon.folder().display());
    let is_here = |folder: &Path| {
        let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let entries = std::fs::read_dir("/proc").expect("this is Linux").flatten().map(|entry| entry.path());
    let found = entries.filter(|folder| is_here(folder));
    let described = found.filter_map(|folder| {
        let pid = folder.file_name()?.to_str()?.parse().ok()?;
        Some((pid, std::fs::read_to_string(folder.join("comm")).ok()?.trim().to_owned()))
    });
    described.collect()
}

/// Nothing is left: no session daemon, no relay, and so no session.
pub fn assert_nothing_left(daemon: &Daemon) {
    wait_until("all processes have ended", || processes(daemon).is_empty());
}

/// The number of events in a recording, samples aside.
pub fn in_folder(folder: &Path) -> usize {
    let events = Trace::open(folder).events();
    events.iter().filter(|event| !event.name.starts_with("ltt_top_samples:")).count()
}

#[test]
fn command_is_recorded_from_its_first_event_and_nothing_is_left() {
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("trace");
    let script = format!("printf 'work 1000\\nevery_type 10\\n' | {}", program().display());
    let mut record = ltt_top(&daemon, &["record", "-e", "tracee:*", "-o"]);
    record.arg(&output).args(["--", "sh", "-c", &script]);
    let ended = Running::start(record).end();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(ended.out.contains("1,010 events") && ended.out.contains("incident"), "{ended:?}");
    assert_eq!(in_folder(&output), 1010);
    let trace = Trace::open(&output);
    let events = trace.events();
    let event = events.iter().find(|event| event.name.starts_with("tracee:")).expect("there are some");
    for context in ["vpid", "vtid", "procname"] {
        event.context(context);
    }
    assert_nothing_left(&daemon);
}

/// As in a container, where LTTng's buffers have 64 MiB however many CPUs there are.
#[test]
fn buffers_fit_into_the_memory_that_there_is() {
    if !need_namespaces() {
        return;
    }
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    let record = |size: &str| {
        let with_little = format!(
            "mount -t tmpfs -o size={size} none /dev/shm && exec unshare --user --map-user=1000 --map-group=1000 \"$@\""
        );
        let mut record = daemon.command("unshare");
        record.args(["--user", "--map-root-user", "--mount", "sh", "-c", &with_little, "sh"]);
        record.arg(env!("CARGO_BIN_EXE_ltt-top")).env_remove("LTTNG_UST_REGISTER_TIMEOUT");
        record.args(["record", "-e", "tracee:*", "-o"]).arg(folder.path().join(size));
        record.args(["--", "sh", "-c", &format!("echo work 1000 | {}", program().display())]);
        Running::start(record).end()
    };
    // Less than two CPUs take, and enough for 32.
    let ended = record("24m");
    assert_eq!((ended.status, in_folder(&folder.path().join("24m"))), (Some(0), 1000), "{ended:?}");
    assert!(ended.err.contains("times smaller than usual"), "{ended:?}");
    let ended = record("256k");
    assert_eq!((ended.status, ended.err.lines().count()), (Some(1), 1), "{ended:?}");
    assert!(ended.err.contains("/dev/shm has 0 MiB free") && ended.err.contains("--shm-size="), "{ended:?}");
    assert_nothing_left(&daemon);
}

#[test]
fn sessions_of_others_are_left_alone() {
    let daemon = Daemon::start();
    let other = daemon.recording(&["tracee:*"]);
    let mut tracee = Tracee::start(&daemon);
    let folder = TempDir::new().unwrap();
    let mut record =
        ltt_top(&daemon, &["record", "-e", "tracee:work", "--for", "1500ms", "--format", "json", "-o"]);
    record.arg(folder.path());
    let running = Running::start(record);
    wait_until("it records", || is_recording(&daemon));
    tracee.emit("work", 100);
    let ended = running.end();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let found: Value = serde_json::from_str(&ended.out).expect("it is JSON");
    assert_eq!(found["trace"]["events"], 100);
    let listed = daemon.lttng(["list"]);
    assert!(listed.contains(other.name()) && !listed.contains("ltt-top-"), "{listed}");
    drop(tracee);
    assert_eq!(other.stop().events().len(), 100);
}

/// Whether the session of `ltt-top` records.
pub fn is_recording(daemon: &Daemon) -> bool {
    let listed = daemon.command("lttng").args(["--no-sessiond", "list"]).output().expect("it runs");
    String::from_utf8_lossy(&listed.stdout)
        .lines()
        .any(|line| line.contains("ltt-top-") && line.contains("[active]"))
}

#[test]
fn only_the_chosen_process_is_recorded() {
    let daemon = Daemon::start();
    let mut programs = [Tracee::start(&daemon), Tracee::start(&daemon)];
    let listed = Running::start(ltt_top(&daemon, &["list", "--format", "json"])).end();
    let listed: Value = serde_json::from_str(&listed.out).expect("it is JSON");
    let processes = listed["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 2);
    let names: Vec<&str> = processes[0]["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"tracee:work") && names.contains(&"tracee:every_type"), "{names:?}");
    let pid = processes[0]["pid"].to_string();
    let folder = TempDir::new().unwrap();
    let mut record = ltt_top(&daemon, &["record", "-e", "tracee:*", "--for", "1500ms", "--pid", &pid, "-o"]);
    record.arg(folder.path());
    let running = Running::start(record);
    wait_until("it records", || is_recording(&daemon));
    programs.iter_mut().for_each(|program| program.emit("work", 100));
    let ended = running.end();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert_eq!(in_folder(folder.path()), 100);
    let text = Running::start(ltt_top(&daemon, &["list", "--all"])).end();
    assert!(text.out.contains("tracee") && text.out.contains("work(duration integer"), "{}", text.out);
}

#[test]
fn interrupt_at_any_moment_leaves_nothing() {
    let daemon = nowhere();
    for moment in 0..7 {
        let folder = TempDir::new().unwrap();
        let mut record = ltt_top(&daemon, &["record", "-e", "tracee:*", "-o"]);
        record.arg(folder.path().join("trace"));
        let running = Running::start(record);
        std::thread::sleep(Duration::from_millis(120 * moment));
        // As root it is still `unshare` in the first moments, which has no handler, and ignores SIGINT in a background job.
        let signal = if moment % 2 == 0 { Signal::INT } else { Signal::TERM };
        running.end_by(signal);
        assert_nothing_left(&daemon);
    }
}

#[test]
fn what_is_missing_is_said_in_one_line() {
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    let said = |arguments: &[&str], path: Option<&str>| {
        let mut command = ltt_top(&daemon, arguments);
        if let Some(path) = path {
            // `unshare` is found before, the tools are not.
            command = Command::new(env!("CARGO_BIN_EXE_ltt-top"));
            command.args(arguments).env("PATH", path).stdin(Stdio::null());
        }
        let ended = Running::start(command).end();
        let errors: Vec<&str> = ended.err.lines().filter(|line| line.contains("error:")).collect();
        assert_eq!((ended.status, errors.len()), (Some(1), 1), "{ended:?}");
        ended.err
    };
    let output = folder.path().join("trace").display().to_string();
    let record = ["record", "-e", "x:*", "-o", &output];
    assert!(said(&record, Some("/nowhere")).contains("install the package lttng-tools"));
    assert!(said(&[&record[..], &["--", "/no/such/program"]].concat(), None).contains("/no/such/program"));
    let another = folder.path().join("another").display().to_string();
    let of_process = ["record", "-e", "x:*", "-o", &another, "--pid", "1"];
    let refusal = said(&of_process, None);
    assert!(refusal.contains("process 1 (") && refusal.contains("(those that offer events: "), "{refusal}");
    let full = folder.path().display().to_string();
    std::fs::write(folder.path().join("file"), "").unwrap();
    assert!(said(&["record", "-e", "x:*", "-o", &full], None).contains("is not empty"));
    let listed = Running::start(ltt_top(&daemon, &["list"])).end();
    assert!(listed.status == Some(0) && listed.err.contains("no process offers"), "{listed:?}");
    assert_nothing_left(&daemon);
}

#[test]
fn events_are_recorded_for_as_long_as_they_are_watched() {
    let daemon = nowhere();
    let arguments = ["live", "-e", "tracee:*", "--format", "json", "--interval", "100ms"];
    let mut running = Running::start(ltt_top(&daemon, &arguments));
    running.object();
    let mut program = Tracee::start(&daemon);
    program.emit("work", 500);
    running.until(|object| object["trace"]["events"] == 500);
    // It was ours, and goes with us.
    let ours = processes(&daemon);
    assert!(ours.iter().any(|(_, name)| name.starts_with("lttng-")), "{ours:?}");
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    drop(program);
    assert_nothing_left(&daemon);
}

#[test]
fn a_recording_that_fails_leaves_no_folder() {
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("trace");
    for (target, reason) in [
        (&["--", "/nonexistent/program"][..], "cannot run"),
        (&["--name", "nothing-has-this-name"], "no process called nothing-has-this-name"),
    ] {
        let mut record = ltt_top(&daemon, &["record", "-e", "tracee:*", "-o"]);
        record.arg(&output).args(target);
        let ended = Running::start(record).end();
        assert!(ended.status == Some(1) && ended.err.contains(reason), "{ended:?}");
        assert!(!output.exists(), "{target:?}");
    }
    assert_nothing_left(&daemon);
}

#[test]
fn list_has_a_line_for_each_process_and_says_what_to_type() {
    let daemon = Daemon::start();
    let programs = [Tracee::start(&daemon), Tracee::start(&daemon), Tracee::start(&daemon)];
    let mut listed = String::new();
    // A program that has begun is known to the daemon a little later.
    wait_until("all programs are listed", || {
        listed = Running::start(ltt_top(&daemon, &["list"])).end().out;
        listed.lines().filter(|line| line.ends_with(" tracee")).count() == programs.len()
    });
    let mut lines = listed.lines();
    assert_eq!(
        lines.next().map(|line| line.split_whitespace().collect()),
        Some(vec!["PID", "PROGRAM", "EVENTS", "PROVIDERS"])
    );
    for _ in &programs {
        let words: Vec<&str> = lines.next().expect("a process").split_whitespace().collect();
        assert_eq!(words[1..], ["tracee", "2", "tracee"], "{listed}");
    }
    let typed: Vec<&str> = lines.filter_map(|line| line.split("    ").next()).collect();
    assert!(
        typed[1].starts_with("ltt-top record -e 'tracee:*' --pid ")
            && typed[2].starts_with("ltt-top live -e"),
        "{listed}"
    );
}

#[test]
fn programs_that_end_at_once_are_watched_in_full() {
    let daemon = nowhere();
    let arguments = ["live", "-e", "tracee:*", "--format", "json", "--interval", "100ms"];
    let mut running = Running::start(ltt_top(&daemon, &arguments));
    running.object();
    for _ in 0..20 {
        Tracee::start(&daemon).emit("work", 50);
    }
    let seen = running.until(|object| object["trace"]["events"] == 1000);
    assert_eq!(seen["has_process_buffers"], false);
    let ended = running.end_by(Signal::INT);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert_nothing_left(&daemon);
}
