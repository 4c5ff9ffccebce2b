//! What benchmarks have in common: a program that does a round when it is told to, and its instructions.
#![allow(dead_code, reason = "each bench uses some of it")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lttng_testing::workspace;

/// A program that does a round for each line that it is given.
pub struct Running {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Running {
    /// Starts it.
    pub fn start(mut command: Command) -> Running {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        Running { process, input, output }
    }

    /// The nanoseconds of a round.
    pub fn round(&mut self) -> f64 {
        let mut line = String::new();
        self.input.as_mut().expect("it is open").write_all(b"\n").expect("the program reads");
        self.output.read_line(&mut line).expect("the program answers");
        line.trim().parse().expect("nanoseconds")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // At the end of its input the program ends.
        self.input = None;
        let _ = self.process.wait();
    }
}

/// What callgrind counts within the function `loop_EVENT`, an iteration.
pub fn count_instructions(program: &Path, event: &str) -> f64 {
    const COUNT: u32 = 100_000;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", &format!("--toggle-collect=loop_{event}")])
        .arg(format!("--callgrind-out-file={}", folder.path().join("out").display()))
        .arg(program)
        .args([event, "1", &COUNT.to_string()])
        .env("LTTNG_HOME", folder.path())
        .env("LTTNG_UST_REGISTER_TIMEOUT", "0");
    collected(valgrind) / f64::from(COUNT)
}

/// What callgrind collected of a program, which gets one line of input.
pub fn collected(mut valgrind: Command) -> f64 {
    let mut process = valgrind
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("valgrind is installed: run `make setup`");
    // Those that need none may have ended.
    let _ = process.stdin.take().expect("it is piped").write_all(b"\n");
    let output = process.wait_with_output().expect("valgrind ends");
    let report = String::from_utf8_lossy(&output.stderr);
    let collected =
        report.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, count)| count.trim());
    let collected = collected.unwrap_or_else(|| panic!("callgrind collected nothing:\n{report}"));
    collected.parse::<f64>().expect("a number of instructions")
}

/// The loops of `emit-loop` in C, with LTTng's own macros.
pub fn compile_baseline(program: &Path) -> PathBuf {
    compile_c(program, &lttng_flags())
}

/// Compiles `baseline.c`, and returns the program.
pub fn compile_c(program: &Path, flags: &[String]) -> PathBuf {
    compile("baseline.c", program, flags)
}

/// Compiles a file of `producer/`, and returns the program.
pub fn compile(source: &str, program: &Path, flags: &[String]) -> PathBuf {
    let folder = workspace().join("benches/producer");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-pthread", "-I."]).current_dir(folder).arg(source).arg("-o").arg(program).args(flags);
    assert!(cc.status().expect("a C compiler is installed").success(), "{cc:?}");
    program.to_owned()
}

/// What a C program that uses LTTng is compiled with.
pub fn lttng_flags() -> Vec<String> {
    let mut pkg_config = Command::new("pkg-config");
    let output =
        pkg_config.args(["--cflags", "--libs", "lttng-ust"]).output().expect("pkg-config is installed");
    assert!(output.status.success(), "{pkg_config:?}");
    String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect()
}
