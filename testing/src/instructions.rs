//! Instructions that a program runs, by callgrind.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

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
        valgrind.args(variables).args(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        valgrind.arg(program).args(arguments).arg(count.to_string());
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
        count.trim().parse::<f64>().expect("a number of instructions")
    };
    let first = count / 10;
    (run(first + count) - run(first)) / count as f64
}
