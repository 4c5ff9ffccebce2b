//! What a client may send, however broken, and what it gets.

mod support;

use lttng_testing::wait_until;
use support::Server;

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::temporary(&[]);
    let mut client = server.connect();
    let mut bytes = String::new();
    for number in 0..10_000 {
        bytes += &format!("*2\r\n$4\r\nECHO\r\n$5\r\n{number:05}\r\n");
    }
    // A client that reads nothing until it has sent everything must not stop the server, nor be stopped by it.
    client.send(&bytes);
    for number in 0..10_000 {
        assert_eq!(client.reply(), format!("{number:05}"));
    }
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = Server::temporary(&[]);
    let (mut slow, mut other) = (server.connect(), server.connect());
    for byte in b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$7\r\nin\r\nbit\r\nGET k\r\n" {
        slow.send([*byte]);
        assert_eq!(other.ask("PING"), "PONG", "others are served meanwhile");
    }
    assert_eq!(slow.reply(), "OK");
    assert_eq!(slow.reply(), "in\r\nbit");
}

#[test]
fn inline_commands_work() {
    let server = Server::temporary(&[]);
    let mut client = server.connect();
    client.send("\r\n  set key  value\nget key\r\n");
    assert_eq!(client.reply(), "OK");
    assert_eq!(client.reply(), "value");
}

#[test]
fn malformed_requests_get_an_error_and_the_server_goes_on() {
    let server = Server::temporary(&["--proto-max-bulk-len", "1mb"]);
    let long_line = "x".repeat(70_000);
    for (request, error) in [
        ("*x\r\n", "invalid multibulk length"),
        ("*99999999\r\n", "invalid multibulk length"),
        ("*9223372036854775808\r\n", "invalid multibulk length"),
        ("*1\r\n+PING\r\n", "expected '$', got '+'"),
        ("*1\r\n$-5\r\n", "invalid bulk length"),
        ("*2\r\n$3\r\nGET\r\n$1048577\r\n", "invalid bulk length"),
        (&long_line, "too big inline request"),
    ] {
        let mut client = server.connect();
        client.try_send(request);
        assert_eq!(client.reply(), format!("-ERR Protocol error: {error}"));
        assert!(client.is_closed());
        assert_eq!(server.connect().ask("PING"), "PONG");
    }
}

#[test]
fn a_client_gone_in_the_middle_of_a_request_hurts_nobody() {
    let server = Server::temporary(&[]);
    let mut client = server.connect();
    client.send("*2\r\n$3\r\nGET\r\n$100\r\nhalf");
    client.finish_sending();
    assert!(client.is_closed());
    drop(client);
    let mut other = server.connect();
    wait_until("only one client is left", || other.info("connected_clients") == "1");
}

#[test]
fn wrong_commands_are_refused_by_name() {
    let server = Server::temporary(&[]);
    let mut client = server.connect();
    assert_eq!(client.ask("NONSENSE a"), "-ERR unknown command 'NONSENSE'");
    assert_eq!(client.ask("CONFIG NONSENSE"), "-ERR unknown subcommand 'NONSENSE'. Try config HELP.");
    assert_eq!(client.ask("GET"), "-ERR wrong number of arguments for 'get' command");
    assert_eq!(client.ask("CLIENT"), "-ERR wrong number of arguments for 'client' command");
    assert_eq!(client.ask("HELLO 3"), "-NOPROTO unsupported protocol version");
    assert_eq!(client.ask("SELECT 1"), "-ERR DB index is out of range");
    client.ask("SET text abc");
    assert_eq!(client.ask("INCR text"), "-ERR value is not an integer or out of range");
    assert!(client.ask("LPUSH text a").starts_with("-WRONGTYPE"));
    assert_eq!(client.ask("GET text"), "abc");
    assert_eq!(client.ask("QUIT"), "OK");
    assert!(client.is_closed());
}

#[test]
fn every_type_does_its_work() {
    let server = Server::temporary(&[]);
    let mut client = server.connect();
    for (request, reply) in [
        ("SET s 1", "OK"),
        ("SET s 2 NX", "(nil)"),
        ("SET s 2 XX GET", "1"),
        ("SETNX s 3", "0"),
        ("SETEX e 100 v", "OK"),
        ("INCRBY s 40", "42"),
        ("APPEND s x", "3"),
        ("MSET a 1 b 2", "OK"),
        ("MGET a nothing b", "1 (nil) 2"),
        ("RPUSH l a b c", "3"),
        ("LPUSH l z", "4"),
        ("LRANGE l 0 -1", "z a b c"),
        ("LRANGE l -2 100", "b c"),
        ("LPOP l", "z"),
        ("RPOP l 2", "c b"),
        ("LPOP l 1", "a"),
        ("EXISTS l", "0"),
        ("HSET h f 1 g 2", "2"),
        ("HMSET h f 1", "OK"),
        ("HGET h f", "1"),
        ("HGETALL h", "f 1 g 2"),
        ("HDEL h f nothing", "1"),
        ("SADD m a b a", "2"),
        ("SISMEMBER m b", "1"),
        ("SREM m a", "1"),
        ("SMEMBERS m", "b"),
        ("ZADD z 2 b 1 a 3 c", "3"),
        ("ZADD z XX CH 0 c", "1"),
        ("ZRANGE z 0 -1 WITHSCORES", "c 0 a 1 b 2"),
        ("ZRANGE z 0 0 REV", "b"),
        ("ZSCORE z a", "1"),
        ("ZREM z a b c", "3"),
        ("TYPE z", "none"),
        ("TYPE h", "hash"),
        ("DEL s a b e nothing", "4"),
        ("UNLINK h m", "2"),
        ("DBSIZE", "0"),
    ] {
        assert_eq!(client.ask(request), reply, "{request}");
    }
}

#[test]
fn scan_meets_every_key_that_stays_while_others_go() {
    let server = Server::temporary(&[]);
    let mut client = server.connect();
    client.ask("DEBUG POPULATE 1000 stays");
    client.ask("DEBUG POPULATE 1000 goes");
    let mut seen = std::collections::BTreeSet::new();
    let (mut cursor, mut step) = ("0".to_owned(), 0);
    loop {
        let reply = client.ask(&format!("SCAN {cursor} MATCH stays:* COUNT 50"));
        let mut words = reply.split(' ').map(String::from);
        cursor = words.next().expect("a cursor");
        seen.extend(words.filter(|word| !word.is_empty()));
        if cursor == "0" {
            break;
        }
        for number in 0..25 {
            client.ask(&format!("DEL goes:{}", (step * 7919 + number * 31) % 1000));
        }
        step += 1;
    }
    assert_eq!(seen.len(), 1000);
    assert_eq!(client.ask("KEYS stays:99?").split(' ').count(), 10);
}

#[test]
fn a_transaction_is_all_or_nothing() {
    let server = Server::temporary(&[]);
    let (mut client, mut other) = (server.connect(), server.connect());
    for (request, reply) in [
        ("MULTI", "OK"),
        ("SET k 1", "QUEUED"),
        ("LPUSH k wrong", "QUEUED"),
        ("BLPOP nothing 0", "QUEUED"),
        ("INCR k", "QUEUED"),
        ("EXEC", "OK -WRONGTYPE Operation against a key holding the wrong kind of value (nil) 2"),
        ("EXEC", "-ERR EXEC without MULTI"),
        ("MULTI", "OK"),
        ("NONSENSE", "-ERR unknown command 'NONSENSE'"),
        ("SET k 3", "QUEUED"),
        ("EXEC", "-EXECABORT Transaction discarded because of previous errors."),
        ("MULTI", "OK"),
        ("MULTI", "-ERR MULTI calls can not be nested"),
        ("SET k 4", "QUEUED"),
        ("DISCARD", "OK"),
        ("GET k", "2"),
        ("WATCH k missing", "OK"),
    ] {
        assert_eq!(client.ask(request), reply, "{request}");
    }
    other.ask("INCR k");
    assert_eq!(client.ask("MULTI"), "OK");
    assert_eq!(client.ask("SET k 5"), "QUEUED");
    assert_eq!(client.ask("EXEC"), "(nil)");
    assert_eq!(client.ask("GET k"), "3");
}

#[test]
fn who_waits_for_a_list_gets_it_in_turn() {
    let server = Server::temporary(&[]);
    let (mut first, mut second, mut other) = (server.connect(), server.connect(), server.connect());
    first.request("BLPOP empty list 0");
    wait_until("the first waits", || other.info("blocked_clients") == "1");
    second.request("BRPOP list 0");
    // What a waiting client sends further is executed when it has got its element.
    second.request("PING");
    wait_until("the second waits", || other.info("blocked_clients") == "2");
    assert_eq!(other.ask("RPUSH list a b c"), "3");
    assert_eq!(first.reply(), "list a");
    assert_eq!(second.reply(), "list c");
    assert_eq!(second.reply(), "PONG");
    assert_eq!(other.ask("LRANGE list 0 -1"), "b");
    assert_eq!(other.info("blocked_clients"), "0");
}

#[test]
fn waiting_ends_by_timeout_by_unblock_and_with_the_connection() {
    let server = Server::temporary(&[]);
    let (mut client, mut other) = (server.connect(), server.connect());
    assert_eq!(client.ask("BLPOP nothing 0.01"), "(nil)");
    assert_eq!(client.ask("BLPOP nothing -1"), "-ERR timeout is negative");
    let id = client.ask("CLIENT ID");
    assert_eq!(other.ask(&format!("CLIENT UNBLOCK {id}")), "0");
    client.request("BLPOP nothing 0");
    wait_until("it waits", || other.info("blocked_clients") == "1");
    assert_eq!(other.ask(&format!("CLIENT UNBLOCK {id} ERROR")), "1");
    assert_eq!(client.reply(), "-UNBLOCKED client unblocked via CLIENT UNBLOCK");
    client.request("BLPOP nothing 0");
    wait_until("it waits", || other.info("blocked_clients") == "1");
    drop(client);
    wait_until("nobody waits", || other.info("blocked_clients") == "0");
}

#[test]
fn keys_and_fields_expire_asked_for_or_not() {
    let server = Server::temporary(&["--hz", "100"]);
    let mut client = server.connect();
    client.ask("SET kept 1 EX 1000");
    assert_eq!(client.ask("TTL kept"), "1000");
    assert_eq!(client.ask("PERSIST kept"), "1");
    assert_eq!(client.ask("TTL kept"), "-1");
    assert_eq!(client.ask("TTL missing"), "-2");
    client.ask("SET gone 1 PX 1");
    client.ask("HSET hash kept 1 gone 2");
    assert_eq!(client.ask("HPEXPIRE hash 1 FIELDS 2 gone missing"), "1 -2");
    client.ask("HSET empty field 1");
    assert_eq!(client.ask("HEXPIRE empty 0 FIELDS 1 field"), "2");
    assert_eq!(client.ask("EXISTS empty"), "0");
    wait_until("the cycle has deleted the key", || client.ask("DBSIZE") == "2");
    wait_until("the cycle has deleted the field", || client.ask("HGETALL hash") == "kept 1");
    client.ask("DEBUG SET-ACTIVE-EXPIRE 0");
    client.ask("SET gone 1 PX 1");
    wait_until("reading it finds it expired", || client.ask("GET gone") == "(nil)");
}

#[test]
fn memory_over_the_limit_is_made_room_for_or_refused() {
    let server = Server::temporary(&[]);
    let mut client = server.connect();
    client.ask("DEBUG POPULATE 1000 key 1000");
    let used: u64 = client.info("used_memory").parse().expect("a number");
    client.ask(&format!("CONFIG SET maxmemory {}", used - 300_000));
    assert!(client.ask("SET another 1").starts_with("-OOM"));
    assert_eq!(client.ask("DBSIZE"), "1000");
    client.ask("CONFIG SET maxmemory-policy allkeys-lru");
    client.ask("CONFIG SET maxmemory-eviction-tenacity 100");
    assert_eq!(client.ask("SET another 1"), "OK");
    let keys: u64 = client.ask("DBSIZE").parse().expect("a number");
    assert!((500..900).contains(&keys), "{keys} keys are left");
    client.ask("CONFIG SET maxmemory 1");
    assert!(client.ask("SET another 1").starts_with("-OOM"), "with nothing left to evict");
    assert_eq!(client.ask("DBSIZE"), "0");
}
