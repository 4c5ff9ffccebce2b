//! What watching costs: how fast events are taken in beside Babeltrace 2, what the screen costs at 100,000 events a
//! second and how far it lags, and what memory an hour takes beside a minute.
//!
//! `cargo bench -p ltt-top --bench live`, or one part: `-- intake`, `screen` or `memory`. `EVENTS` asks for another number of
//! events, `SECONDS` for another time, and `TRACE` to take in a recorded trace, which has `EVENTS` events.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lttng_testing::{Daemon, Program, Relay, Table};

#[path = "reading/synthetic.rs"]
mod synthetic;

#[allow(dead_code)]
#[path = "../tests/live/replay.rs"]
mod replay;

/// The live timer of the session that is watched, in microseconds.
const TIMER: u32 = 200_000;

/// How often an event is emitted, a second.
const RATE: u64 = 100_000;

/// The events of a burst, each with another duration: the number of groups by duration.
const BURST: u64 = 400;

/// The number of rounds of what is compared.
const ROUNDS: u32 = 3;

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |number| number.parse().expect("a number"))
}

fn ltt_top(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-top"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let named: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| named.is_empty() || named.iter().any(|wanted| wanted == name);
    if is_wanted("intake") {
        intake(folder.path());
    }
    if is_wanted("screen") {
        screen("1 group", &[]);
        screen("400 groups", &["--by", "duration"]);
    }
    if is_wanted("memory") {
        memory(folder.path());
    }
}

/// The processor time that a process has taken, in seconds.
fn processor_time(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    // Clock ticks of 10 ms, in user mode and in the kernel.
    let ticks = |place: usize| fields.get(place).and_then(|ticks| ticks.parse::<f64>().ok());
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// The memory that a process takes, in MiB.
fn resident(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse::<f64>().ok().map(|kibibytes| kibibytes / 1024.0)
}

/// Runs a program to its end, and returns how long it took and how much processor time.
fn timed(mut command: Command) -> (f64, f64) {
    let begin = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn().expect("it runs");
    let mut processor = 0.0;
    loop {
        processor = processor_time(child.id()).unwrap_or(processor);
        match child.try_wait().expect("it is our child") {
            Some(status) => {
                assert!(status.success(), "{command:?}: {status}");
                return (begin.elapsed().as_secs_f64(), processor);
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// How fast a session that is complete is taken in, from a relay that has it in memory.
fn intake(folder: &Path) {
    let events = number("EVENTS", 5_000_000);
    let trace = std::env::var_os("TRACE").map_or_else(
        || {
            let trace = folder.join("synthetic");
            synthetic::write(&trace, events, 2).expect("it can be written");
            trace
        },
        Into::into,
    );
    let mut best = [[f64::INFINITY; 2]; 4];
    for _ in 0..ROUNDS {
        let url = replay::Scene::read(&trace, 1, true).serve_all();
        let ours = timed(ltt_top(&["live", &url, "--format", "json"]));
        let many = timed(ltt_top(&["live", &url, "--format", "json", "--by", "name,addr"]));
        let followed = timed(ltt_top(&["events", "--follow", &url, "--where", "duration>1000s"]));
        let mut babeltrace = Command::new("babeltrace2");
        babeltrace.args(["--input-format=lttng-live", &url, "--output-format=dummy"]);
        let theirs = timed(babeltrace);
        for (best, (wall, processor)) in best.iter_mut().zip([followed, ours, many, theirs]) {
            *best = [best[0].min(wall), best[1].min(processor)];
        }
    }
    let title = format!("Live intake: {events} events from a relay, best of {ROUNDS}");
    let mut table = Table::new(&title, &["reader", "seconds", "processor s", "events/s of a core", "times"]);
    let floor = best[3][1];
    let names = [
        "ltt-top events --follow: merged, and none shown",
        "ltt-top live: 5 groups, incidents (target: 10 times)",
        "ltt-top live: 250 groups, incidents",
        "babeltrace2, dummy sink",
    ];
    for (name, [wall, processor]) in names.iter().zip(best) {
        let rate = events as f64 / processor / 1e6;
        let cells = [
            (*name).to_owned(),
            format!("{wall:.2}"),
            format!("{processor:.2}"),
            format!("{rate:.2} M"),
            format!("{:.1}", floor / processor),
        ];
        table.row(cells);
    }
    println!("{table}");
}

/// Emits events at a steady rate until it is dropped.
struct Emitter {
    process: Child,
}

impl Emitter {
    fn start(daemon: &Daemon) -> Emitter {
        let program = Program::example("valkey-trace", "emit-loop").traced().release().build();
        let burst = BURST.to_string();
        let mut command = daemon.command(program);
        command.args(["command_call", "1", &burst]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut process = command.spawn().expect("it runs");
        let mut input = process.stdin.take().expect("its input is piped");
        thread::spawn(move || {
            let begin = Instant::now();
            for burst in 0.. {
                let due = Duration::from_nanos(1_000_000_000 / RATE * BURST * burst);
                thread::sleep(due.saturating_sub(begin.elapsed()));
                if writeln!(input).is_err() {
                    return;
                }
            }
        });
        Emitter { process }
    }
}

impl Drop for Emitter {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// What the screen costs while a server is busy, with these options, and how far it lags.
fn screen(groups: &str, options: &[&str]) {
    let seconds = number("SECONDS", 10);
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = daemon.live_session(&relay, TIMER);
    session.lttng("enable-channel", ["--userspace", "--subbuf-size=1M", "--num-subbuf=8", "busy"]);
    session.enable_with("valkey_*", &["--channel=busy"]);
    session.start();
    let url = session.url(&relay);
    let emitter = Emitter::start(&daemon);
    let socket = format!("ltt-top-bench-{}", std::process::id());
    let tmux = |arguments: &[&str]| {
        let mut tmux = Command::new("tmux");
        tmux.args(["-u", "-L", &socket, "-f", "/dev/null"]).args(arguments);
        String::from_utf8_lossy(&tmux.output().expect("tmux is installed").stdout).trim().to_owned()
    };
    let program = format!("exec {} live {url} {}", env!("CARGO_BIN_EXE_ltt-top"), options.join(" "));
    tmux(&["new-session", "-d", "-x", "120", "-y", "40", &program]);
    thread::sleep(Duration::from_secs(3));
    let pid = tmux(&["display-message", "-p", "#{pane_pid}"]).parse().expect("a process id");
    let before = processor_time(pid).expect("it runs");
    let begin = Instant::now();
    thread::sleep(Duration::from_secs(seconds));
    let share = (processor_time(pid).expect("it runs") - before) / begin.elapsed().as_secs_f64();
    let screen = tmux(&["capture-pane", "-p"]);
    tmux(&["kill-server"]);
    // The relay shows a session to one viewer at a time.
    while processor_time(pid).is_some() {
        thread::sleep(Duration::from_millis(50));
    }
    thread::sleep(Duration::from_secs(1));
    let mut live = ltt_top(&["live", &url, "--from-now", "--format", "json", "--interval", "250ms"]);
    let mut live = live.args(["--for", "5s"]).args(options).stdout(Stdio::piped()).spawn().expect("it runs");
    let out = BufReader::new(live.stdout.take().expect("its output is piped"));
    let lag = |line: String| {
        let object: serde_json::Value = serde_json::from_str(&line).ok()?;
        object["lag_ns"].as_f64().filter(|_| object["trace"]["events"].as_u64() > Some(0))
    };
    let mut lags: Vec<f64> = out.lines().map_while(Result::ok).filter_map(lag).collect();
    _ = live.wait();
    drop(emitter);
    lags.sort_by(f64::total_cmp);
    let milliseconds = |part: f64| match lags.get((lags.len() as f64 * part) as usize) {
        Some(lag) => format!("{:.0} ms", lag / 1e6),
        None => "-".into(),
    };
    let timer = TIMER / 1000;
    let title =
        format!("The live screen at {RATE} events/s, {groups}, for {seconds} s; a live timer of {timer} ms");
    let mut table = Table::new(&title, &["what", "figure", "target"]);
    table.row(["processor time, of a core".to_owned(), format!("{:.1} %", share * 100.0), "10 %".to_owned()]);
    table.row(["lag to the newest event merged, median".to_owned(), milliseconds(0.5), "500 ms".to_owned()]);
    table.row(["lag, 95th percentile".to_owned(), milliseconds(0.95), "500 ms".to_owned()]);
    println!("{table}");
    println!("{}", screen.lines().take(5).collect::<Vec<_>>().join("\n"));
}

/// What memory an hour's worth of events takes beside a minute's.
fn memory(folder: &Path) {
    // A round is 2^32 ns of the trace's time.
    let round = (1_u64 << 32) as f64 / 1e9;
    let trace = folder.join("round");
    synthetic::write(&trace, (RATE as f64 * round) as u64, 2).expect("it can be written");
    let minutes = number("MINUTES", 60);
    let mut table = Table::new("Memory of ltt-top live", &["events of", "events", "MiB"]);
    for minutes in [1, minutes] {
        let rounds = (minutes as f64 * 60.0 / round) as u64;
        let url = replay::Scene::read(&trace, rounds, true).serve_all();
        let mut live =
            ltt_top(&["live", &url, "--format", "json"]).stdout(Stdio::piped()).spawn().expect("it runs");
        let mut events = 0;
        let mut most: f64 = 0.0;
        let out = BufReader::new(live.stdout.take().expect("its output is piped"));
        for line in out.lines().map_while(Result::ok) {
            most = most.max(resident(live.id()).unwrap_or(0.0));
            let object: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
            events = object["trace"]["events"].as_u64().expect("a number");
        }
        _ = live.wait();
        table.row([format!("{minutes} min"), events.to_string(), format!("{most:.1}")]);
    }
    println!("{table}");
}
