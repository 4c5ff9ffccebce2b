//! What lttng can ask of a session holds for our events: filters, log levels, contexts, nothing at all.

use std::process::Stdio;

use crate::support::{NO_ARGUMENTS, fixture, scenario};
use lttng_testing::{ChildInTime as _, Daemon, Event};

#[test]
fn disabled_event_evaluates_no_argument_and_records_nothing() {
    let daemon = Daemon::start();
    let session = daemon.recording(&["valkey_db:eviction_del"]);
    assert_eq!(daemon.run(scenario(), ["side-effect"]), "0\n");
    assert_eq!(session.stop().events(), []);
}

#[test]
fn enabled_event_evaluates_its_argument_once() {
    let daemon = Daemon::start();
    let session = daemon.recording(&["valkey_db:expire_del"]);
    assert_eq!(daemon.run(scenario(), ["side-effect"]), "1\n");
    let events = session.stop().events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].field("duration"), "1");
}

#[test]
fn two_sessions_record_the_same_events() {
    let daemon = Daemon::start();
    let sessions = [(); 2].map(|()| daemon.recording(&["valkey_commands:command_call"]));
    daemon.run(scenario(), ["commands"]);
    for session in &sessions {
        let events = session.stop().events();
        assert_eq!(events.len(), 5000);
        assert_eq!(events[4990].field("name"), "\"set\"");
        assert_eq!(events[4999].field("duration"), "4999");
    }
}

#[test]
fn filter_on_an_integer() {
    let events = commands(&["--filter", "duration > 1000"]);
    assert_eq!(events.len(), 3999);
    assert_eq!(events[0].field("duration"), "1001");
}

#[test]
fn filter_on_a_string() {
    let events = commands(&["--filter", "name == \"set\" && addr == \"cli*\""]);
    assert_eq!(events.len(), 500);
    assert!(events.iter().all(|event| event.field("name") == "\"set\""));
}

#[test]
fn filter_on_an_enum() {
    assert_eq!(commands(&["--filter", "enum_field == 0"]).len(), 5000);
    assert_eq!(commands(&["--filter", "enum_field == 1"]).len(), 0);
}

#[test]
fn log_level_chooses_events() {
    let daemon = Daemon::start();
    let session = daemon.recording_with(&["every_type:*"], &["--loglevel", "TRACE_CRIT"], &[]);
    daemon.run(fixture("every-type"), NO_ARGUMENTS);
    let mut names: Vec<_> = session.stop().events().into_iter().map(|event| event.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names, ["every_type:hexadecimal", "every_type:signed", "every_type:unsigned"]);
}

#[test]
fn contexts_are_those_of_the_program() {
    let daemon = Daemon::start();
    let session = daemon.recording_with(&["valkey_db:expire_del"], &[], &["vpid", "vtid", "procname"]);
    let mut program = daemon.command(scenario()).arg("side-effect").stdout(Stdio::null()).spawn().unwrap();
    assert!(program.wait_in_time().unwrap().success());
    let events = session.stop().events();
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!(event.context("vpid"), program.id().to_string());
    assert_eq!(event.context("vtid"), program.id().to_string());
    assert_eq!(event.context("procname"), "\"scenario\"");
}

#[test]
fn every_way_to_measure_records_how_long_it_took() {
    let daemon = Daemon::start();
    let events = daemon.record(&["valkey_*"], scenario(), ["durations"]).events();
    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    let expected = [
        "valkey_aof:fork",
        "valkey_server:eventloop",
        "valkey_commands:command_call",
        // Emitted although the work panicked.
        "valkey_db:eviction_cycle",
    ];
    assert_eq!(names, expected);
    for event in &events {
        let microseconds: u64 = event.field("duration").parse().unwrap();
        assert!((1_000..60_000_000).contains(&microseconds), "{event:?}");
    }
    assert_eq!(events[2].field("name"), "\"finished\"");
}

#[test]
fn nothing_is_measured_for_a_session_that_does_not_ask() {
    let daemon = Daemon::start();
    assert_eq!(daemon.record(&["valkey_rdb:*"], scenario(), ["durations"]).events(), []);
}

fn commands(options: &[&str]) -> Vec<Event> {
    let daemon = Daemon::start();
    let session = daemon.recording_with(&["valkey_commands:command_call"], options, &[]);
    daemon.run(scenario(), ["commands"]);
    session.stop().events()
}
