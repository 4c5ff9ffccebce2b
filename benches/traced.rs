//! What `#[traced]` costs a function, beside the same measurement written by hand.
//!
//! `cargo bench --bench traced` prints a table. Both kinds run at the same time and take turns; the best of
//! many rounds counts. A bench, and no test: nothing fails on a figure.

mod support;

use std::path::Path;

use lttng_testing::{Daemon, Program, Table};
use support::{Running, count_instructions};

const ROUNDS: usize = 400;

/// The kinds of `measure-loop` by the macro and by hand, and the targets idle and traced. By hand nothing is
/// copied, so there is no target for a macro that must.
const PAIRS: [(&str, &str, &str, [&str; 2]); 3] = [
    ("a duration", "traced", "guard", ["1.00", "1.05"]),
    ("a duration and four details", "traced_details", "stopwatch", ["1.00", "1.05"]),
    ("a duration and four details, two copied", "traced_copies", "stopwatch", ["", ""]),
];

fn main() {
    let program = Program::example("valkey-trace", "measure-loop").release().traced().build();
    let mut table = Table::new(
        "A measured function that does nothing, a call",
        &["event with, state", "#[traced]", "by hand", "ratio", "target"],
    );
    for (name, traced, by_hand, [idle_target, traced_target]) in PAIRS {
        let [traced_count, by_hand_count] = [traced, by_hand].map(|kind| count_instructions(&program, kind));
        row(&mut table, &format!("{name}, idle"), "instr.", traced_count, by_hand_count, idle_target);
        let (traced_time, by_hand_time) = times(&program, traced, by_hand);
        row(&mut table, &format!("{name}, traced"), "ns", traced_time, by_hand_time, traced_target);
    }
    println!("{table}");
}

fn row(table: &mut Table, name: &str, unit: &str, traced: f64, by_hand: f64, target: &str) {
    let figures = [traced, by_hand].map(|figure| format!("{figure:.2} {unit}"));
    table.row([name, &figures[0], &figures[1], &format!("{:.2}", traced / by_hand), target]);
}

/// Nanoseconds a call while a session records in memory.
fn times(program: &Path, traced: &str, by_hand: &str) -> (f64, f64) {
    const COUNT: u32 = 2_000;
    let daemon = Daemon::start();
    let session = daemon.snapshot_session();
    session.enable("valkey_*");
    session.start();
    let start = |kind: &str| {
        let mut command = daemon.command(program);
        command.args([kind, "1", &COUNT.to_string()]);
        Running::start(command)
    };
    let (mut traced, mut by_hand) = (start(traced), start(by_hand));
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        best.0 = best.0.min(traced.round());
        best.1 = best.1.min(by_hand.round());
    }
    (best.0 / f64::from(COUNT), best.1 / f64::from(COUNT))
}
