//! Valkey's 35 events, from a Rust program, through a stock lttng, read back by Babeltrace.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::scenario;
use lttng_testing::{ChildInTime as _, CommandInTime as _, Daemon, Program, Trace, declarations};

/// The names of all events.
fn names() -> BTreeSet<String> {
    let catalog = lttng_catalog::valkey();
    catalog.events().map(|(provider, event)| format!("{}:{}", provider.name, event.name)).collect()
}

/// `emit-all` gives the n-th event of a round the duration n. Which event is the n-th, the same program in C says, too
/// (`c_programs.rs`).
#[test]
fn every_event_is_recorded_with_exact_values() {
    let events = record(&Daemon::start(), "3").events();
    assert_eq!(events.len(), 3 * 35);
    for (round, events) in events.chunks(35).enumerate() {
        assert_eq!(events.iter().map(|event| event.name.clone()).collect::<BTreeSet<_>>(), names());
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event.field("duration"), (1000 * round + index + 1).to_string(), "{event:?}");
            assert_eq!(event.fields.len(), if index == 0 { 5 } else { 1 }, "{event:?}");
        }
        let call = &events[0];
        assert_eq!(call.name, "valkey_commands:command_call");
        assert_eq!(call.field("enum_field"), r#"( "UNIX" : container = 1 )"#);
        assert_eq!(call.field("addr"), r#""client:1""#);
        assert_eq!(call.field("laddr"), r#""server:2""#);
        assert_eq!(call.field("name"), r#""get""#);
    }
}

#[test]
fn metadata_declares_what_real_valkey_declares() {
    let ours = record(&Daemon::start(), "1").declarations();
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/valkey-metadata.tsdl");
    let real = declarations(&format!("\n{}", std::fs::read_to_string(real).unwrap()));
    assert_eq!(real.len(), 35);
    for (name, declaration) in &real {
        assert_eq!(ours.get(name), Some(declaration), "{name}");
    }
    assert_eq!(ours.len(), real.len());
}

#[test]
fn lttng_lists_names_log_levels_and_fields() {
    let daemon = Daemon::start();
    let mut program = daemon
        .command(scenario())
        .arg("until-end-of-input")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let listed = || daemon.lttng(["list", "--userspace", "--fields"]);
    lttng_testing::wait_until("the program is listed", || listed().contains("valkey_db:expire_del"));
    let listed = listed();
    drop(program.stdin.take());
    assert!(program.wait_in_time().unwrap().success());

    for name in names() {
        let line = format!("{name} (loglevel: TRACE_DEBUG_LINE (13)) (type: tracepoint)");
        assert!(listed.contains(&line), "{line}\n{listed}");
    }
    let (_, fields) = listed.split_once("valkey_commands:command_call").unwrap();
    let fields: Vec<_> = fields.lines().skip(1).take(5).map(str::trim).collect();
    // lttng lists the last field first.
    let expected = [
        "field: duration (integer)",
        "field: name (string)",
        "field: laddr (string)",
        "field: addr (string)",
        "field: enum_field (enum)",
    ];
    assert_eq!(fields, expected);
}

#[test]
fn wrong_count_is_one_clear_line() {
    let emit_all = Program::example("valkey-trace", "emit-all").traced().build();
    let output = Daemon::start().command(emit_all).arg("many").output_in_time().unwrap();
    assert!(!output.status.success());
    let expected = "emit-all: `many` is not a count; usage: emit-all [COUNT], with a whole number\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
}

fn record(daemon: &Daemon, count: &str) -> Trace {
    daemon.record(&["valkey_*"], Program::example("valkey-trace", "emit-all").traced().build(), [count])
}
