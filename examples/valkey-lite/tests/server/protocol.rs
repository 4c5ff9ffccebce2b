//! What clients may send, however broken, and what they get.

use crate::support::{Server, refused};
use lttng_testing::wait_until;

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::temporary(&[]);
    let mut client = server.connect();
    let mut bytes = String::new();
    for number in 0..10_000 {
        bytes += &format!("*2\r\n$4\r\nPING\r\n$5\r\n{number:05}\r\n");
    }
    // A client that reads nothing until it has sent everything must not stop the server, nor be stopped by it.
    client.send(&bytes);
    for number in 0..10_000 {
        assert_eq!(client.reply(), format!("{number:05}"));
    }
}

#[test]
fn request_may_come_byte_by_byte() {
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
fn malformed_requests_get_an_error_and_the_server_goes_on() {
    let server = Server::temporary(&[]);
    let long_line = "x".repeat(70_000);
    for (request, error) in [
        ("*x\r\n", "invalid multibulk length"),
        ("*1048577\r\n", "invalid multibulk length"),
        ("*1\r\n+PING\r\n", "expected '$', got '+'"),
        ("*1\r\n$-5\r\n", "invalid bulk length"),
        ("*2\r\n$3\r\nGET\r\n$536870913\r\n", "invalid bulk length"),
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
fn client_gone_in_the_middle_of_a_request_hurts_nobody() {
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
    for (request, reply) in [
        ("NONSENSE a", "-ERR unknown command 'NONSENSE'"),
        ("CONFIG NONSENSE", "-ERR unknown subcommand 'NONSENSE' of 'config'"),
        ("GET", "-ERR wrong number of arguments for 'get' command"),
        ("SET text abc", "OK"),
        ("INCR text", "-ERR value is not an integer or out of range"),
        ("SET zeros 007", "OK"),
        ("INCR zeros", "-ERR value is not an integer or out of range"),
        ("SET most 9223372036854775807", "OK"),
        ("INCR most", "-ERR increment or decrement would overflow"),
        ("LPUSH text a", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("SET text abc NX", "-ERR syntax error"),
        ("GET text", "abc"),
        (
            "CONFIG SET hz often",
            "-ERR CONFIG SET failed (possibly related to argument 'hz') - argument couldn't be parsed",
        ),
        ("CONFIG GET hz", "hz 10"),
        (
            "CONFIG SET port 1",
            "-ERR CONFIG SET failed (possibly related to argument 'port') - can't set immutable config",
        ),
        ("CONFIG SET maxmemory-policy allkeys-lru", "OK"),
        ("CONFIG GET maxmemory-policy", "maxmemory-policy allkeys-lru"),
        ("CONFIG SET appendfsync no", "OK"),
        ("CONFIG GET appendfsync", "appendfsync no"),
    ] {
        assert_eq!(client.ask(request), reply, "{request}");
    }
}

#[test]
fn wrong_options_say_what_is_wrong() {
    assert!(
        refused(&["--prot", "1"]).starts_with("valkey-lite: unknown option --prot; the options are --port ")
    );
    assert_eq!(refused(&["--port"]), "valkey-lite: --port needs a value\n");
    assert_eq!(refused(&["--hz", "often"]), "valkey-lite: --hz cannot be 'often'\n");
}

#[test]
fn transaction_is_executed_as_a_whole_or_refused() {
    let server = Server::temporary(&[]);
    let mut client = server.connect();
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
        ("GET k", "2"),
    ] {
        assert_eq!(client.ask(request), reply, "{request}");
    }
}

#[test]
fn clients_that_wait_for_a_list_are_served_in_turn_or_time_out() {
    let server = Server::temporary(&[]);
    let (mut first, mut second, mut other) = (server.connect(), server.connect(), server.connect());
    assert_eq!(other.ask("BLPOP list 0.01"), "(nil)");
    assert_eq!(other.ask("BLPOP list -1"), "-ERR timeout is negative");
    first.request("BLPOP list 0");
    wait_until("the first waits", || other.info("blocked_clients") == "1");
    second.request("BLPOP list 0");
    // Further requests of a waiting client are executed when it has its element.
    second.request("PING");
    wait_until("the second waits", || other.info("blocked_clients") == "2");
    assert_eq!(other.ask("RPUSH list a b c"), "3");
    assert_eq!(first.reply(), "list a");
    assert_eq!(second.reply(), "list b");
    assert_eq!(second.reply(), "PONG");
    assert_eq!(other.ask("LPOP list"), "c");
    first.request("BLPOP list 0");
    wait_until("the first waits again", || other.info("blocked_clients") == "1");
    drop(first);
    wait_until("nobody waits", || other.info("blocked_clients") == "0");
}

#[test]
fn keys_and_fields_expire_whether_asked_for_or_not() {
    let server = Server::temporary(&["--hz", "100"]);
    let mut client = server.connect();
    client.ask("SET gone 1 PX 1");
    client.ask("HSET hash kept 1 gone 2 later 3");
    assert_eq!(client.ask("HPEXPIRE hash 1 FIELDS 2 gone missing"), "1 -2");
    assert_eq!(client.ask("HPEXPIRE hash 1000000 FIELDS 1 later"), "1");
    client.ask("HSET empty field 1");
    assert_eq!(client.ask("HPEXPIRE empty 0 FIELDS 1 field"), "1");
    assert_eq!(client.ask("HLEN empty"), "0");
    wait_until("the cycle has deleted the key", || client.ask("DBSIZE") == "1");
    wait_until("the cycle has deleted the field", || client.ask("HLEN hash") == "2");
    client.ask("DEBUG SET-ACTIVE-EXPIRE 0");
    client.ask("SET gone 1 PX 1");
    wait_until("reading it finds it expired", || client.ask("GET gone") == "(nil)");
}

#[test]
fn memory_over_the_limit_is_freed_or_the_request_refused() {
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
