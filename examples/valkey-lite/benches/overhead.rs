//! What tracing costs a server: valkey-lite with tracing off, on and idle, and on and recorded, under
//! redis-benchmark with one request a round trip, as Valkey measures its own.
//!
//! The servers run side by side and take turns in many short rounds, so that whatever else the machine does
//! meets all of them, and the best round of each counts. Time on the processor is the steadier figure:
//! requests a second also depend on redis-benchmark, and on who else wants the processors. Instructions are
//! counted by callgrind, for one client, and without the kernel's.
//!
//! `ROUNDS` and `REQUESTS` in the environment make it longer or shorter.

#[path = "../tests/support/mod.rs"]
mod support;

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use lttng_testing::{Daemon, Program, Session};
use support::{Server, folder};
use tempfile::TempDir;

/// Clients at a time, as redis-benchmark has by default.
const CLIENTS: &str = "50";
/// Requests whose instructions are counted.
const COUNTED: usize = 1000;

/// A server, and what it is compared as.
struct Contender {
    name: &'static str,
    server: Server,
    best: Figures,
    _data: TempDir,
}

/// What a round shows, or the best of several.
#[derive(Clone, Copy)]
struct Figures {
    requests_a_second: f64,
    processor_nanoseconds: f64,
}

fn main() {
    let rounds = setting("ROUNDS", 25);
    let requests = setting("REQUESTS", 20_000);
    let off = Program::binary("valkey-lite", "valkey-lite").release().build();
    let on = Program::binary("valkey-lite", "valkey-lite").traced().release().build();

    let idle = Daemon::start();
    let recording = [Daemon::start(), Daemon::start()];
    let _sessions =
        [record(&recording[0], "valkey_commands:command_call"), record(&recording[1], "valkey_*")];
    let mut contenders = [
        contender("tracing off", Command::new(&off)),
        contender("on and idle", idle.command(&on)),
        contender("on, command_call recorded", recording[0].command(&on)),
        contender("on, all 35 events recorded", recording[1].command(&on)),
    ];

    println!(
        "valkey-lite, {CLIENTS} clients, one request a round trip; best of {rounds} rounds of {requests}."
    );
    println!("Valkey's own figures for GET: 0.03 % fewer requests a second idle, 6.6 % recorded.\n");
    for test in ["get", "set"] {
        for contender in &mut contenders {
            // Not counted: fills caches, and makes the key that GET reads.
            run(&contender.server, "set", requests / 10);
            contender.best = Figures::NONE;
        }
        for _ in 0..rounds {
            for contender in &mut contenders {
                contender.best = contender.best.or_better(run(&contender.server, test, requests));
            }
        }
        print_table(test, &contenders);
    }

    println!("{:<28} {:>12}", "GET", "instructions/request");
    for (name, program) in [("tracing off", &off), ("on and idle", &on)] {
        let count = instructions(program).map_or("needs valgrind".to_owned(), |count| count.to_string());
        println!("{name:<28} {count:>20}");
    }
}

fn setting(name: &str, default: usize) -> usize {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn record<'d>(daemon: &'d Daemon, events: &str) -> Session<'d> {
    let session = daemon.session();
    session.enable(events);
    session.start();
    session
}

fn contender(name: &'static str, command: Command) -> Contender {
    let data = folder();
    Contender { name, server: Server::start_as(command, data.path(), &[]), best: Figures::NONE, _data: data }
}

impl Figures {
    const NONE: Figures = Figures { requests_a_second: 0.0, processor_nanoseconds: f64::INFINITY };

    fn or_better(self, other: Figures) -> Figures {
        Figures {
            requests_a_second: self.requests_a_second.max(other.requests_a_second),
            processor_nanoseconds: self.processor_nanoseconds.min(other.processor_nanoseconds),
        }
    }
}

fn run(server: &Server, test: &str, requests: usize) -> Figures {
    let before = processor_time(server);
    let output = Command::new("redis-benchmark")
        .args([
            "-p",
            &server.port.to_string(),
            "-t",
            test,
            "-n",
            &requests.to_string(),
            "-c",
            CLIENTS,
            "--csv",
        ])
        .output()
        .expect("redis-benchmark runs; `make setup` installs it");
    let used = processor_time(server) - before;
    let text = String::from_utf8_lossy(&output.stdout);
    let figure = text.lines().nth(1).and_then(|line| line.split(',').nth(1)?.trim_matches('"').parse().ok());
    Figures {
        requests_a_second: figure.unwrap_or_else(|| panic!("redis-benchmark printed no figure: {text}")),
        processor_nanoseconds: used as f64 / requests as f64,
    }
}

/// Nanoseconds that the server's event loop has spent on a processor.
fn processor_time(server: &Server) -> u64 {
    let path = format!("/proc/{0}/task/{0}/schedstat", server.pid());
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.split(' ').next().and_then(|word| word.parse().ok()).expect("nanoseconds come first")
}

fn print_table(test: &str, contenders: &[Contender]) {
    let [baseline, ..] = contenders else { return };
    println!("{:<28} {:>12} {:>8} {:>14} {:>8}", test.to_uppercase(), "requests/s", "", "ns/request", "");
    for Contender { name, best, .. } in contenders {
        let change = |figure: fn(&Figures) -> f64| (figure(best) / figure(&baseline.best) - 1.0) * 100.0;
        println!(
            "{name:<28} {:>12.0} {:>+7.1}% {:>14.0} {:>+7.1}%",
            best.requests_a_second,
            change(|figures| figures.requests_a_second),
            best.processor_nanoseconds,
            change(|figures| figures.processor_nanoseconds),
        );
    }
    println!();
}

/// Instructions that a GET takes: how many more a run with twice as many has, divided by how many more those
/// are. None if there is no valgrind.
fn instructions(program: &Path) -> Option<u64> {
    Some((collected(program, 2 * COUNTED)? - collected(program, COUNTED)?) / COUNTED as u64)
}

fn collected(program: &Path, requests: usize) -> Option<u64> {
    Command::new("valgrind").arg("--version").output().ok()?;
    let data = folder();
    let log = data.path().join("log");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    // The event loop alone, without starting up and without the threads of LTTng-UST.
    command.arg("--toggle-collect=valkey_lite::event_loop::EventLoop::run");
    command.arg(format!("--log-file={}", log.display())).arg(program);
    // With the cron as seldom as can be, runs differ by their requests alone.
    let server = Server::start_as(command, data.path(), &["--hz", "1"]);
    let mut client = server.connect();
    client.ask("SET key value");
    for _ in 0..requests {
        client.ask("GET key");
    }
    client.request("SHUTDOWN");
    server.wait();
    let text = fs::read_to_string(log).ok()?;
    text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}
