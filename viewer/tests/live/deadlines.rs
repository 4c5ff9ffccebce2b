//! Nothing that `ltt-top` starts or talks to holds it up without a limit, and nothing of it is left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use lttng_testing::{Daemon, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::record::{assert_nothing_left, in_folder, is_recording, ltt_top, nowhere, processes};
use super::support::{Ended, Running};
use crate::tracee::program;

/// `ltt-top record` into a folder, with little patience.
fn record(daemon: &Daemon, folder: &TempDir, arguments: &[&str]) -> Command {
    let mut record = ltt_top(daemon, &["record", "-e", "tracee:*", "-o"]);
    record.arg(folder.path().join("trace")).args(arguments).env("LTT_TOP_DEADLINE", "2s");
    record
}

/// Puts a script in front of one of LTTng's tools.
fn wrapped(tool: &str, script: &str) -> (TempDir, String) {
    let folder = TempDir::new().unwrap();
    let path = std::env::var("PATH").unwrap();
    let original = std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.exists());
    let wrapper = folder.path().join(tool);
    let script = script.replace("TOOL", &original.expect("it is installed").display().to_string());
    fs::write(&wrapper, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{path}", folder.path().display());
    (folder, path)
}

/// The process of this name that belongs to a daemon's place.
fn find(daemon: &Daemon, name: &str) -> Option<Pid> {
    let found = processes(daemon).into_iter().find(|(_, command)| command == name);
    found.and_then(|(pid, _)| Pid::from_raw(pid))
}

#[test]
fn daemon_that_ignores_its_end_is_killed_with_all_that_it_started() {
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    // The shell ignores SIGTERM, and the daemon never gets it.
    let (_wrapper, path) = wrapped("lttng-sessiond", "trap '' TERM; TOOL \"$@\" & wait; sleep 600");
    let script = format!("echo 'work 100' | {}", program().display());
    let mut record = record(&daemon, &folder, &["--", "sh", "-c", &script]);
    let ended = {
        record.env("PATH", path);
        Running::start(record).end()
    };
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(ended.err.contains("did not end within 2 s and was killed; its threads: "), "{ended:?}");
    assert_eq!(in_folder(&folder.path().join("trace")), 100);
    assert_nothing_left(&daemon);
}

#[test]
fn daemon_that_no_longer_answers_is_named_with_its_threads() {
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    let running = Running::start(record(&daemon, &folder, &[]));
    wait_until("it records", || is_recording(&daemon));
    let sessiond = find(&daemon, "lttng-sessiond").expect("it runs");
    kill_process(sessiond, Signal::STOP).unwrap();
    let ended = running.end_by(Signal::INT);
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(ended.err.contains("`lttng stop` took longer than 2 s: the session daemon"), "{ended:?}");
    assert!(ended.err.contains("is stopped"), "{ended:?}");
    assert_nothing_left(&daemon);
}

#[test]
fn daemon_that_does_not_start_is_an_error() {
    let daemon = nowhere();
    for tool in ["lttng-sessiond", "lttng-relayd"] {
        let (_wrapper, path) = wrapped(tool, "exec sleep 600");
        let mut live = ltt_top(&daemon, &["live", "-e", "tracee:*", "--plain"]);
        live.env("LTT_TOP_DEADLINE", "1s").env("PATH", path);
        let ended = Running::start(live).end();
        assert!(ended.status == Some(1) && ended.err.contains(tool), "{ended:?}");
        assert!(ended.err.contains("within 1 s; its threads: sleep waits"), "{ended:?}");
        assert_nothing_left(&daemon);
    }
}

#[test]
fn program_that_ignores_its_end_is_killed_with_all_that_it_started() {
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    let script =
        "trap '' TERM; (trap '' TERM; while true; do sleep 600; done) & while true; do sleep 600; done";
    let ended = Running::start(record(&daemon, &folder, &["--for", "200ms", "--", "sh", "-c", script])).end();
    assert!(ended.err.contains("sh (process ") && ended.err.contains("was killed; its threads"), "{ended:?}");
    assert_nothing_left(&daemon);
}

#[test]
fn interrupt_ends_it_even_where_it_was_ignored() {
    let daemon = nowhere();
    for kind in ["record", "live"] {
        let folder = TempDir::new().unwrap();
        let mut command = daemon.command("sh");
        // As in a background job of a script.
        command.args([
            "-c",
            "trap '' INT; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_ltt-top"),
            kind,
            "-e",
            "tracee:*",
        ]);
        match kind {
            "record" => _ = command.arg("-o").arg(folder.path().join("trace")),
            _ => _ = command.arg("--plain"),
        }
        let running = Running::start(command);
        wait_until("it records", || is_recording(&daemon));
        let ended: Ended = running.end_by(Signal::INT);
        assert!(matches!(ended.status, Some(0 | 1)), "{ended:?}");
        assert_nothing_left(&daemon);
    }
}

/// Standard errors that cannot be written to: one without room, and one without a reader.
fn unwritable() -> [Stdio; 2] {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    [full.into(), writer.into()]
}

#[test]
fn errors_that_cannot_be_written_change_nothing() {
    let daemon = nowhere();
    for (place, errors) in unwritable().into_iter().enumerate() {
        let folder = TempDir::new().unwrap();
        let script = format!("echo 'work 100' | {}; exit 3", program().display());
        let mut record = record(&daemon, &folder, &["--format", "json", "--", "sh", "-c", &script]);
        let output = record.stderr(errors).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{place}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("\"events\":100"));
        assert_nothing_left(&daemon);
    }
    let trace: PathBuf = "/no/such/trace".into();
    for (arguments, expected) in [(&["top"][..], 1), (&["top", "--since", "x"], 2)] {
        for errors in unwritable() {
            let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-top"));
            let status = command.args(arguments).arg(&trace).stderr(errors).status().unwrap();
            assert_eq!(status.code(), Some(expected), "{arguments:?}");
        }
    }
}

#[test]
fn errors_that_nobody_reads_do_not_hold_it_up() {
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    // A pipe that is full: whoever writes to it waits.
    let (reader, writer) = std::io::pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    std::thread::spawn(move || std::io::Write::write_all(&mut filler, &[b'x'; 1 << 16]));
    let mut record = record(&daemon, &folder, &["--for", "100ms"]);
    let mut process = record.stderr(writer).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(10));
    wait_until("it ends", || process.try_wait().unwrap().is_some());
    drop(reader);
    assert_nothing_left(&daemon);
}
