//! The clock plugin: times are those of the system, in order, on all processors; and it says where it refuses.

use std::fs::File;
use std::process::Command;
use std::time::Duration;

use crate::support::{compile_c, scenario};
use lttng_testing::{CommandInTime as _, DEADLINE, Daemon, Event, Program, not_allowed};

/// How far a time of the plugin may be from the system's within seconds; LTTng itself measures the offset of a
/// clock to about a microsecond.
const ERROR: i64 = 50_000;

#[test]
fn times_of_the_plugin_are_those_of_the_system_and_in_order() {
    assert_records_in_order(2_000);
}

#[test]
#[ignore = "make check: long"]
fn times_of_the_plugin_are_those_of_the_system_and_in_order_for_long() {
    assert_records_in_order(20_000);
}

/// The program goes to another processor for each event, and waits there for its turn.
fn assert_records_in_order(count: usize) {
    for which in [WithPlugin::Both, WithPlugin::OnlyDaemon, WithPlugin::OnlyProgram] {
        let Some(events) = record_with_plugin(which, count, 0) else { return };
        assert_eq!(events.len(), count);
        let error = assert_in_order(&events);
        assert!(error < ERROR, "{which:?}: {error} ns");
    }
}

/// Which processes have the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WithPlugin {
    Both,
    OnlyDaemon,
    OnlyProgram,
}

#[test]
#[ignore = "make check: long"]
fn times_of_the_plugin_stay_those_of_the_system() {
    let minutes: usize = std::env::var("CLOCK_MINUTES").map_or(1, |text| text.parse().unwrap());
    if let Some(events) = record_with_plugin(WithPlugin::Both, minutes * 600, 100) {
        assert!(assert_in_order(&events) < ERROR);
        // The least that lies between a reading and its event is the same at all times, but for the drift.
        let late = |event: &Event| event.timestamp - event.field("duration").parse::<i64>().unwrap();
        let least: Vec<_> =
            events.chunks(60 * minutes).map(|part| part.iter().map(late).min().unwrap()).collect();
        println!("nanoseconds from the system's time to an event's, the least in each tenth: {least:?}");
        let drift = least.iter().max().unwrap() - least.iter().min().unwrap();
        assert!(drift < 1_000_000, "{drift} ns");
    }
}

/// The system's times as events; none if the counter is not to be trusted here, which must be said.
fn record_with_plugin(which: WithPlugin, count: usize, milliseconds: u64) -> Option<Vec<Event>> {
    let plugin = Program::dynamic_library("lttng-clock").traced().build();
    let variable = ("LTTNG_UST_CLOCK_PLUGIN", plugin.to_str().unwrap());
    let daemon = match which {
        WithPlugin::OnlyProgram => Daemon::start(),
        _ => Daemon::start_with(&[variable]),
    };
    let session = daemon.recording(&["valkey_db:expire_del"]);
    let mut command = daemon.command(scenario());
    match which {
        WithPlugin::OnlyDaemon => command.env_remove(variable.0),
        _ => command.env(variable.0, variable.1),
    };
    command.arg("clock").arg(count.to_string()).arg(milliseconds.to_string());
    let limit = DEADLINE + Duration::from_millis(milliseconds * count as u64);
    let output = command.output_within(limit).unwrap();
    assert!(output.status.success());
    let refused = String::from_utf8(output.stderr).unwrap();
    let trace = session.stop();
    // The clock is LTTng's in every case; only its description says that the daemon has the plugin.
    assert!(trace.metadata().contains("name = \"monotonic\""), "{}", trace.metadata());
    let described = trace.metadata().contains("computed from the processor's counter");
    if !refused.is_empty() {
        assert!(refused.starts_with("lttng-clock: the processor's counter is not used"), "{refused}");
        assert!(!described, "{}", trace.metadata());
        not_allowed("a processor's counter that can be trusted", &refused);
        return None;
    }
    assert_eq!(described, which != WithPlugin::OnlyProgram, "{}", trace.metadata());
    Some(trace.events())
}

/// An event was emitted after the time in it, and before that in the next one. Returns by how much the times of a
/// trace deny that.
fn assert_in_order(events: &[Event]) -> i64 {
    let system = |event: &Event| event.field("duration").parse::<i64>().unwrap();
    let error = |pair: &[Event]| {
        let (emitted, next) = (system(&pair[0]), system(&pair[1]));
        assert!(emitted <= next, "the trace has another order than the program");
        (emitted - pair[0].timestamp).max(pair[0].timestamp - next)
    };
    events.windows(2).map(error).max().unwrap_or_default()
}

#[test]
fn durations_by_the_counter_are_those_of_the_monotonic_clock() {
    let daemon = Daemon::start();
    let session = daemon.recording(&["valkey_db:*"]);
    let clock = daemon.run(scenario(), ["counter"]);
    println!("durations were measured by {clock}");
    // Where the counter is not trusted, the durations are right all the same.
    assert!(clock.starts_with("the processor's counter, ") || clock.starts_with("the monotonic clock: "));
    let events = session.stop().events();
    assert_eq!(events.len(), 3_000);
    let microseconds = |event: &Event| event.field("duration").parse::<u64>().unwrap();
    for measured in events.chunks(3) {
        let names: Vec<&str> = measured.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["valkey_db:expire_del", "valkey_db:eviction_del", "valkey_db:eviction_cycle"]);
        let [ours, inner, outer] = [0, 1, 2].map(|index| microseconds(&measured[index]));
        // A microsecond for rounding, and 100 ppm.
        let allowed = 1 + outer / 10_000;
        assert!(inner <= ours + allowed && ours <= outer + allowed, "{inner} <= {ours} <= {outer}");
    }
}

#[test]
fn plugin_without_lttng_says_so_and_harms_nobody() {
    let plugin = Program::dynamic_library("lttng-clock").traced().build();
    let folder = tempfile::tempdir().unwrap();
    let call = compile_c("call.c", &folder.path().join("call"), &["-ldl"]);
    let output = Command::new(call).arg(plugin).arg("lttng_ust_clock_plugin_init").output_in_time().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.starts_with("lttng-clock: the processor's counter is not used"), "{said}");
}

#[test]
#[ignore = "make check: a release build"]
fn plugin_that_cannot_say_why_it_refuses_harms_nobody() {
    let plugin = Program::dynamic_library("lttng-clock").release().build();
    let folder = tempfile::tempdir().unwrap();
    let call = compile_c("call.c", &folder.path().join("call"), &["-ldl"]);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let status =
        Command::new(call).arg(plugin).arg("lttng_ust_clock_plugin_init").stderr(full).status().unwrap();
    assert!(status.success(), "{status}");
}
