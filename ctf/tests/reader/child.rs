//! Memory that a part of a test takes, counted in a separate process because tests share one.

use std::process::Command;
use std::{env, process};

use lttng_testing::CountingAllocator;

#[global_allocator]
pub static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// Set in the environment of the child.
const IS_CHILD: &str = "CTF_READER_TEST_CHILD";

/// Runs part of a test in a separate process, and returns the most bytes that it had allocated at a time.
///
/// That process is this test binary, made to run the same test again, which is named by its path in the binary.
#[track_caller]
pub fn peak_memory_of(test: &str, part: impl FnOnce()) -> usize {
    if env::var_os(IS_CHILD).is_some() {
        let ((), peak) = ALLOCATOR.peak_of(part);
        println!("\n{MARK}{peak}");
        process::exit(0);
    }
    let mut command = Command::new(env::current_exe().expect("the test binary is a file"));
    command
        .args(["--exact", test, "--nocapture", "--test-threads=1", "--include-ignored"])
        .env(IS_CHILD, "1");
    let output = command.output().expect("the test binary runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}{err}", output.status);
    let peak = out.lines().find_map(|line| line.strip_prefix(MARK)?.parse().ok());
    peak.unwrap_or_else(|| panic!("no test is called `{test}`: {out}{err}"))
}

/// What stands before the figure in the child's output.
const MARK: &str = "peak memory in bytes: ";
