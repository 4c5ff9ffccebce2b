//! What an event costs the program that emits it, beside LTTng-UST's own macros in C.
//!
//! `cargo bench --bench producer` prints a table. Both programs run at the same time and take turns, so that
//! whatever else the machine does meets both; the best of many rounds counts. A bench, and no test: nothing
//! fails on a figure.

mod support;

use std::path::{Path, PathBuf};

use lttng_testing::{Daemon, Program, Session, Table};
use support::{Running, compile_baseline, compile_c, count_instructions};

/// Many short rounds, so that some of them are disturbed by nobody.
const ROUNDS: usize = 400;

fn main() {
    let programs = Programs::build();
    let mut table = Table::new(
        "An event, in nanoseconds (best of many rounds), and instructions where nobody records it",
        &["event, threads, state", "Rust", "C macro", "Rust/C", "target"],
    );
    for event in ["duration", "command_call"] {
        for threads in [1, 2] {
            for state in State::ALL {
                let (rust, c) = programs.measure(event, threads, state);
                let ratio = if state == State::Off { String::new() } else { format!("{:.2}", rust / c) };
                let name = format!("{event}, {threads}, {}", state.name());
                let target = state.target(event).to_owned();
                table.row([name, format!("{rust:.2} ns"), format!("{c:.2} ns"), ratio, target]);
            }
        }
        let (rust, c) = programs.instructions(event);
        let name = format!("{event}, 1, idle");
        let cells = [format!("{rust:.2} instr."), format!("{c:.2} instr."), format!("{:.2}", rust / c)];
        table.row([vec![name], cells.to_vec(), vec!["1.00".to_owned()]].concat());
    }
    let floor = programs.floor();
    let name = "without fields, 1, traced (the floor)".to_owned();
    table.row([name, String::new(), format!("{floor:.2} ns"), String::new(), String::new()]);
    println!("{table}");
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Not built in.
    Off,
    /// Built in, and a session daemon runs, but no session.
    Idle,
    /// A session records, in memory alone.
    Traced,
    /// Two sessions record.
    TwoSessions,
    /// A session records with a filter that accepts all events.
    Filtered,
}

impl State {
    const ALL: [State; 5] = [State::Off, State::Idle, State::Traced, State::TwoSessions, State::Filtered];

    fn name(self) -> &'static str {
        match self {
            State::Off => "off",
            State::Idle => "idle",
            State::Traced => "traced",
            State::TwoSessions => "two sessions",
            State::Filtered => "filtered",
        }
    }

    /// The ratio to reach.
    fn target(self, event: &str) -> &'static str {
        match (self, event) {
            (State::Off | State::Idle, _) => "",
            (State::Traced, "duration") => "0.97",
            (State::Traced, _) => "0.80",
            (State::TwoSessions | State::Filtered, _) => "1.00",
        }
    }

    /// How many events make a round of less than a millisecond; more with several threads, as each round
    /// starts them.
    fn count(self, threads: u32) -> u32 {
        let alone = match self {
            State::Off | State::Idle => 1_000_000,
            _ => 2_000,
        };
        if threads == 1 { alone } else { 10 * alone }
    }

    /// The sessions that record everything in this state.
    fn sessions(self, daemon: &Daemon) -> Vec<Session<'_>> {
        let count = match self {
            State::Off | State::Idle => 0,
            State::TwoSessions => 2,
            _ => 1,
        };
        let start = |_| {
            let session = daemon.snapshot_session();
            let options: &[&str] = if self == State::Filtered { &["--filter", "duration >= 0"] } else { &[] };
            session.enable_with("valkey_*", options);
            session.enable_with("baseline:*", options);
            session.start();
            session
        };
        (0..count).map(start).collect()
    }
}

struct Programs {
    rust_off: PathBuf,
    rust_on: PathBuf,
    c_off: PathBuf,
    c_on: PathBuf,
}

impl Programs {
    fn build() -> Programs {
        let rust = Program::example("valkey-trace", "emit-loop").release();
        let rust_on = rust.clone().traced().build();
        Programs {
            rust_off: rust.build(),
            c_off: compile_c(&rust_on.with_file_name("baseline-off"), &["-DOFF".to_owned()]),
            c_on: compile_baseline(&rust_on.with_file_name("baseline")),
            rust_on,
        }
    }

    /// Nanoseconds an event, in Rust and in C.
    fn measure(&self, event: &str, threads: u32, state: State) -> (f64, f64) {
        let daemon = Daemon::start();
        let _sessions = state.sessions(&daemon);
        let (rust, c) = match state {
            State::Off => (&self.rust_off, &self.c_off),
            _ => (&self.rust_on, &self.c_on),
        };
        let count = state.count(threads);
        let (mut rust, mut c) =
            (start(&daemon, rust, event, threads, count), start(&daemon, c, event, threads, count));
        let mut best = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            best.0 = best.0.min(rust.round());
            best.1 = best.1.min(c.round());
        }
        let count = f64::from(count);
        (best.0 / count, best.1 / count)
    }

    /// Nanoseconds of an event without fields, by the macro: what no probe can do without.
    fn floor(&self) -> f64 {
        let daemon = Daemon::start();
        let _sessions = State::Traced.sessions(&daemon);
        let count = State::Traced.count(1);
        let mut program = start(&daemon, &self.c_on, "nothing", 1, count);
        let best = (0..ROUNDS).map(|_| program.round()).fold(f64::INFINITY, f64::min);
        best / f64::from(count)
    }

    /// Instructions an event that nobody records, in Rust and in C.
    fn instructions(&self, event: &str) -> (f64, f64) {
        (count_instructions(&self.rust_on, event), count_instructions(&self.c_on, event))
    }
}

fn start(daemon: &Daemon, program: &Path, event: &str, threads: u32, count: u32) -> Running {
    let mut command = daemon.command(program);
    command.args([event, &threads.to_string(), &count.to_string()]);
    Running::start(command)
}
