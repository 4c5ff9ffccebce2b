//! Stalls that no stock server lets a client provoke, one after the other in one recording: `ltt-top incidents` tells each
//! once, with its cause.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use lttng_testing::{CommandInTime as _, Connection, Daemon, Program, wait_until};
use serde_json::Value;

use crate::{Server, ask, stall};

/// How long a point stalls: much longer than a busy machine takes for a turn.
const STALL_US: u64 = 200_000;

/// What is made to stall, the requests that lead there, and the intervals that are told, the last of which is the cause.
const STALLS: &[(&str, &[&str], &[&str])] = &[
    ("fork", &["BGREWRITEAOF"], &["eventloop", "fork"]),
    ("fork", &["BGSAVE"], &["eventloop", "bgsave", "fork"]),
    ("aof-fsync", &["SET a 1"], &["eventloop", "aof_flush", "aof_fsync_always"]),
    ("aof-write", &["SET a 1"], &["eventloop", "aof_flush", "aof_write"]),
    ("expire", &["SET b 1 PX 1"], &["eventloop", "expire_cycle", "expire_cycle_keys", "expire_del"]),
    ("defrag", &[], &["eventloop", "active_defrag_cycle"]),
    ("cluster-fsync", &["CLUSTER SAVECONFIG"], &["eventloop", "saveconfig", "cluster_config_fsync"]),
    ("sampler", &[], &["module_acquire_gil"]),
    ("read", &[], &["eventloop"]),
    ("evict", &["CONFIG SET maxmemory 1", "SET c 1"], &["eventloop", "eviction_cycle", "eviction_del"]),
    (
        "lazy-free",
        &[
            "CONFIG SET maxmemory 99999999999",
            "DEBUG POPULATE 1 large 1000000",
            "CONFIG SET maxmemory 1",
            "SET c 1",
        ],
        &["eventloop", "eviction_cycle", "eviction_lazyfree"],
    ),
];

/// Nanoseconds since 1970.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970").as_nanos() as i64
}

#[test]
fn each_stall_is_told_once_with_its_cause() {
    let daemon = Daemon::start();
    let session = daemon.recording_with(&["valkey_*"], &[], &["vpid", "vtid", "procname"]);
    let options =
        ["--appendonly", "yes", "--appendfsync", "always", "--activedefrag", "yes", "--sampler", "yes"];
    let server = Server::start(&daemon, &options);
    let mut client = server.connect();
    let provoke = |(point, requests, _): &(&str, &[&str], &[&str])| provoke(&mut client, point, requests);
    let times: Vec<_> = STALLS.iter().map(provoke).collect();
    let trace = session.stop();
    let mut command = Command::new(Program::binary("ltt-top", "ltt-top").build());
    command.args(["incidents", "--format=json", "--limit=0", "--longer-than=100ms"]);
    let said: Value = serde_json::from_str(&command.arg(trace.folder()).succeed()).expect("JSON");
    assert_eq!(said["trace"]["discarded_events"], 0);
    let mut incidents = said["incidents"].as_array().expect("a list").clone();
    incidents.sort_by_key(time);
    for pair in incidents.windows(2) {
        assert!(time(&pair[0]).1 <= time(&pair[1]).0, "told twice: {pair:#?}");
    }
    for ((point, _, chain), (begin, end)) in STALLS.iter().zip(times) {
        // On a busy machine there may be others at that time.
        let at_that_time = |incident: &&Value| time(incident).0 < end && begin < time(incident).1;
        let is_told = incidents.iter().filter(at_that_time).any(|incident| is_caused_by(incident, chain));
        assert!(is_told, "{point}, {chain:?} between {begin} and {end}: {incidents:#?}");
    }
}

/// When an incident began and ended.
fn time(incident: &Value) -> (i64, i64) {
    let time = |name: &str| incident[name].as_i64().expect("a time");
    (time("begin_ns"), time("end_ns"))
}

/// Whether the last of a chain is the cause, or the command that waited for it; what only a turn covers is unexplained.
fn is_caused_by(incident: &Value, chain: &[&str]) -> bool {
    let (links, cause) = (incident["chain"].as_array().expect("a list"), &incident["cause"]);
    let is_long = |us: &Value| us.as_f64() > Some(STALL_US as f64 / 2.0);
    let is_named = chain.last() == Some(&label(cause)) || !cause["client"].is_null();
    let is_explained = is_named && is_long(&cause["duration_us"]) && incident["advice"].is_string();
    links.iter().map(label).take(chain.len()).eq(chain.iter().copied())
        && (is_explained || chain == ["eventloop"] && is_long(&incident["unexplained_us"]))
}

/// Has a point stall, does what leads there, and waits for it; returns the time in which it happened.
fn provoke(client: &mut Connection, point: &str, requests: &[&str]) -> (i64, i64) {
    wait_until("no child runs", || {
        ["rdb_bgsave_in_progress", "aof_rewrite_in_progress"].iter().all(|name| client.info(name) == "0")
    });
    stall(client, point, STALL_US);
    let begin = now();
    // What does not fit into memory is refused, after the wait.
    requests.iter().for_each(|request| drop(client.ask(request)));
    wait_until("it has stalled", || ask(client, &format!("DEBUG STALL {point}")) == "0");
    (begin, now())
}

/// An event without its provider, or a command.
fn label(link: &Value) -> &str {
    let event = link["event"].as_str().unwrap_or_default();
    link["key"]["name"].as_str().unwrap_or(event.rsplit(':').next().unwrap_or(event))
}
