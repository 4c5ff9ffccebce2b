//! What is still there after a crash, a shutdown or a failure.

use std::fs;
use std::io::Write;

use crate::support::{Connection, Server, files_starting, folder, refused};
use lttng_testing::wait_until;
use tempfile::TempDir;

/// Requests that make a key of each type, with expiry times of a key and of a field.
const DATA: &[&str] = &[
    "SET string value",
    "SET expiring value PX 1000000",
    "SET counter 1 PX 1000000",
    "INCR counter",
    "RPUSH list a b",
    "SADD set a b",
    "HSET hash f 1 g 2",
    "HPEXPIRE hash 1000000 FIELDS 1 f",
    "SET gone value",
    "DEL gone",
];

/// Every change is on disk before it is answered.
const ALWAYS: &[&str] = &["--appendonly", "yes", "--appendfsync", "always"];

/// A server with data, its folder, and a client.
fn filled(options: &[&str]) -> (TempDir, Server, Connection) {
    let folder = folder();
    let server = Server::start(folder.path(), options);
    let mut client = server.connect();
    for request in DATA {
        assert!(!client.ask(request).starts_with('-'), "{request}");
    }
    (folder, server, client)
}

/// Consumes the list.
fn check(client: &mut Connection) {
    for (request, reply) in [
        ("DBSIZE", "6"),
        ("GET string", "value"),
        ("GET expiring", "value"),
        ("GET counter", "2"),
        ("LPOP list", "a"),
        ("LPOP list", "b"),
        ("SADD set a b c", "1"),
        ("HLEN hash", "2"),
    ] {
        assert_eq!(client.ask(request), reply, "{request}");
    }
}

#[test]
fn what_was_answered_under_appendfsync_always_survives_kill_9() {
    let (folder, server, _) = filled(ALWAYS);
    server.kill();
    let server = Server::start(folder.path(), ALWAYS);
    check(&mut server.connect());
}

#[test]
fn a_file_cut_in_the_middle_of_a_request_is_cut_back_to_whole_ones() {
    let (folder, server, _) = filled(ALWAYS);
    let file = server.file("appendonly.aof");
    server.kill();
    let whole = fs::metadata(&file).expect("the file").len();
    let half = "*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$1\r\n";
    fs::OpenOptions::new()
        .append(true)
        .open(&file)
        .and_then(|mut file| file.write_all(half.as_bytes()))
        .unwrap();
    let server = Server::start(folder.path(), ALWAYS);
    let mut client = server.connect();
    assert_eq!(fs::metadata(&file).expect("the file").len(), whole);
    check(&mut client);
    client.ask("SET later 1");
    server.kill();
    assert_eq!(Server::start(folder.path(), ALWAYS).connect().ask("GET later"), "1");
}

#[test]
fn a_rewrite_keeps_what_changes_meanwhile() {
    let (folder, server, mut client) = filled(ALWAYS);
    for number in 0..1000 {
        client.ask(&format!("SET gone {number}"));
    }
    client.ask("DEL gone");
    let before = fs::metadata(server.file("appendonly.aof")).expect("the file").len();
    client.ask("SET string other");
    assert_eq!(client.ask("BGREWRITEAOF"), "Background append only file rewriting scheduled");
    wait_until("the rewrite has started", || client.info("aof_rewrite_scheduled") == "0");
    client.ask("SET string value");
    wait_until("the rewrite is done", || client.info("aof_rewrite_in_progress") == "0");
    assert_eq!(client.info("aof_last_bgrewrite_status"), "ok");
    let after = fs::metadata(server.file("appendonly.aof")).expect("the file").len();
    assert!(after < before / 10, "{before} bytes became {after}");
    assert!(files_starting(folder.path(), "temp").is_empty());
    server.kill();
    check(&mut Server::start(folder.path(), ALWAYS).connect());
}

#[test]
fn appending_can_be_turned_on_and_off_while_running() {
    let (folder, server, mut client) = filled(&[]);
    assert_eq!(client.ask("CONFIG SET appendfsync always appendonly yes"), "OK");
    wait_until("the file is written", || client.info("aof_enabled") == "1");
    client.ask("SET later 1");
    client.ask("CONFIG SET appendonly no");
    client.ask("SET lost 1");
    server.kill();
    let server = Server::start(folder.path(), &["--appendonly", "yes"]);
    let mut client = server.connect();
    assert_eq!(client.ask("DEL later"), "1");
    check(&mut client);
}

#[test]
fn snapshots_are_loaded() {
    let (folder, server, mut client) = filled(&[]);
    assert_eq!(client.ask("BGSAVE"), "Background saving started");
    wait_until("the snapshot is written", || client.info("rdb_bgsave_in_progress") == "0");
    assert_eq!(client.info("rdb_last_bgsave_status"), "ok");
    client.ask("SET string lost");
    server.kill();
    check(&mut Server::start(folder.path(), &[]).connect());
}

#[test]
fn a_killed_child_leaves_no_file() {
    let (folder, _server, mut client) = filled(&[]);
    client.ask("DEBUG STALL snapshot 600000000");
    client.ask("BGSAVE");
    wait_until("the child has begun", || !files_starting(folder.path(), "temp-").is_empty());
    assert_eq!(client.ask("BGSAVE"), "-ERR Background save already in progress");
    assert_eq!(client.ask("FLUSHALL"), "OK");
    assert!(files_starting(folder.path(), "temp-").is_empty());
    assert_eq!(client.info("rdb_last_bgsave_status"), "err");
    assert_eq!(client.info("rdb_bgsave_in_progress"), "0");
}

#[test]
fn a_damaged_file_is_refused_and_named() {
    let folder = folder();
    fs::write(folder.path().join("dump.rdb"), "*1\r\n!nonsense\r\n").expect("a file");
    let message = refused(&["--port", "0", "--dir", folder.path().to_str().expect("a text")]);
    assert!(message.contains("dump.rdb cannot be read after byte 0: expected '$', got '!'"), "{message}");
}

#[test]
fn the_cluster_file_is_whole_or_the_former_one() {
    let folder = folder();
    let server = Server::start(folder.path(), &[]);
    let mut client = server.connect();
    assert_eq!(client.ask("CLUSTER ADDSLOTS 0 1 2 100"), "OK");
    assert_eq!(client.ask("CLUSTER ADDSLOTS 101 100"), "-ERR Slot 100 is already busy");
    assert_eq!(client.ask("CLUSTER ADDSLOTS 16384"), "-ERR Invalid or out of range slot");
    server.kill();
    let server = Server::start(folder.path(), &[]);
    let mut client = server.connect();
    assert_eq!(client.ask("CLUSTER ADDSLOTS 101"), "OK");
    assert_eq!(fs::read_to_string(server.file("nodes.conf")).expect("the file"), "0 1 2 100 101\n");
    // A folder in the file's place cannot be replaced by renaming a file.
    fs::remove_file(server.file("nodes.conf")).expect("the file");
    fs::create_dir(server.file("nodes.conf")).expect("a folder");
    assert!(client.ask("CLUSTER SAVECONFIG").starts_with("-ERR error saving the cluster node config"));
    assert_eq!(files_starting(folder.path(), "nodes"), ["nodes.conf"]);
}

#[test]
fn slots_are_copied_to_another_server() {
    let (_folder, _server, mut client) = filled(&[]);
    let target = Server::temporary(&[]);
    client.ask("DEBUG POPULATE 20000");
    assert!(client.ask("CLUSTER MIGRATESLOTS 0 16383 nowhere 1").starts_with("-ERR nowhere:1 is not"));
    client.ask(&format!("CLUSTER MIGRATESLOTS 0 16383 127.0.0.1 {}", target.port));
    wait_until("the copy is done", || client.info("slot_copy_in_progress") == "0");
    assert_eq!(client.info("last_slot_copy_status"), "ok");
    let mut copied = target.connect();
    assert_eq!(copied.ask("GET key:19999"), "value:19999");
    assert_eq!(copied.ask("KEYS key:*").split(' ').count(), 20_000);
    assert_eq!(copied.ask("DBSIZE"), "20006");
    // The slot that Valkey has for this key.
    client.ask("SET foo bar");
    client.ask(&format!("CLUSTER MIGRATESLOTS 12182 12182 127.0.0.1 {}", target.port));
    wait_until("the copy is done", || client.info("slot_copy_in_progress") == "0");
    assert_eq!(copied.ask("GET foo"), "bar");
}
