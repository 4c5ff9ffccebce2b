//! What tracing costs a server: valkey-lite with tracing off, on and idle, and on and recorded, under
//! redis-benchmark with one request a round trip, as Valkey measures its own.
//!
//! The servers have one processor and redis-benchmark another, where there are two. They run side by side and take
//! turns in many short rounds, each of which is compared with the round of the server without tracing just before
//! it: what else the machine does meets both. The median of these changes counts, and the spread is that of the
//! middle half. Time on the processor is the steadier figure: requests a second also depend on redis-benchmark.
//! Instructions are counted by callgrind, for one client, and without the kernel's.
//!
//! `ROUNDS` and `REQUESTS` in the environment make it longer or shorter.

#[path = "../tests/server/support.rs"]
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
    rounds: Vec<Figures>,
    _data: TempDir,
}

/// What a round shows.
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
        contender("tracing off", pinned(Command::new("taskset"), &off)),
        contender("on and idle", pinned(idle.command("taskset"), &on)),
        contender("on, command_call recorded", pinned(recording[0].command("taskset"), &on)),
        contender("on, all 35 events recorded", pinned(recording[1].command("taskset"), &on)),
    ];

    println!(
        "valkey-lite, {CLIENTS} clients, one request a round trip; median of {rounds} rounds of {requests}, and the \
         change in a round (middle half of the rounds)."
    );
    println!("Valkey's own figures for GET: 0.03 % fewer requests a second idle, 6.6 % recorded.\n");
    for test in ["get", "set"] {
        for contender in &mut contenders {
            // Not counted: fills caches, and makes the key that GET reads.
            run(&contender.server, "set", requests / 10);
            contender.rounds.clear();
        }
        for _ in 0..rounds {
            for contender in &mut contenders {
                contender.rounds.push(run(&contender.server, test, requests));
            }
        }
        print_table(test, &contenders);
    }

    println!("{:<28} {:>12}", "GET", "instructions/request");
    let counted = [
        ("tracing off", &off, None),
        ("on and idle", &on, Some(&idle)),
        ("on, command_call recorded", &on, Some(&recording[0])),
        ("on, all 35 events recorded", &on, Some(&recording[1])),
    ];
    for (name, program, daemon) in counted {
        let count = instructions(program, daemon);
        let count = count.map_or("needs valgrind".to_owned(), |count| count.to_string());
        println!("{name:<28} {count:>20}");
    }
}

/// A command for `taskset` that runs a server on the first processor.
fn pinned(mut command: Command, program: &Path) -> Command {
    command.args(["--cpu-list", "0"]).arg(program);
    command
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
    Contender { name, server: Server::start_as(command, data.path(), &[]), rounds: Vec::new(), _data: data }
}

/// The value that a fraction of all are below.
fn quantile(values: &[f64], fraction: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * fraction).round() as usize]
}

fn run(server: &Server, test: &str, requests: usize) -> Figures {
    let before = processor_time(server);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let output = Command::new("taskset")
        .args(["--cpu-list", &(processors - 1).to_string(), "redis-benchmark"])
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
    println!("{:<28} {:>10} {:>24} {:>10} {:>24}", test.to_uppercase(), "requests/s", "", "ns/request", "");
    for Contender { name, rounds, .. } in contenders {
        let column = |figure: fn(&Figures) -> f64| {
            let own: Vec<f64> = rounds.iter().map(figure).collect();
            let pairs = rounds.iter().zip(&baseline.rounds);
            let changes: Vec<f64> =
                pairs.map(|(own, off)| (figure(own) / figure(off) - 1.0) * 100.0).collect();
            let [low, middle, high] = [0.25, 0.5, 0.75].map(|fraction| quantile(&changes, fraction));
            format!("{:>10.0} {middle:>+7.1} % ({low:+.1} to {high:+.1})", quantile(&own, 0.5))
        };
        let requests = column(|figures| figures.requests_a_second);
        let time = column(|figures| figures.processor_nanoseconds);
        println!("{name:<28} {requests:<35} {time}");
    }
    println!();
}

/// Instructions that a GET takes: how many more a run with twice as many has, divided by how many more those
/// are. None if there is no valgrind.
fn instructions(program: &Path, daemon: Option<&Daemon>) -> Option<u64> {
    Some((collected(program, daemon, 2 * COUNTED)? - collected(program, daemon, COUNTED)?) / COUNTED as u64)
}

fn collected(program: &Path, daemon: Option<&Daemon>, requests: usize) -> Option<u64> {
    Command::new("valgrind").arg("--version").output().ok()?;
    let data = folder();
    let log = data.path().join("log");
    let mut command = daemon.map_or_else(|| Command::new("valgrind"), |daemon| daemon.command("valgrind"));
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
