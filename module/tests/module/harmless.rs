//! Whatever happens to the module, the server goes on.

use std::process::Command;

use lttng_testing::{CommandInTime as _, Daemon, StockServer, need_namespaces, wait_until};

use crate::support::{Stock, command, without};

#[test]
fn module_is_neither_loaded_twice_nor_unloaded() {
    let Some(stock) = Stock::redis() else { return };
    let daemon = Daemon::start();
    let server = stock.start(&daemon, &[]);
    let mut client = server.connect();
    let path = StockServer::module().display().to_string();
    assert!(client.ask_words(&["MODULE", "LOAD", &path]).starts_with("-ERR"));
    assert!(client.ask("MODULE UNLOAD valkey_trace").starts_with("-ERR"));
    assert_eq!(client.ask("PING"), "PONG");
    let said = server.said();
    assert!(said[0].starts_with("redis 7."), "{said:?}");
    assert_eq!(
        said[1..],
        [
            "not loaded: it is loaded already",
            "MODULE UNLOAD is refused: LTTng keeps pointers to its events until the server ends",
        ]
    );
    let session = daemon.recording(&["valkey_commands:*"]);
    client.ask("PING");
    let events = session.stop().events();
    assert_eq!(events.iter().map(|event| command(event).0).collect::<Vec<_>>(), ["ping"]);
}

#[test]
fn session_starts_and_stops_at_any_time() {
    let Some(stock) = Stock::redis() else { return };
    let daemon = Daemon::start();
    let server = stock.start(&daemon, &[]);
    let mut client = server.connect();
    for _ in 0..3 {
        let session = daemon.recording(&["valkey_*"]);
        client.ask("SET a 1");
        let events = session.stop().events();
        client.ask("GET a");
        let calls = events.iter().filter(|event| event.name == "valkey_commands:command_call");
        assert_eq!(calls.map(|event| command(event).0).collect::<Vec<_>>(), ["set"]);
        let servers: Vec<_> = events.iter().filter(|event| event.name == "valkey_module:server").collect();
        assert!(!servers.is_empty() && servers[0].field("server") == "\"redis\"", "{servers:?}");
    }
}

#[test]
fn daemon_that_is_killed_and_started_again_records_the_server_again() {
    let Some(stock) = Stock::redis() else { return };
    let mut daemon = Daemon::start();
    let server = stock.start(&daemon, &[]);
    let mut client = server.connect();
    {
        let session = daemon.recording(&["valkey_*"]);
        client.ask("SET a 1");
        session.abandon();
    }
    daemon.kill();
    assert_eq!(client.ask("SET a 2"), "OK");
    daemon.restart();
    wait_until("the server has registered again", || {
        assert_eq!(client.ask("GET a"), "2");
        daemon.lttng(["list", "--userspace"]).contains("command_call")
    });
    let session = daemon.recording(&["valkey_commands:*"]);
    client.ask("SET a 3");
    let events = session.stop().events();
    assert!(events.iter().any(|event| command(event).0 == "set"), "{events:?}");
    assert_eq!(server.said().len(), 1, "{}", server.log());
}

#[test]
fn server_without_lttng_or_a_daemon_serves_and_says_so_once() {
    if Stock::redis().is_none() || !need_namespaces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut hidden = without("/usr/lib/*/liblttng-ust.so.1", Command::new("unshare"));
    hidden.arg(StockServer::redis(folder.path()));
    let server = StockServer::start_as(hidden, folder.path(), &[]);
    assert_eq!(server.connect().ask("SET a 1"), "OK");
    let said = server.said();
    assert_eq!(said[0], "nothing is recorded: liblttng-ust.so.1 is not installed (package liblttng-ust1)");
    assert_eq!(said.len(), 2, "{said:?}");

    let mut alone = Command::new(StockServer::redis(folder.path()));
    alone.env("LTTNG_HOME", folder.path());
    let server = StockServer::start_as(alone, folder.path(), &[]);
    assert_eq!(server.connect().ask("SET a 1"), "OK");
    assert_eq!(server.said().len(), 1);
}

#[test]
fn server_goes_on_where_shared_memory_is_full() {
    let Some(stock) = Stock::redis() else { return };
    if !need_namespaces() {
        return;
    }
    // Room for the daemon's own page, but not for buffers.
    let daemon = Daemon::start_with_shared_memory(16);
    let server = stock.start(&daemon, &[]);
    let mut client = server.connect();
    let session = daemon.recording(&["valkey_*"]);
    for value in 0..1000 {
        assert_eq!(client.ask(&format!("SET a {value}")), "OK");
    }
    let mut streams = Command::new("find");
    streams.arg(session.stop().folder()).args(["-type", "f", "-size", "+0", "-name", "channel*_*"]);
    assert_eq!(streams.succeed(), "", "there was no room for events");
    assert_eq!(client.ask("GET a"), "999");
    assert_eq!(server.said().len(), 1, "{}", server.log());
}

#[test]
fn server_that_is_too_old_gets_one_clear_line() {
    // A program that loads modules as an old server does: it has one function of the API, which logs.
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("old.c"), folder.path().join("old"));
    std::fs::write(&source, OLD_SERVER).expect("a file");
    Command::new("cc").arg(&source).arg("-o").arg(&program).succeed();
    let output = Command::new(&program).arg(StockServer::module()).output_in_time().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "the module is refused");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "valkey_trace: not loaded: this server is older than Redis 7.0: it has no RedisModule_SetModuleAttribs\n"
    );
}

const OLD_SERVER: &str = r#"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(void *context, const char *level, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vprintf(format, arguments);
	putchar('\n');
}

static int get_api(const char *name, void **target)
{
	if (strcmp(name, "RedisModule_Log"))
		return 1;
	*target = (void *)say;
	return 0;
}

int main(int count, char **arguments)
{
	void *context[4] = { (void *)get_api };
	void *module = dlopen(arguments[1], RTLD_NOW);
	int (*load)(void *, void **, int) = (int (*)(void *, void **, int))dlsym(module, "RedisModule_OnLoad");
	return load(context, NULL, 0);
}
"#;
