//! What is still there after a crash, a shutdown or a failure.

mod support;

use std::fs;
use std::io::Write;

use lttng_testing::wait_until;
use support::{Connection, Server, files_starting, folder};

/// Requests that make one key of each type, with expiry times of a key and of a field.
const DATA: &[&str] = &[
    "SET string value",
    "SET expiring value EX 1000",
    "SET changed value EX 1000",
    "APPEND changed +",
    "RPUSH list a b c",
    "SADD set a b",
    "ZADD zset 1.5 a -inf b",
    "HSET hash f 1 g 2",
    "HEXPIRE hash 1000 FIELDS 1 f",
    "SET gone value",
    "DEL gone",
];

fn fill(client: &mut Connection) {
    for request in DATA {
        assert!(!client.ask(request).starts_with('-'), "{request}");
    }
}

fn check(client: &mut Connection) {
    assert_eq!(client.ask("DBSIZE"), "7");
    assert_eq!(client.ask("MGET string expiring changed"), "value value value+");
    for key in ["expiring", "changed"] {
        let left: u64 = client.ask(&format!("TTL {key}")).parse().expect("a time to live");
        assert!((900..=1000).contains(&left), "{key} has {left} s left");
    }
    assert_eq!(client.ask("LRANGE list 0 -1"), "a b c");
    assert_eq!(client.ask("ZRANGE zset 0 -1 WITHSCORES"), "b -inf a 1.5");
    assert_eq!(client.ask("SISMEMBER set b"), "1");
    assert_eq!(client.ask("HGETALL hash"), "f 1 g 2");
    let left = client.ask("HTTL hash FIELDS 2 f g");
    assert!(left.ends_with(" -1") && left != "-1 -1", "{left}");
}

#[test]
fn what_was_answered_under_appendfsync_always_survives_kill_9() {
    let folder = folder();
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let server = Server::start(folder.path(), &options);
    let mut client = server.connect();
    fill(&mut client);
    client.ask("MULTI");
    client.ask("SET gone 1");
    client.ask("DEL gone");
    client.ask("EXEC");
    server.kill();
    let server = Server::start(folder.path(), &options);
    check(&mut server.connect());
}

#[test]
fn a_file_cut_in_the_middle_of_a_request_is_cut_back_to_whole_ones() {
    let folder = folder();
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let server = Server::start(folder.path(), &options);
    fill(&mut server.connect());
    let file = server.file("appendonly.aof");
    server.kill();
    let whole = fs::metadata(&file).expect("the file").len();
    let half = "*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$1\r\n1\r\n*3\r\n$3\r\nSE";
    fs::OpenOptions::new()
        .append(true)
        .open(&file)
        .and_then(|mut file| file.write_all(half.as_bytes()))
        .unwrap();
    let server = Server::start(folder.path(), &options);
    let mut client = server.connect();
    check(&mut client);
    assert_eq!(fs::metadata(&file).expect("the file").len(), whole);
    client.ask("SET later 1");
    server.kill();
    assert_eq!(Server::start(folder.path(), &options).connect().ask("GET later"), "1");
}

#[test]
fn a_rewrite_keeps_what_changes_meanwhile() {
    let folder = folder();
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let server = Server::start(folder.path(), &options);
    let mut client = server.connect();
    fill(&mut client);
    for number in 0..1000 {
        client.ask(&format!("SET counter {number}"));
    }
    client.ask("DEL counter");
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
    check(&mut Server::start(folder.path(), &options).connect());
}

#[test]
fn appending_can_be_turned_on_and_off_while_running() {
    let folder = folder();
    let server = Server::start(folder.path(), &[]);
    let mut client = server.connect();
    fill(&mut client);
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
    let folder = folder();
    let server = Server::start(folder.path(), &[]);
    let mut client = server.connect();
    fill(&mut client);
    assert_eq!(client.ask("BGSAVE"), "Background saving started");
    wait_until("the snapshot is written", || client.info("rdb_bgsave_in_progress") == "0");
    assert_eq!(client.info("rdb_last_bgsave_status"), "ok");
    client.ask("SET string lost");
    server.kill();
    let server = Server::start(folder.path(), &[]);
    let mut client = server.connect();
    check(&mut client);
    client.ask("SET string saved");
    client.request("SHUTDOWN SAVE");
    assert!(server.wait().success());
    assert_eq!(Server::start(folder.path(), &[]).connect().ask("GET string"), "saved");
}

#[test]
fn a_killed_child_leaves_no_file() {
    let folder = folder();
    let server = Server::start(folder.path(), &["--rdb-key-save-delay", "1000000"]);
    let mut client = server.connect();
    fill(&mut client);
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
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_valkey-lite"))
        .args(["--port", "0", "--dir"])
        .arg(folder.path())
        .output()
        .expect("valkey-lite runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("dump.rdb cannot be read after byte 0: expected '$', got '!'"), "{message}");
}

#[test]
fn the_cluster_file_is_whole_or_the_former_one() {
    let folder = folder();
    let server = Server::start(folder.path(), &[]);
    let mut client = server.connect();
    assert_eq!(client.ask("CLUSTER ADDSLOTSRANGE 0 99 200 16383"), "OK");
    assert_eq!(client.ask("CLUSTER ADDSLOTS 100"), "OK");
    assert_eq!(client.ask("CLUSTER ADDSLOTS 101 100"), "-ERR Slot 100 is already busy");
    let id = client.ask("CLUSTER MYID");
    server.kill();
    let server = Server::start(folder.path(), &[]);
    let mut client = server.connect();
    assert_eq!(client.ask("CLUSTER MYID"), id);
    assert!(client.ask("CLUSTER NODES").trim_end().ends_with("connected 0-100 200-16383"));
    // A folder in the file's place cannot be replaced by renaming a file.
    fs::remove_file(server.file("nodes.conf")).expect("the file");
    fs::create_dir(server.file("nodes.conf")).expect("a folder");
    assert!(client.ask("CLUSTER SAVECONFIG").starts_with("-ERR error saving the cluster node config"));
    assert_eq!(files_starting(folder.path(), "nodes"), ["nodes.conf"]);
}

#[test]
fn slots_are_copied_to_another_server() {
    let (folder, other_folder) = (folder(), folder());
    let server = Server::start(folder.path(), &[]);
    let target = Server::start(other_folder.path(), &[]);
    let mut client = server.connect();
    fill(&mut client);
    client.ask("DEBUG POPULATE 20000");
    assert!(client.ask("CLUSTER MIGRATESLOTS 0 16383 nowhere 1").starts_with("-ERR nowhere:1 is not"));
    client.ask(&format!("CLUSTER MIGRATESLOTS 0 16383 127.0.0.1 {}", target.port));
    wait_until("the copy is done", || client.info("slot_copy_in_progress") == "0");
    assert!(client.ask("CLUSTER INFO").contains("cluster_last_slot_copy_status:ok"));
    let mut copied = target.connect();
    assert_eq!(copied.ask("DBSIZE"), "20007");
    assert_eq!(copied.ask("LRANGE list 0 -1"), "a b c");
    assert_eq!(copied.ask("GET key:19999"), "value:19999");
}
