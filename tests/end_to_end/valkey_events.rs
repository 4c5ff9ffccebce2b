//! Valkey's 35 events, from a Rust program, through a stock lttng, read back by Babeltrace.

use std::path::Path;

use lttng_testing::{ChildInTime as _, CommandInTime as _, Daemon, Program, Trace, declarations};

/// Every event, in the order in which `emit-all` emits them: the n-th has the duration n.
const EVENTS: [&str; 35] = [
    "valkey_commands:command_call",
    "valkey_server:command_unblocking",
    "valkey_server:while_blocked_cron",
    "valkey_server:eventloop",
    "valkey_server:eventloop_cron",
    "valkey_server:module_acquire_gil",
    "valkey_server:command",
    "valkey_server:fast_command",
    "valkey_db:expire_del",
    "valkey_db:active_defrag_cycle",
    "valkey_db:eviction_del",
    "valkey_db:eviction_lazyfree",
    "valkey_db:eviction_cycle",
    "valkey_db:expire_cycle",
    "valkey_db:expire_cycle_keys",
    "valkey_db:expire_cycle_fields",
    "valkey_cluster:cluster_config_open",
    "valkey_cluster:cluster_config_write",
    "valkey_cluster:cluster_config_fsync",
    "valkey_cluster:cluster_config_rename",
    "valkey_cluster:cluster_config_dir_fsync",
    "valkey_cluster:cluster_config_close",
    "valkey_cluster:cluster_config_unlink",
    "valkey_cluster:fork",
    "valkey_rdb:fork",
    "valkey_rdb:rdb_unlink_temp_file",
    "valkey_aof:fork",
    "valkey_aof:aof_write_pending_fsync",
    "valkey_aof:aof_write_active_child",
    "valkey_aof:aof_write_alone",
    "valkey_aof:aof_write",
    "valkey_aof:aof_fsync_always",
    "valkey_aof:aof_fstat",
    "valkey_aof:aof_rename",
    "valkey_aof:aof_flush",
];

#[test]
fn every_event_is_recorded_with_exact_values() {
    let events = record(&Daemon::start(), "3").events();
    assert_eq!(events.len(), 3 * EVENTS.len());
    for (round, events) in events.chunks(EVENTS.len()).enumerate() {
        for (index, (event, name)) in events.iter().zip(EVENTS).enumerate() {
            let duration = (1000 * round + index + 1).to_string();
            assert_eq!(event.name, name);
            assert_eq!(event.field("duration"), duration, "{name}");
            if index == 0 {
                assert_eq!(event.field("enum_field"), r#"( "UNIX" : container = 1 )"#);
                assert_eq!(event.field("addr"), r#""client:1""#);
                assert_eq!(event.field("laddr"), r#""server:2""#);
                assert_eq!(event.field("name"), r#""get""#);
                assert_eq!(event.fields.len(), 5);
            } else {
                assert_eq!(event.fields.len(), 1);
            }
        }
    }
}

#[test]
fn metadata_declares_what_real_valkey_declares() {
    let ours = record(&Daemon::start(), "1").declarations();
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/valkey-metadata.tsdl");
    let real = declarations(&format!("\n{}", std::fs::read_to_string(real).unwrap()));
    assert_eq!(real.len(), EVENTS.len());
    for (name, declaration) in &real {
        assert_eq!(ours.get(name), Some(declaration), "{name}");
    }
    assert_eq!(ours.len(), real.len());
}

#[test]
fn lttng_lists_names_log_levels_and_fields() {
    let daemon = Daemon::start();
    let scenario = Program::binary("lttng-fixtures", "scenario").traced().build();
    let mut program = daemon
        .command(scenario)
        .arg("until-end-of-input")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let listed = || daemon.lttng(["list", "--userspace", "--fields"]);
    lttng_testing::wait_until("the program is listed", || listed().contains("valkey_db:expire_del"));
    let listed = listed();
    drop(program.stdin.take());
    assert!(program.wait_in_time().unwrap().success());

    for name in EVENTS {
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
