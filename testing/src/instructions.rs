//! Instructions that a program runs, by callgrind.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{ChildInTime as _, Daemon};

/// The instructions for each of the things that a program's last argument counts, without those at its start and end, where
/// a daemon traces it with these variables in its environment (`NAME=VALUE`). Ask for valgrind with
/// [`need`](crate::need) first.
pub fn instructions_each(
    daemon: &Daemon,
    variables: &[&str],
    program: &Path,
    arguments: &[&str],
    count: u64,
) -> f64 {
    let run = |count: u64| {
        let mut valgrind = daemon.command("env");
        valgrind.args(variables).args(VALGRIND).arg(program).args(arguments).arg(count.to_string());
        collected(&mut valgrind)
    };
    let first = count / 10;
    (run(first + count) - run(first)) / count as f64
}

/// The instructions that a program runs. Ask for valgrind with [`need`](crate::need) first.
pub fn instructions(program: &Command) -> f64 {
    let mut valgrind = Command::new("env");
    valgrind.args(VALGRIND).arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => valgrind.env(name, value),
            None => valgrind.env_remove(name),
        };
    }
    collected(&mut valgrind)
}

const VALGRIND: [&str; 3] = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];

fn collected(valgrind: &mut Command) -> f64 {
    // Those that do a round for each line get one.
    let mut process = valgrind
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("valgrind: {error}; run `make setup`"));
    let _ = process.stdin.take().map(|mut input| input.write_all(b"\n"));
    let output = process.output_in_time().expect("valgrind ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let collected = errors.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = collected.unwrap_or_else(|| panic!("{errors}"));
    count.trim().parse().expect("a number of instructions")
}
