//! All 35 events, each provoked by the thing itself: redis-cli drives the server, a stock lttng records it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::support::{Server, files_starting};
use lttng_testing::{CommandInTime as _, Daemon, Event, Program, must_end, wait_until};

/// How long the slow command sleeps, in seconds and in microseconds.
const SLOW: (&str, u64) = ("0.3", 300_000);

/// How long a sync takes at least, in microseconds: that of a file in memory may take none.
const SYNC: u64 = 2000;

/// A real client.
struct RedisCli {
    port: u16,
    socket: PathBuf,
}

impl RedisCli {
    fn ask(&self, request: &str) -> String {
        let reply = self.try_ask(request);
        assert!(!reply.starts_with("ERR"), "{request}: {reply}");
        reply
    }

    fn try_ask(&self, request: &str) -> String {
        run(request, &["-p", &self.port.to_string()], request.split(' '), "")
    }

    fn ask_over_unix_socket(&self, request: &str) -> String {
        run(request, &["-s", &self.socket.display().to_string()], request.split(' '), "")
    }

    fn ask_on_one_connection(&self, requests: &str) {
        run("several requests", &["-p", &self.port.to_string()], [].into_iter(), requests);
    }

    fn has_info(&self, line: &str) -> bool {
        self.ask("INFO").lines().any(|found| found.trim_end() == line)
    }

    fn wait_for_info(&self, line: &str) {
        wait_until(&format!("INFO says {line}"), || self.has_info(line));
    }
}

/// Runs redis-cli, which must come to an end and succeed.
fn run<'w>(what: &str, server: &[&str], words: impl Iterator<Item = &'w str>, input: &str) -> String {
    let mut command = Command::new("redis-cli");
    command.args(server).args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap_or_else(|error| match error.kind() {
        ErrorKind::NotFound => panic!("redis-cli is not installed: run `make setup`"),
        _ => panic!("cannot run redis-cli: {error}"),
    });
    process.stdin.take().expect("piped").write_all(input.as_bytes()).expect("redis-cli reads");
    let output = must_end(what, move || process.wait_with_output().expect("our child"));
    assert!(output.status.success(), "{what}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[test]
fn every_event_is_recorded_when_its_thing_happens() {
    let program = Program::binary("valkey-lite", "valkey-lite").traced().build();
    let daemon = Daemon::start();
    let folder = daemon.folder().join("data");
    fs::create_dir(&folder).expect("a folder for the data");
    let session = daemon.recording(&["valkey_*"]);
    let started = Instant::now();

    fs::write(folder.join("appendonly.aof"), "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n").expect("a file");
    let socket = folder.join("socket");
    let socket_name = socket.display().to_string();
    let options = ["--sampler", "yes", "--appendonly", "yes", "--hz", "500", "--unixsocket", &socket_name];
    let server = Server::start_as(daemon.command(program), &folder, &options);
    let cli = RedisCli { port: server.port, socket };
    append_to_the_file(&cli);
    expire_and_wait(&cli);
    fork_children(&cli, &server);
    save_the_cluster_file(&cli, &server);
    run_out_of_memory(&cli);
    write_while_the_disk_is_slow(&cli);
    cli.ask_over_unix_socket(&format!("DEBUG SLEEP {}", SLOW.0));
    cli.try_ask("SHUTDOWN");
    assert!(server.wait().success());

    let microseconds = started.elapsed().as_micros() as u64;
    let trace = session.stop();
    let events = trace.events();
    let recorded = events.iter().map(|event| event.name.as_str()).collect();
    all_events_are_among(&recorded);
    durations_are_plausible(&events, microseconds);
    repeated_values_are_the_same(&events);
    calls_say_who_called(&events, &socket_name);
    inner_calls_lie_within_their_transaction(&events);
    ltt_top_sees_the_same(trace.folder(), &events);
}

fn append_to_the_file(cli: &RedisCli) {
    cli.ask("CONFIG SET appendfsync always");
    cli.ask(&format!("DEBUG STALL aof-fsync {SYNC}"));
    cli.ask("SET key value");
    assert_eq!(cli.ask_over_unix_socket("GET key"), "value");
    cli.ask_on_one_connection("MULTI\nSET key 1\nDEBUG SLEEP 0.01\nINCR key\nEXEC\n");
}

fn write_while_the_disk_is_slow(cli: &RedisCli) {
    cli.ask("DEBUG STALL background-fsync 10000000");
    cli.ask("CONFIG SET appendfsync everysec");
    cli.ask("SET key before");
    cli.wait_for_info("aof_pending_bio_fsync:1");
    cli.ask("SET key meanwhile");
}

fn expire_and_wait(cli: &RedisCli) {
    cli.ask("SET gone value PX 1");
    cli.ask("HSET hash kept 1 gone 2");
    cli.ask("HPEXPIRE hash 1 FIELDS 1 gone");
    cli.wait_for_info("expired_keys:1");
    wait_until("the field has expired", || cli.ask("HLEN hash") == "1");
    cli.ask("BLPOP nothing 0.01");
}

fn fork_children(cli: &RedisCli, server: &Server) {
    cli.ask("DEBUG POPULATE 100000");
    cli.ask("BGREWRITEAOF");
    cli.wait_for_info("aof_rewrite_scheduled:0");
    cli.wait_for_info("aof_rewrite_in_progress:0");
    assert!(cli.has_info("aof_last_bgrewrite_status:ok"));
    cli.ask(&format!("CLUSTER MIGRATESLOTS 0 99 127.0.0.1 {}", cli.port));
    cli.wait_for_info("slot_copy_in_progress:0");
    cli.ask("DEBUG STALL snapshot 600000000");
    cli.ask("BGSAVE");
    let folder = server.file("");
    wait_until("the child writes", || !files_starting(&folder, "temp-").is_empty());
    cli.ask("SET key again");
    cli.ask("FLUSHALL");
    assert!(files_starting(&folder, "temp-").is_empty(), "the killed child's file is gone");
}

fn save_the_cluster_file(cli: &RedisCli, server: &Server) {
    cli.ask("CLUSTER ADDSLOTS 1 2 3");
    fs::remove_file(server.file("nodes.conf")).expect("the file");
    fs::create_dir(server.file("nodes.conf")).expect("a folder in its place");
    assert!(cli.try_ask("CLUSTER SAVECONFIG").contains("error saving the cluster node config"));
}

fn run_out_of_memory(cli: &RedisCli) {
    cli.ask("DEBUG POPULATE 1000 key 1000");
    cli.ask("CONFIG SET maxmemory-policy allkeys-lru");
    cli.ask("CONFIG SET maxmemory 1");
    // One request evicts for a while at most, and is then let through.
    wait_until("nothing is left to evict", || cli.ask("SET one more").starts_with("OOM"));
    assert_eq!(cli.ask("DBSIZE"), "0");
    cli.ask("CONFIG SET maxmemory 0");
    cli.ask("CONFIG SET activedefrag yes");
    wait_until("the emptied tables are compacted", || !cli.has_info("tables_compacted:0"));
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
    let mut sleeps = calls(events).filter(|event| event.field("name") == "\"sleep\"");
    assert!(sleeps.any(|sleep| duration(sleep) >= SLOW.1), "{SLOW:?}");
    for (name, least) in
        [("valkey_rdb:fork", 1), ("valkey_aof:fork", 1), ("valkey_aof:aof_fsync_always", SYNC)]
    {
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
        let repeats: &[&str] = match first.name.as_str() {
            "valkey_commands:command_call" => &["valkey_server:command", "valkey_server:fast_command"],
            "valkey_aof:aof_write" => &[
                "valkey_aof:aof_write_alone",
                "valkey_aof:aof_write_active_child",
                "valkey_aof:aof_write_pending_fsync",
            ],
            _ => continue,
        };
        assert!(repeats.contains(&second.name.as_str()), "{second:?} after {first:?}");
        assert_eq!(duration(first), duration(second));
    }
}

fn calls_say_who_called(events: &[Event], socket: &str) {
    let replayed = calls(events).next().expect("a call");
    assert_eq!(replayed.field("enum_field"), "( <unknown> : container = -1 )");
    assert_eq!((replayed.field("addr"), replayed.field("laddr")), ("\"\"", "\"\""));
    let get = calls(events).find(|event| event.field("name") == "\"get\"").expect("a GET");
    assert_eq!(get.field("enum_field"), "( \"UNIX\" : container = 1 )");
    assert_eq!(get.field("addr"), format!("\"{socket}:0\""));
    let set = calls(events).skip(1).find(|event| event.field("name") == "\"set\"").expect("a SET");
    assert_eq!(set.field("enum_field"), "( \"SOCKET\" : container = 0 )");
    assert!(set.field("addr").starts_with("\"127.0.0.1:"), "{set:?}");
    assert_ne!(set.field("addr"), set.field("laddr"));
}

/// The inner calls come first; the transaction's duration covers them.
fn inner_calls_lie_within_their_transaction(events: &[Event]) {
    let calls: Vec<_> = calls(events).collect();
    let exec = calls.iter().position(|event| event.field("name") == "\"exec\"").expect("an EXEC");
    let names: Vec<_> = calls[exec - 3..exec].iter().map(|event| event.field("name")).collect();
    assert_eq!(names, ["\"set\"", "\"sleep\"", "\"incr\""]);
    let inner: u64 = calls[exec - 3..exec].iter().map(|event| duration(event)).sum();
    assert!(inner >= 10_000 && duration(calls[exec]) >= inner);
}

/// The viewer finds all events too, and first among the slow ones is the slowest.
fn ltt_top_sees_the_same(trace: &Path, events: &[Event]) {
    let program = Program::binary("ltt-top", "ltt-top").build();
    let ltt_top = |arguments: &[&str]| Command::new(&program).args(arguments).arg(trace).succeed();
    let groups = ltt_top(&["top", "--all", "--by=event", "--format=csv"]);
    all_events_are_among(&groups.lines().filter_map(|line| line.split(',').next()).collect());
    let slow = ltt_top(&["slow", "--event=command_call"]);
    let first = slow.lines().skip_while(|line| !line.starts_with("DURATION")).nth(1).expect("a line");
    let slowest = calls(events).max_by_key(|event| duration(event)).expect("calls");
    let [name, client] = ["name", "addr"].map(|field| slowest.field(field).trim_matches('"'));
    let is_slowest =
        first.contains(&format!("command_call {name} ")) && first.contains(&format!(" {client} "));
    assert!(is_slowest, "{slowest:?} is not first: {slow}");
}
