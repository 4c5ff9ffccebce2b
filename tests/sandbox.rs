//! Events of any length, with a filter, take neither a system call nor memory; and a program may end at any moment.

use std::path::PathBuf;

use lttng_testing::{Daemon, Event, Program};

/// What `scenario` emits at a time, and how often.
const SHAPES: [(&str, usize); 4] =
    [("twin:strings", 2), ("twin:texts", 1), ("twin:ten", 1), ("twin:network", 1)];
const ROUNDS: usize = 101;

#[test]
fn long_events_with_a_filter_make_no_system_call() {
    assert_all_recorded("without-system-calls");
}

#[test]
fn long_events_with_a_filter_need_no_memory() {
    assert_all_recorded("without-memory");
}

/// Runs a scenario of long events with filters that accept them all, and counts what was recorded.
fn assert_all_recorded(name: &str) {
    let daemon = Daemon::start();
    let session = daemon.session();
    session.lttng("enable-channel", ["--userspace", "large", "--subbuf-size=4194304", "--num-subbuf=4"]);
    let filters = [
        ("twin:strings", "a == \"aa*\" && number == 1"),
        ("twin:texts", "number == 1"),
        ("twin:ten", "s9 == \"*a\""),
        ("twin:network", "e[1] == 1 && c == 1"),
    ];
    for (event, filter) in filters {
        session.enable_with(event, &["--channel=large", "--filter", filter]);
    }
    session.start();
    let output = daemon.command(scenario()).arg(name).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let events: Vec<Event> = session.stop().events();
    for (name, count) in SHAPES {
        let recorded = events.iter().filter(|event| event.name == name).count();
        assert_eq!(recorded, ROUNDS * count, "{name}");
    }
}

#[test]
fn program_that_ends_while_threads_emit_ends_well_even_with_triggers() {
    let daemon = Daemon::start();
    let rule = ["--condition=event-rule-matches", "--type=user:tracepoint", "--name=twin:*"];
    let added =
        daemon.command("lttng").arg("add-trigger").args(rule).arg("--action=notify").output().unwrap();
    assert!(added.status.success(), "{added:?}");
    let program = scenario();
    for run in 0..20 {
        let output = daemon.command(&program).arg("exit-while-emitting").output().unwrap();
        assert!(output.status.success(), "run {run}: {output:?}");
    }
}

fn scenario() -> PathBuf {
    Program::binary("lttng-fixtures", "scenario").traced().build()
}
