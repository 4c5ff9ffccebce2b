//! All 35 events, each provoked by the thing itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use lttng_testing::{CommandInTime as _, Connection, Daemon, Event, Program, wait_until};

use crate::{Server, ask, stall, wait_for_info};

/// How long the slow command sleeps, in microseconds.
const SLOW: u64 = 300_000;

/// How long a sync takes at least, in microseconds: that of a file in memory may take none.
const SYNC: u64 = 2000;

#[test]
fn every_event_is_recorded_when_its_thing_happens() {
    let daemon = Daemon::start();
    let session = daemon.recording(&["valkey_*"]);
    let started = Instant::now();
    let options = ["--sampler", "yes", "--appendonly", "yes", "--hz", "500"];
    let mut server = Server::start(&daemon, &options);
    let mut client = server.connect();
    append_to_the_file(&mut client);
    expire_and_wait(&mut client);
    fork_children(&mut client, &server);
    save_the_cluster_file(&mut client, &server);
    run_out_of_memory(&mut client);
    write_while_the_disk_is_slow(&mut client);
    ask(&mut client, &format!("DEBUG SLEEP {}", SLOW as f64 / 1e6));
    client.request("SHUTDOWN");
    wait_until("the server has ended", || server.process.try_wait().expect("our child").is_some());

    let microseconds = started.elapsed().as_micros() as u64;
    let trace = session.stop();
    let events = trace.events();
    all_events_are_among(&events.iter().map(|event| event.name.as_str()).collect());
    durations_are_plausible(&events, microseconds);
    repeated_values_are_the_same(&events);
    let sleep = calls(&events).find(|event| event.field("name") == "\"sleep\"").expect("a sleep");
    assert_eq!(sleep.field("enum_field"), "( \"SOCKET\" : container = 0 )");
    assert_eq!(sleep.field("addr"), format!("\"{}\"", client.address()));
    assert_eq!(sleep.field("laddr"), format!("\"127.0.0.1:{}\"", server.port));
    inner_calls_lie_within_their_transaction(&events);
    ltt_top_sees_the_same(trace.folder());
}

fn append_to_the_file(client: &mut Connection) {
    ask(client, "CONFIG SET appendfsync always");
    stall(client, "aof-fsync", SYNC);
    ask(client, "SET key value");
    for request in ["MULTI", "SET key 1", "DEBUG SLEEP 0.01", "GET key", "EXEC"] {
        ask(client, request);
    }
}

fn write_while_the_disk_is_slow(client: &mut Connection) {
    stall(client, "background-fsync", 10_000_000);
    ask(client, "CONFIG SET appendfsync everysec");
    ask(client, "SET key before");
    wait_for_info(client, "aof_pending_bio_fsync", "1");
    ask(client, "SET key meanwhile");
}

fn expire_and_wait(client: &mut Connection) {
    ask(client, "SET gone value PX 1");
    ask(client, "HSETEX hash PX 1 FIELDS 1 gone value");
    wait_for_info(client, "expired_keys", "2");
    assert_eq!(ask(client, "HGET hash gone"), "(nil)");
    assert_eq!(ask(client, "WAIT 1 10"), "0");
}

fn fork_children(client: &mut Connection, server: &Server) {
    ask(client, "DEBUG POPULATE 5000");
    ask(client, "BGREWRITEAOF");
    wait_for_info(client, "aof_rewrite_scheduled", "0");
    wait_for_info(client, "aof_rewrite_in_progress", "0");
    ask(client, &format!("CLUSTER MIGRATESLOTS 127.0.0.1 {}", server.port));
    wait_for_info(client, "slot_copy_in_progress", "0");
    assert_eq!(client.info("failed_children"), "0");
    stall(client, "snapshot", 600_000_000);
    ask(client, "BGSAVE");
    let is_writing = || {
        let mut names = fs::read_dir(&server.folder).expect("its folder").flatten();
        names.any(|entry| entry.file_name().to_string_lossy().starts_with("temp-"))
    };
    wait_until("the child writes", is_writing);
    ask(client, "SET key again");
    ask(client, "FLUSHALL");
    assert!(!is_writing(), "the killed child's file is gone");
}

fn save_the_cluster_file(client: &mut Connection, server: &Server) {
    ask(client, "CLUSTER SAVECONFIG");
    let file = server.folder.join("nodes.conf");
    fs::remove_file(&file).expect("the file");
    fs::create_dir(&file).expect("a folder in its place");
    assert!(client.ask("CLUSTER SAVECONFIG").contains("error saving the cluster node config"));
}

fn run_out_of_memory(client: &mut Connection) {
    ask(client, "DEBUG POPULATE 1000 key 1000");
    ask(client, "CONFIG SET maxmemory 1");
    assert!(client.ask("SET one more").starts_with("-OOM"), "nothing is left to evict");
    assert_eq!(ask(client, "DBSIZE"), "0");
    ask(client, &format!("CONFIG SET maxmemory {}", u64::MAX));
    ask(client, "CONFIG SET activedefrag yes");
    wait_until("the emptied table is compacted", || client.info("tables_compacted") != "0");
}

fn all_events_are_among(recorded: &BTreeSet<&str>) {
    let catalog = lttng_catalog::valkey();
    let names = catalog.events().map(|(provider, event)| format!("{}:{}", provider.name, event.name));
    let missing: Vec<_> = names.filter(|name| !recorded.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "not recorded: {missing:?}");
    assert_eq!(catalog.events().count(), 35);
}

fn duration(event: &Event) -> u64 {
    event.field("duration").parse().expect("a number")
}

fn durations_are_plausible(events: &[Event], limit: u64) {
    for event in events {
        assert!(duration(event) <= limit, "the whole test took {limit} µs: {event:?}");
    }
    for (name, least) in [("valkey_aof:aof_fsync_always", SYNC), ("valkey_commands:command_call", SLOW)] {
        let named = events.iter().filter(|event| event.name == name);
        assert!(named.map(duration).max() >= Some(least), "{name} takes time");
    }
}

fn calls(events: &[Event]) -> impl Iterator<Item = &Event> {
    events.iter().filter(|event| event.name == "valkey_commands:command_call")
}

/// Every call and every write is followed by one event that repeats its duration.
fn repeated_values_are_the_same(events: &[Event]) {
    for pair in events.windows(2) {
        let [first, second] = pair else { continue };
        let repeats = match first.name.as_str() {
            "valkey_commands:command_call" => ["valkey_server:command", "valkey_server:fast_command"],
            "valkey_aof:aof_write" => ["valkey_aof:aof_write_", ""],
            _ => continue,
        };
        assert!(repeats.iter().any(|name| second.name.starts_with(name)), "{second:?} after {first:?}");
        assert_eq!(duration(first), duration(second));
    }
}

/// The inner calls come first; the transaction's duration covers them.
fn inner_calls_lie_within_their_transaction(events: &[Event]) {
    let calls: Vec<_> = calls(events).collect();
    let exec = calls.iter().position(|event| event.field("name") == "\"exec\"").expect("an EXEC");
    let names: Vec<_> = calls[exec - 3..exec].iter().map(|event| event.field("name")).collect();
    assert_eq!(names, ["\"set\"", "\"sleep\"", "\"get\""]);
    let inner: u64 = calls[exec - 3..exec].iter().map(|event| duration(event)).sum();
    assert!(inner >= 10_000 && duration(calls[exec]) >= inner);
}

/// The viewer finds all events, too.
fn ltt_top_sees_the_same(trace: &Path) {
    let program = Program::binary("ltt-top", "ltt-top").build();
    let groups =
        Command::new(program).args(["top", "--all", "--by=event", "--format=csv"]).arg(trace).succeed();
    all_events_are_among(&groups.lines().filter_map(|line| line.split(',').next()).collect());
}
