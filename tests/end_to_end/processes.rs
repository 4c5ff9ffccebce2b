//! Threads, forks, and programs and session daemons that come and go.

use std::process::{Child, Command, Stdio};

use crate::support::scenario;
use lttng_testing::{ChildInTime as _, CommandInTime as _, Daemon, Session, wait_until};

#[test]
fn eight_threads_lose_no_event() {
    let daemon = Daemon::start();
    let events = daemon.record(&["valkey_commands:command_call"], scenario(), ["threads"]).events();
    assert_eq!(events.len(), 8 * 1000);
    for thread in 0..8 {
        let name = format!("\"thread-{thread}\"");
        let mut own: Vec<u32> = events
            .iter()
            .filter(|event| event.field("name") == name)
            .map(|event| event.field("duration").parse().unwrap())
            .collect();
        own.sort();
        assert!(own.iter().copied().eq(0..1000), "{name}");
    }
}

#[test]
fn forked_child_traces_under_its_own_process_id() {
    assert_fork_is_traced(None);
}

#[test]
fn forked_child_traces_where_the_fork_wrapper_of_lttng_is_preloaded() {
    assert_fork_is_traced(Some("liblttng-ust-fork.so"));
}

fn assert_fork_is_traced(preloaded: Option<&str>) {
    let daemon = Daemon::start();
    let session = daemon.recording_with(&["valkey_db:expire_del"], &[], &["vpid"]);
    // `env` sets the variable for the program alone; what runs it must not have LTTng's threads.
    let mut program = daemon.command("env");
    program.args(preloaded.map(|library| format!("LD_PRELOAD={library}")));
    // The output is complete when parent and child have ended.
    let child = program.arg(scenario()).arg("fork").succeed();
    let child = child.trim();
    let events = session.stop().events();
    let vpid = |duration: &str| {
        let mut found = events.iter().filter(|event| event.field("duration") == duration);
        let event = found.next().unwrap_or_else(|| panic!("no {duration} in {events:?}"));
        event.context("vpid").to_owned()
    };
    assert_eq!(events.len(), 3);
    assert_eq!(vpid("2"), child);
    assert_eq!(vpid("1"), vpid("3"));
    assert_ne!(vpid("1"), child);
}

#[test]
fn program_that_is_started_before_the_daemon_is_traced() {
    let mut daemon = Daemon::start();
    daemon.stop();
    let program = start(&daemon);
    daemon.restart();
    assert_traced(&daemon);
    end(program);
}

#[test]
fn program_is_traced_again_after_the_daemon_was_killed() {
    let mut daemon = Daemon::start();
    let program = start(&daemon);
    assert_traced(&daemon);
    daemon.kill();
    daemon.restart();
    assert_traced(&daemon);
    end(program);
}

/// A program that emits `valkey_db:expire_del` all the time and waits for no daemon.
fn start(daemon: &Daemon) -> Child {
    let mut program = daemon.command(scenario());
    program.arg("until-end-of-input").env("LTTNG_UST_REGISTER_TIMEOUT", "0").stdin(Stdio::piped());
    program.spawn().unwrap()
}

fn end(mut program: Child) {
    drop(program.stdin.take());
    assert!(program.wait_in_time().unwrap().success());
}

fn assert_traced(daemon: &Daemon) {
    wait_until("the program has registered", || {
        daemon.lttng(["list", "--userspace"]).contains("valkey_db:expire_del")
    });
    let session = daemon.session();
    session.enable("valkey_db:expire_del");
    wait_until("an event is recorded", || records(&session));
}

fn records(session: &Session<'_>) -> bool {
    session.start();
    // Stopped before the program had made its buffers, a trace has no stream yet, which Babeltrace refuses.
    let trace = session.stop();
    let read = Command::new("babeltrace").arg(trace.folder()).output_in_time().unwrap();
    read.status.success() && !read.stdout.is_empty()
}
