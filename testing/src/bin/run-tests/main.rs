//! Runs a test binary for Cargo, with a deadline for each test: a test that hangs fails by its name, what it started is
//! killed, and the other tests run.
//!
//!     cargo --config "target.'cfg(all())'.runner = 'target/debug/run-tests'" test
//!
//! libtest has no deadlines, but it says after a minute that a test still runs, which is where this one's clock starts. A
//! whole `cargo test --doc` can be run by it, too; after a test that hangs, the others do not run then.
//!
//!     run-tests --all LIST
//!
//! runs all test binaries, several at a time, that `cargo test --no-run --message-format=json` has listed in a file.
//!
//! TEST_DEADLINE: seconds that a test may take. Unless it is set, 120, and more where the machine has more to run than it has
//! processors.
//! TEST_RESULTS: a file to which it adds a line `PASSED<tab>FAILED`, and a line `failed<tab>NAME` for each that failed.

mod all;

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};
use std::{env, thread};

use lttng_testing::{
    CommandInTime as _, kill_descendants, kill_tree, patience, reap_orphans, start_with_default_signals,
};

/// After this time libtest says that a test still runs.
const TOLD_AFTER: Duration = Duration::from_secs(60);

/// How often to look at the tests that run.
const TICK: Duration = Duration::from_millis(200);

/// How long a binary that has ended may still be heard.
const LAST_WORDS: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("usage: run-tests PROGRAM [ARGUMENT]... | run-tests --all LIST");
        return ExitCode::from(2);
    };
    let arguments: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    start_with_default_signals();
    if let ("--all", [list]) = (&*program.to_string_lossy(), &arguments[..]) {
        return all::run(list);
    }
    // What a test leaves behind becomes ours, to be killed.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));

    let mut run = Run::new(PathBuf::from(program), arguments);
    let start = Instant::now();
    while run.round() {}
    println!("{} took {:.1} s", run.name, start.elapsed().as_secs_f64());
    let left = kill_descendants();
    if !left.is_empty() {
        println!("left running by {} and killed:\n{left}", run.name);
    }
    run.write_results();
    if run.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(101) }
}

/// All rounds of a binary: one, and another after each test that hung.
struct Run {
    program: PathBuf,
    name: String,
    arguments: Vec<String>,
    /// What ran already, whatever the result.
    done: BTreeSet<String>,
    passed: usize,
    failed: Vec<String>,
    /// How long a test may take, if that is set.
    deadline: Option<Duration>,
    /// Whether it is a whole `cargo test`, which cannot run the rest of its tests.
    is_cargo: bool,
}

/// What a line of libtest says.
#[derive(Debug, PartialEq)]
enum Line<'l> {
    Ended { name: &'l str, passed: bool },
    StillRuns(&'l str),
    Other,
}

impl Run {
    fn new(program: PathBuf, arguments: Vec<String>) -> Run {
        let name = name(&program);
        let is_cargo = name == "cargo";
        let deadline = env::var("TEST_DEADLINE").ok().and_then(|text| text.parse().ok());
        let deadline = deadline.map(Duration::from_secs);
        let (done, failed) = (BTreeSet::new(), Vec::new());
        Run { program, name, arguments, done, passed: 0, failed, deadline, is_cargo }
    }

    /// Runs all tests that have not run; returns whether some remain because one hung.
    fn round(&mut self) -> bool {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if !self.is_cargo {
            if !self.arguments.iter().any(|word| word.starts_with("--test-threads")) {
                command.arg(format!("--test-threads={}", threads()));
            }
            if !self.done.is_empty() {
                let rest: Vec<String> =
                    self.list().into_iter().filter(|test| !self.done.contains(test)).collect();
                if rest.is_empty() {
                    return false;
                }
                command.arg("--exact").args(rest);
            }
        }
        let child = command.stdout(Stdio::piped()).spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                println!("{}: {error}", self.program.display());
                self.failed.push(self.name.clone());
                return false;
            }
        };
        let before = (self.passed, self.failed.len());
        match self.follow(&mut child) {
            Ok(is_libtest) => {
                let status = child.wait();
                match status {
                    // A test without libtest is one test.
                    Ok(status) if status.success() => {
                        let counted = is_libtest || self.passed > before.0;
                        self.passed += usize::from(!counted);
                    }
                    // A test that fails is a failure of libtest, too.
                    Ok(status) if self.failed.len() > before.1 && status.code() == Some(101) => {}
                    status => {
                        let status =
                            status.map_or_else(|error| error.to_string(), |status| status.to_string());
                        println!("{} ended before its tests: {status}", self.name);
                        self.failed.push(self.name.clone());
                    }
                }
                false
            }
            Err(Hang { test }) => {
                let who = test.as_deref().unwrap_or("no test");
                println!("test {who} ... FAILED: no end after {} s. Threads:", self.limit().as_secs());
                println!("{}", kill_tree(child.id()));
                let _ = child.wait();
                println!("What this run of {} printed about tests that failed before is lost.", self.name);
                self.failed.push(format!("{}::{who} (hung)", self.name));
                let goes_on = test.is_some() && !self.is_cargo;
                self.done.extend(test);
                goes_on
            }
        }
    }

    /// Passes on what the binary prints until it ends or hangs; returns whether it sums up its tests as libtest does.
    fn follow(&mut self, child: &mut Child) -> Result<bool, Hang> {
        let lines = lines(child);
        let mut is_libtest = false;
        let mut running: Vec<(String, Instant)> = Vec::new();
        let (mut heard, mut reaped) = (Instant::now(), Instant::now());
        loop {
            if reaped.elapsed() > TICK {
                reap_orphans(child.id());
                reaped = Instant::now();
            }
            match lines.recv_timeout(TICK) {
                Ok(line) => {
                    println!("{line}");
                    heard = Instant::now();
                    is_libtest |= line.starts_with("test result: ");
                    match parse(&line) {
                        Line::Ended { name, passed } => {
                            running.retain(|(test, _)| test != name);
                            self.done.insert(name.to_owned());
                            if passed {
                                self.passed += 1;
                            } else {
                                self.failed.push(format!("{}::{name}", self.name));
                            }
                        }
                        Line::StillRuns(name) => running.push((name.to_owned(), Instant::now())),
                        Line::Other => {}
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(is_libtest),
                // What a test left running may hold its output open.
                Err(RecvTimeoutError::Timeout) if heard.elapsed() > LAST_WORDS && has_ended(child) => {
                    return Ok(is_libtest);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let late = |told: &Instant| told.elapsed() + TOLD_AFTER >= self.limit();
            if let Some((test, _)) = running.iter().find(|(_, told)| late(told)) {
                return Err(Hang { test: Some(test.clone()) });
            }
            // Compiling examples of documentation takes its time.
            if heard.elapsed() > self.limit() * 3 {
                return Err(Hang { test: None });
            }
        }
    }

    fn limit(&self) -> Duration {
        self.deadline.unwrap_or_else(|| patience(Duration::from_secs(120)))
    }

    /// The names of the tests that these arguments choose.
    fn list(&self) -> Vec<String> {
        let mut command = Command::new(&self.program);
        let output = command.args(&self.arguments).args(["--list", "--format=terse"]).output_in_time();
        let output = output.map(|output| output.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&output).into_owned();
        text.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect()
    }

    fn write_results(&self) {
        let Some(path) = env::var_os("TEST_RESULTS") else { return };
        let mut text = format!("{}\t{}\n", self.passed, self.failed.len());
        self.failed.iter().for_each(|name| text += &format!("failed\t{name}\n"));
        let file = OpenOptions::new().append(true).create(true).open(&path);
        if let Err(error) = file.and_then(|mut file| file.write_all(text.as_bytes())) {
            panic!("{}: {error}", Path::new(&path).display());
        }
    }
}

/// A test that does not end, or something that is not a test.
struct Hang {
    test: Option<String>,
}

fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

fn parse(line: &str) -> Line<'_> {
    let Some(rest) = line.strip_prefix("test ") else { return Line::Other };
    if let Some(name) = rest.strip_suffix(" has been running for over 60 seconds") {
        return Line::StillRuns(plain(name));
    }
    match rest.rsplit_once(" ... ") {
        Some((name, "ok")) => Line::Ended { name: plain(name), passed: true },
        Some((name, result)) if result.starts_with("FAILED") => {
            Line::Ended { name: plain(name), passed: false }
        }
        _ => Line::Other,
    }
}

/// The name by which a test can be chosen.
fn plain(name: &str) -> &str {
    name.strip_suffix(" - should panic").unwrap_or(name)
}

/// The name of a binary without the hash that Cargo adds.
fn name(program: &Path) -> String {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 => name.to_owned(),
        _ => stem,
    }
}

/// Tests wait for daemons more than they compute. With a single thread libtest would not say that a test still runs.
fn threads() -> usize {
    let default = available_parallelism().map_or(2, |threads| threads.get() * 2);
    env::var("RUST_TEST_THREADS").ok().and_then(|text| text.parse().ok()).unwrap_or(default).max(2)
}

fn lines(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    let mut output = BufReader::new(child.stdout.take().expect("it is a pipe"));
    thread::spawn(move || {
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
            line.clear();
            if sender.send(text).is_err() {
                break;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_libtest_are_understood() {
        let ended = |name, passed| Line::Ended { name, passed };
        assert_eq!(parse("test a::b ... ok"), ended("a::b", true));
        assert_eq!(parse("test a::b - should panic ... FAILED"), ended("a::b", false));
        assert_eq!(parse("test src/lib.rs - a (line 7) ... ok"), ended("src/lib.rs - a (line 7)", true));
        assert_eq!(parse("test a has been running for over 60 seconds"), Line::StillRuns("a"));
        assert_eq!(parse("test a ... ignored, make check: slow"), Line::Other);
        assert_eq!(parse("test result: ok. 1 passed; 0 failed"), Line::Other);
    }

    #[test]
    fn hash_of_cargo_is_not_part_of_the_name() {
        assert_eq!(name(Path::new("/target/debug/deps/end_to_end-0123456789abcdef")), "end_to_end");
        assert_eq!(name(Path::new("/bin/cargo")), "cargo");
    }
}
