//! What the layer of `lttng-provider-tracing` costs a span: while no session records, beside the same span without the
//! layer; and recorded, beside tracing's own log and a function with `#[traced]`.
//!
//! `cargo bench --bench bridge` prints two tables. Nothing fails on a figure.

mod support;

use lttng_testing::{Daemon, Program, Table};
use support::{Running, count_instructions};

const ROUNDS: usize = 200;

/// Kinds of `bridge-loop`, each with the one that it is compared with.
const IDLE: [(&str, &str, &str); 5] = [
    ("#[traced], without a span", "traced", "bare"),
    ("the layer alone, a span of the catalog", "alone", "bare"),
    ("the layer alone, another span", "alone_unnamed", "bare"),
    ("beside another layer, a span of the catalog", "beside", "other"),
    ("beside another layer, another span", "beside_unnamed", "other"),
];

fn main() {
    let program = Program::example("valkey-trace", "bridge-loop").release().traced().build();
    let mut table =
        Table::new("A span while no session records, instructions", &["with", "with it", "without", "more"]);
    for (name, with, without) in IDLE {
        let [with, without] = [with, without].map(|kind| count_instructions(&program, kind));
        table.row([name, &format!("{with:.0}"), &format!("{without:.0}"), &format!("{:.0}", with - without)]);
    }
    println!("{table}");

    const COUNT: u32 = 2_000;
    let daemon = Daemon::start();
    let session = daemon.snapshot_session();
    session.enable("valkey_commands:command_call");
    session.start();
    let kinds = ["traced", "alone", "log", "other"];
    let mut running = kinds.map(|kind| {
        let mut command = daemon.command(&program);
        command.args([kind, "1", &COUNT.to_string()]);
        Running::start(command)
    });
    let mut best = [f64::INFINITY; 4];
    for _ in 0..ROUNDS {
        for (best, running) in best.iter_mut().zip(&mut running) {
            *best = best.min(running.round() / f64::from(COUNT));
        }
    }
    let mut table = Table::new("A span with four fields, recorded", &["by", "ns", "beside the layer"]);
    let names =
        ["#[traced], without a span", "the layer", "tracing's log to nowhere", "a layer that does nothing"];
    for (name, time) in names.into_iter().zip(best) {
        table.row([name, &format!("{time:.0}"), &format!("{:.2}", time / best[1])]);
    }
    println!("{table}");
}
