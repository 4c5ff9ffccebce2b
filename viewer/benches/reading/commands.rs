//! What commands take beside `top`, by traces of real programs.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lttng_testing::Table;

/// The number of rounds, in each of which all commands of all programs take turns.
const ROUNDS: usize = 9;

/// The commands, and the place of the one that each is compared with.
const COMMANDS: [(&str, usize); 4] = [("top", 0), ("outliers", 0), ("incidents", 0), ("html", 2)];

/// A table for a trace: of each program the best round, and the ratio to another command of the best and of the median round.
/// `BESIDE` names another `ltt-top`.
pub fn table(trace: &Path) -> Table {
    let other = env::var("BESIDE").ok();
    let programs: Vec<&str> = [env!("CARGO_BIN_EXE_ltt-top")].into_iter().chain(other.as_deref()).collect();
    let mut times = vec![[const { Vec::<Duration>::new() }; COMMANDS.len()]; programs.len()];
    for _ in 0..ROUNDS {
        for (place, (command, _)) in COMMANDS.iter().enumerate() {
            for (program, times) in programs.iter().zip(&mut times) {
                times[place].push(time(program, command, trace));
            }
        }
    }
    let title = format!("Commands beside others, {}: {ROUNDS} rounds", trace.display());
    let mut table = Table::new(&title, &["command", "best, s", "beside", "ratio, best", "median"]);
    for (program, times) in programs.iter().zip(&times) {
        for ((command, than), taken) in COMMANDS.iter().zip(times) {
            let (best, of_other) = (taken.iter().min(), times[*than].iter().min());
            let [best, of_other] = [best, of_other].map(|time| time.expect("there are rounds").as_secs_f64());
            let mut ratios: Vec<f64> = taken
                .iter()
                .zip(&times[*than])
                .map(|(time, than)| time.as_secs_f64() / than.as_secs_f64())
                .collect();
            ratios.sort_by(f64::total_cmp);
            table.row([
                if program == &programs[0] { (*command).to_owned() } else { format!("{command}, BESIDE") },
                format!("{best:.3}"),
                COMMANDS[*than].0.to_owned(),
                format!("{:.2}", best / of_other),
                format!("{:.2}", ratios[ROUNDS / 2]),
            ]);
        }
    }
    table
}

fn time(program: &str, command: &str, trace: &Path) -> Duration {
    let page = concat!(env!("CARGO_TARGET_TMPDIR"), "/commands.html");
    let mut run = Command::new(program);
    match command {
        "html" => run.args(["html", "--force", "--output", page]).stderr(Stdio::null()),
        _ => run.args([command, "--format=json"]),
    };
    let start = Instant::now();
    assert!(run.arg(trace).stdout(Stdio::null()).status().expect("it is a program").success(), "{run:?}");
    start.elapsed()
}
