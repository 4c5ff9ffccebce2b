//! The module preloaded as well: what goes through libc.

use std::process::Command;
use std::time::{Duration, Instant};

use lttng_testing::{CommandInTime as _, Daemon};

use crate::events::ltt_top;
use crate::support::{Stock, duration, preload, wait_for_children};

#[test]
fn writes_and_syncs_of_the_append_only_file_are_timed() {
    if Stock::redis().is_none() {
        return;
    }
    let daemon = Daemon::start();
    let server = Stock::Preloaded.start(&daemon, &["--appendonly", "yes", "--appendfsync", "always"]);
    let mut client = server.connect();
    let session = daemon.recording_with(&["valkey_*"], &[], &["vpid", "vtid"]);
    for value in 0..20 {
        assert_eq!(client.ask(&format!("SET a {value}")), "OK");
    }
    client.ask("BGREWRITEAOF");
    wait_for_children(&mut client);
    let trace = session.stop();
    let events = trace.events();
    let count = |name: &str| events.iter().filter(|event| event.name == name).count();
    assert!(count("valkey_aof:aof_write") >= 20);
    assert_eq!(count("valkey_aof:aof_write"), count("valkey_aof:aof_fsync_always"));
    let repeats =
        ["alone", "active_child", "pending_fsync"].map(|kind| count(&format!("valkey_aof:aof_write_{kind}")));
    assert_eq!(repeats.iter().sum::<usize>(), count("valkey_aof:aof_write"));
    for (name, least) in [("fork", 1), ("aof_rename", 1), ("aof_fstat", 1)] {
        assert!(count(&format!("valkey_aof:{name}")) >= least, "{name}");
    }
    assert!(count("valkey_server:module_acquire_gil") >= 20);

    // A turn lasts until the loop sleeps, so each sync lies in one.
    let is_within = |sync: &lttng_testing::Event, turn: &lttng_testing::Event| {
        let begin = |event: &lttng_testing::Event| event.timestamp - 1000 * duration(event) as i64;
        begin(turn) <= begin(sync) + 1000 && sync.timestamp <= turn.timestamp
    };
    let turns: Vec<_> = events.iter().filter(|event| event.name == "valkey_server:eventloop").collect();
    for sync in events.iter().filter(|event| event.name == "valkey_aof:aof_fsync_always") {
        assert!(turns.iter().any(|turn| is_within(sync, turn)), "{sync:?}");
    }
    let top = ltt_top(&["top", "--limit=0"], &trace);
    assert!(top["groups"].to_string().contains("aof_fsync_always"));
}

#[test]
fn cron_is_timed_and_not_charged_to_the_command_before_it() {
    if Stock::redis().is_none() {
        return;
    }
    let daemon = Daemon::start();
    let server = Stock::Preloaded.start(&daemon, &[]);
    let mut client = server.connect();
    let session = daemon.recording(&["valkey_commands:*", "valkey_server:eventloop_cron"]);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        client.ask("SET a 1");
    }
    let events = session.stop().events();
    let (crons, commands): (Vec<_>, Vec<_>) =
        events.iter().partition(|event| event.name.ends_with(":eventloop_cron"));
    assert!(crons.len() >= 5, "{} in a second", crons.len());
    for cron in crons {
        let is_around = |command: &&&lttng_testing::Event| {
            command.timestamp >= cron.timestamp
                && command.timestamp - 1000 * duration(command) as i64 + 1000 < cron.timestamp
        };
        let around = commands.iter().find(is_around);
        assert!(around.is_none(), "{around:?} is around {cron:?}");
    }
}

#[test]
fn saving_the_configuration_of_a_cluster_is_timed() {
    if Stock::redis().is_none() {
        return;
    }
    let daemon = Daemon::start();
    let server = Stock::Preloaded.start(&daemon, &["--cluster-enabled", "yes"]);
    let session = daemon.recording(&["valkey_cluster:*"]);
    assert_eq!(server.connect().ask("CLUSTER SAVECONFIG"), "OK");
    let events = session.stop().events();
    let names: Vec<_> =
        events.iter().map(|event| event.name.trim_start_matches("valkey_cluster:cluster_config_")).collect();
    // Redis 7.0 writes the file in place; later servers write another one and rename it.
    assert_eq!(names, ["open", "write", "fsync", "close"]);
}

#[test]
fn temporary_snapshot_of_a_killed_child_is_timed() {
    if Stock::redis().is_none() {
        return;
    }
    let daemon = Daemon::start();
    let server = Stock::Preloaded.start(&daemon, &["--rdb-key-save-delay", "10000"]);
    let mut client = server.connect();
    client.ask("DEBUG POPULATE 10000");
    let session = daemon.recording(&["valkey_rdb:*"]);
    client.ask("BGSAVE");
    // The server kills its child.
    assert_eq!(client.ask("FLUSHALL"), "OK");
    wait_for_children(&mut client);
    let events = session.stop().events();
    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    assert!(names.contains(&"valkey_rdb:rdb_unlink_temp_file"), "{names:?}");
}

#[test]
fn other_programs_behave_as_without_it() {
    let script = "cat /no/such/file; echo x >/dev/full; ls /; cp /etc/hostname /tmp/preloaded-$$ && rm /tmp/preloaded-$$; exit 3";
    let run = |preloaded: bool| {
        let mut command = Command::new("env");
        if preloaded {
            command.arg(preload());
        }
        let output = command.args(["sh", "-c", script]).output_in_time().expect("it runs");
        (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run(true), run(false));
}
