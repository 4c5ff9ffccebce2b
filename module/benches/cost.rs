//! What the module costs a stock server: without it, loaded and idle, and recorded, under redis-benchmark.
//!
//! The servers have one processor and redis-benchmark another, where there are two. They run side by side and take
//! turns in many short rounds; each round is compared with that of the server without the module just before it, so
//! what else the machine does meets both. The median of these ratios counts, and the spread is that of the middle half. Time
//! on the processor is compared: requests a second also depend on redis-benchmark.
//!
//! `ROUNDS` and `REQUESTS` in the environment make it longer or shorter.

use std::env;
use std::path::Path;
use std::process::Command;

use lttng_testing::{CommandInTime as _, Daemon, Program, StockServer};

/// A server, and what it is compared as.
struct Contender {
    name: &'static str,
    server: StockServer,
}

fn main() {
    let rounds = setting("ROUNDS", 25);
    let requests = setting("REQUESTS", 100_000);
    let module = Program::dynamic_library("valkey-trace-module").traced().release().build();
    let daemons = [Daemon::start(), Daemon::start(), Daemon::start(), Daemon::start()];
    let sessions =
        [daemons[2].recording(&["valkey_commands:command_call"]), daemons[3].recording(&["valkey_*"])];
    let contenders = [
        contender("without the module", &daemons[0], None),
        contender("loaded and idle", &daemons[1], Some(&module)),
        contender("command_call recorded", &daemons[2], Some(&module)),
        contender("all events recorded", &daemons[3], Some(&module)),
    ];
    println!(
        "processor time of redis-server per request; median of {rounds} rounds of {requests}, and the ratio to the"
    );
    println!("round without the module before it (middle half of the rounds)");
    for (test, pipeline) in [("get", "1"), ("set", "1"), ("get", "16"), ("set", "16")] {
        let mut times = vec![Vec::new(); contenders.len()];
        for round in 0..=rounds {
            for (contender, times) in contenders.iter().zip(&mut times) {
                let time = run(&contender.server, test, pipeline, requests);
                // The first fills caches, and makes the key that GET reads.
                if round > 0 {
                    times.push(time);
                }
            }
        }
        println!("\n{test} -P {pipeline}");
        for (contender, own) in contenders.iter().zip(&times) {
            let ratios: Vec<f64> = own.iter().zip(&times[0]).map(|(own, base)| own / base).collect();
            let [low, middle, high] = [0.25, 0.5, 0.75].map(|fraction| quantile(&ratios, fraction));
            let time = quantile(own, 0.5);
            println!("  {:<24} {time:>7.0} ns   {middle:.3} ({low:.3} to {high:.3})", contender.name);
        }
    }
    drop(sessions);
}

fn setting(name: &str, default: usize) -> usize {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn contender(name: &'static str, daemon: &Daemon, module: Option<&Path>) -> Contender {
    let mut command = daemon.command("taskset");
    command.args(["--cpu-list", "0"]).arg(StockServer::redis(daemon.folder()));
    Contender { name, server: StockServer::start_with(command, daemon.folder(), module, &[]) }
}

/// Nanoseconds on the processor for each request.
fn run(server: &StockServer, test: &str, pipeline: &str, requests: usize) -> f64 {
    let [before, _] = server.scheduled_ns();
    let mut load = Command::new("taskset");
    load.args(["--cpu-list", "1", "redis-benchmark", "-q", "-p", &server.port.to_string()]);
    load.args(["-t", test, "-P", pipeline, "-n", &requests.to_string()]).succeed();
    (server.scheduled_ns()[0] - before) as f64 / requests as f64
}

/// The value that a fraction of all are below.
fn quantile(values: &[f64], fraction: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * fraction).round() as usize]
}
