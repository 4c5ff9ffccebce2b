//! The server as its crate has it, asked by real clients, recorded by a real session, read by Babeltrace and by `ltt-top`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use lttng_testing::{
    ChildInTime as _, CommandInTime as _, Daemon, Event, Program, Session, must_end, wait_until, workspace,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const CLIENTS: u64 = 8;
/// The requests of each client: 200 of SET, 200 of GET and one that the server does not know.
const KEYS: u64 = 200;

/// A server that a daemon traces, ended as by Ctrl-C.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(mut command: Command) -> Server {
        let mut process =
            command.arg("127.0.0.1:0").stdout(Stdio::piped()).spawn().expect("the server starts");
        let output = process.stdout.take().expect("it is piped");
        let mut server = Server { process, address: String::new() };
        let line = must_end("the server says where it listens", || {
            let mut line = String::new();
            BufReader::new(output).read_line(&mut line).map(|_| line).expect("a line")
        });
        server.address = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
        server
    }

    /// Has clients send all their requests at the same time, and waits for the replies.
    fn serve(&self) {
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                scope.spawn(move || ask(&self.address, client));
            }
        });
    }

    /// Waits until the layer has looked several times at what sessions record: its thread sleeps after each.
    fn wait_until_spans_are_on(&self) {
        let tasks = PathBuf::from(format!("/proc/{}/task", self.process.id()));
        let slept = || -> Option<u64> {
            let tasks = fs::read_dir(&tasks).ok()?.flatten().map(|task| task.path());
            let is_ours = |task: &PathBuf| {
                fs::read_to_string(task.join("comm")).is_ok_and(|name| name == "lttng-interests\n")
            };
            let status = fs::read_to_string(tasks.into_iter().find(is_ours)?.join("status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            line.trim().parse().ok()
        };
        let before = slept().expect("the layer has a thread");
        wait_until("the layer looks at what sessions record", || {
            slept().is_some_and(|now| now >= before + 5)
        });
    }

    fn stop(mut self) {
        kill_process(Pid::from_child(&self.process), Signal::INT).expect("the server runs");
        let status = self.process.wait_in_time().expect("the server ends");
        assert!(status.success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("a socket");
    for set in [TcpStream::set_read_timeout, TcpStream::set_write_timeout] {
        set(&stream, Some(Duration::from_secs(60))).expect("a timeout that is not zero");
    }
    stream
}

/// One client's requests, each after the reply to the one before it.
fn ask(address: &str, client: u64) {
    let mut stream = connect(address);
    for key in 0..KEYS {
        let (key, value) = (format!("key:{client}:{key}"), format!("value {key}"));
        request(&mut stream, &["set", &key, &value], "+OK\r\n");
        request(&mut stream, &["get", &key], &format!("${}\r\n{value}\r\n", value.len()));
    }
    request(&mut stream, &["flushall"], "-ERR unknown command 'flushall'\r\n");
}

/// One client that reads the beginning of its reply, and the rest only after a while: the server waits for it, because that
/// is more than the sockets have room for.
fn ask_slowly(address: &str, stall: Duration) {
    let value = "x".repeat(32 << 20);
    let mut stream = connect(address);
    request(&mut stream, &["set", "large", &value], "+OK\r\n");
    request(&mut stream, &["get", "large"], "$33554432\r\n");
    thread::sleep(stall);
    let mut bytes = vec![0; value.len() + "\r\n".len()];
    stream.read_exact(&mut bytes).expect("the server answers");
}

fn request(stream: &mut TcpStream, words: &[&str], reply: &str) {
    let words: String = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len())).collect();
    let count = words.matches('$').count();
    stream.write_all(format!("*{count}\r\n{words}").as_bytes()).expect("the server reads");
    let mut bytes = vec![0; reply.len()];
    stream.read_exact(&mut bytes).expect("the server answers");
    assert_eq!(String::from_utf8_lossy(&bytes), reply);
}

fn server() -> PathBuf {
    env!("CARGO_BIN_EXE_traced-mini-redis").into()
}

fn recorded(session: &Session<'_>, server: Server) -> Vec<Event> {
    server.serve();
    server.stop();
    session.stop().events()
}

fn count(events: &[Event]) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(event.name.as_str()).or_default() += 1;
    }
    counts
}

#[test]
fn every_request_of_every_client_is_recorded_and_ltt_top_agrees() {
    let daemon = Daemon::start();
    let session = daemon.recording_with(&["mini_redis_server:*"], &[], &["vpid", "vtid"]);
    let server = Server::start(daemon.command(server()));
    let events = recorded(&session, server);

    let expected = [
        ("mini_redis_server:connection", CLIENTS),
        ("mini_redis_server:get", CLIENTS * KEYS),
        ("mini_redis_server:request", CLIENTS * (2 * KEYS + 1)),
        ("mini_redis_server:set", CLIENTS * KEYS),
        ("mini_redis_server:unknown", CLIENTS),
    ];
    assert_eq!(count(&events), BTreeMap::from(expected));
    requests_have_the_texts_of_mini_redis(&events);
    busy_time_is_within_the_duration(&events);
    top_has_the_figures_of_babeltrace(session.folder(), &events);
}

fn requests_have_the_texts_of_mini_redis(events: &[Event]) {
    let requests = events.iter().filter(|event| event.name == "mini_redis_server:request");
    // From the whole line: a quote before a comma is in the text, and `Event` takes it for its end.
    let text = |event: &Event| {
        let line = String::from_utf8_lossy(&event.line).into_owned();
        let (_, field) = line.split_once("event.fields = { cmd = ").expect("the field");
        field.strip_suffix(" }").expect("its end").to_owned()
    };
    let mut texts: Vec<_> = requests.map(text).collect();
    let mut expected = Vec::new();
    for client in 0..CLIENTS {
        for key in 0..KEYS {
            let name = format!("key:{client}:{key}");
            let value = format!("value {key}");
            expected.push(format!(r#""Set(Set {{ key: "{name}", value: b"{value}", expire: None }})""#));
            expected.push(format!(r#""Get(Get {{ key: "{name}" }})""#));
        }
        expected.push(r#""Unknown(Unknown { command_name: "flushall" })""#.to_owned());
    }
    texts.sort();
    expected.sort();
    assert_eq!(texts.len(), expected.len());
    for (text, expected) in texts.iter().zip(&expected) {
        assert_eq!(text, expected);
    }
}

fn number(event: &Event, field: &str) -> u64 {
    event.field(field).parse().expect("a number")
}

fn busy_time_is_within_the_duration(events: &[Event]) {
    let commands = ["mini_redis_server:get", "mini_redis_server:set", "mini_redis_server:unknown"];
    for event in events.iter().filter(|event| commands.contains(&event.name.as_str())) {
        assert!(number(event, "tracing_busy") <= number(event, "duration"), "{event:?}");
    }
}

fn ltt_top(command: &str, trace: &Path) -> Value {
    let program = Program::binary("ltt-top", "ltt-top").build();
    let catalog = workspace().join("examples/mini-redis/catalog.toml");
    let mut top = Command::new(program);
    top.arg(command).arg(trace).args(["--format", "json", "--catalog"]).arg(catalog);
    serde_json::from_str(&top.succeed()).expect("JSON")
}

fn top_has_the_figures_of_babeltrace(trace: &Path, events: &[Event]) {
    let found = ltt_top("top", trace);
    assert_eq!(found["trace"]["events"], events.len());
    let mut figures = BTreeMap::new();
    for event in events {
        let (count, total, max) = figures.entry(event.name.as_str()).or_insert((0_u64, 0_u64, 0_u64));
        let is_timed = event.name != "mini_redis_server:request";
        let duration = if is_timed { number(event, "duration") } else { 0 };
        (*count, *total, *max) = (*count + 1, *total + duration, duration.max(*max));
    }
    let groups = found["groups"].as_array().expect("groups");
    let group = |group: &Value| {
        let [count, total, max] =
            ["count", "total_us", "max_us"].map(|key| group[key].as_f64().unwrap_or_default());
        (group["event"].as_str().expect("a name").to_owned(), (count as u64, total as u64, max as u64))
    };
    let groups: BTreeMap<_, _> = groups.iter().map(group).collect();
    let figures: BTreeMap<_, _> = figures.into_iter().map(|(name, all)| (name.to_owned(), all)).collect();
    assert_eq!(groups, figures);
}

/// Among others, whether it is unusual would be decided by how long they waited for a processor.
#[test]
fn client_that_does_not_read_is_an_incident() {
    let daemon = Daemon::start();
    let session = daemon.recording_with(&["mini_redis_server:*"], &[], &["vpid", "vtid"]);
    let server = Server::start(daemon.command(server()));
    let stall = Duration::from_millis(200);
    ask_slowly(&server.address, stall);
    server.stop();
    let events = session.stop().events();

    let slow = events.iter().find(|event| event.name == "mini_redis_server:get").expect("it is recorded");
    assert!(number(slow, "duration") >= stall.as_micros() as u64, "{slow:?}");
    assert!(number(slow, "tracing_busy") < number(slow, "duration"), "most of it was waiting");
    let found = ltt_top("incidents", session.folder());
    assert_eq!(found["trace"]["events"], events.len());
    assert_eq!(found["intervals"], 2, "a SET and a GET");
    let incidents = found["incidents"].as_array().expect("incidents");
    let is_it = |incident: &&Value| {
        incident["cause"]["event"] == "mini_redis_server:get"
            && incident["cause"]["duration_us"].as_f64() == Some(number(slow, "duration") as f64)
    };
    assert_eq!(incidents.iter().filter(is_it).count(), 1, "{found:#}");
}

#[test]
fn nothing_is_recorded_of_what_began_before_the_session() {
    let daemon = Daemon::start();
    let server = Server::start(daemon.command(server()));
    let mut early = connect(&server.address);
    request(&mut early, &["set", "early", "1"], "+OK\r\n");
    let session = daemon.recording(&["mini_redis_server:*"]);
    server.wait_until_spans_are_on();
    request(&mut early, &["get", "early"], "$1\r\n1\r\n");
    drop(early);
    let events = recorded(&session, server);
    // The connection of the first client began while nobody recorded; its second request did not.
    assert_eq!(count(&events)["mini_redis_server:connection"], CLIENTS);
    assert_eq!(count(&events)["mini_redis_server:get"], CLIENTS * KEYS + 1);
    assert_eq!(count(&events)["mini_redis_server:set"], CLIENTS * KEYS);
}

#[test]
fn service_changes_by_less_than_ten_lines() {
    let folder = workspace().join("examples/mini-redis");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    const MAIN: &str = include_str!("../src/main.rs");
    let main = MAIN.lines().filter(|line| line.ends_with("// +")).count();
    let code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    let build_script = read("build.rs").lines().filter(code).count();
    let manifest = read("Cargo.toml").lines().filter(|line| line.ends_with("# +")).count();
    assert_eq!((main, build_script, manifest), (2, 3, 4));
    let documentation = fs::read_to_string(workspace().join("lttng-provider-tracing/README.md")).unwrap();
    let (_, code) = MAIN.split_once("\n\n").unwrap();
    assert!(documentation.contains(code), "the README shows this program");
    assert!(main + build_script + manifest < 10);
}
