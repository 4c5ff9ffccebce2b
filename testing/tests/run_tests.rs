//! The program that gives each test a deadline, with tests that hang.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use lttng_testing::{BUILD_DEADLINE, CommandInTime as _, wait_until};

/// What a binary with four tests says, of which one hangs and leaves a process that ignores signals. It says so after a
/// minute if it is libtest, and at once here.
const BINARY: &str = r#"#!/bin/sh
case "$*" in
*--list*) printf 'good: test\nhangs: test\nlate: test\nbad: test\n'; exit ;;
*--exact*late*) echo 'test late ... ok'; exit 0 ;;
esac
echo 'test good ... ok'
echo 'test bad ... FAILED'
echo 'test hangs has been running for over 60 seconds'
sh -c 'trap "" TERM; echo $$ > left; sleep 1000' &
trap '' TERM
wait
"#;

#[test]
fn test_that_hangs_fails_by_its_name_and_the_others_run() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("binary-0123456789abcdef");
    fs::write(&binary, BINARY).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    let (printed, results) = run(&binary, folder.path(), "62");
    assert!(printed.contains("test hangs ... FAILED: no end after "), "{printed}");
    assert!(printed.contains(" sleep S (sleeping) in "), "{printed}");
    assert_eq!(results, "2\t2\nfailed\tbinary::bad\nfailed\tbinary::hangs (hung)\n");
    let left = fs::read_to_string(folder.path().join("left")).unwrap();
    let status = Path::new("/proc").join(left.trim()).join("status");
    // Whoever takes in orphans here may not have waited for it yet.
    let is_gone = || !fs::read_to_string(&status).is_ok_and(|status| !status.contains("State:\tZ"));
    wait_until("nothing is left of it", is_gone);
}

#[test]
fn what_a_test_leaves_running_is_killed_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut runner = Command::new(env!("CARGO_BIN_EXE_run-tests"));
    runner.args(["sh", "-c", "echo 'test good ... ok'; sleep 1000 &"]).current_dir(folder.path());
    let output = runner.output_in_time().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("left running by sh and killed:") && printed.contains("sleep"), "{printed}");
    assert!(output.status.success(), "{printed}");
}

#[test]
#[ignore = "make check: libtest says only after a minute that a test hangs"]
fn test_of_libtest_that_hangs_fails_by_its_name_and_the_others_run() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #[test] fn good() {}
        #[test] fn hangs() { loop { std::thread::park() } }
        #[test] fn late() { std::thread::sleep(std::time::Duration::from_secs(61)) }
        #[test] #[should_panic] fn panics() { panic!() }
    "#;
    fs::write(folder.path().join("tests.rs"), source).unwrap();
    let mut rustc = Command::new("rustc");
    rustc.args(["--test", "--edition=2024", "tests.rs"]).current_dir(folder.path());
    assert!(rustc.output_within(BUILD_DEADLINE).unwrap().status.success());
    let (printed, results) = run(&folder.path().join("tests"), folder.path(), "65");
    assert_eq!(results, "3\t1\nfailed\ttests::hangs (hung)\n", "{printed}");
}

#[test]
fn tests_start_with_default_signals_in_a_background_job() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = Command::new("sh");
    job.args(["-c", "trap '' INT QUIT HUP TERM; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_run-tests")]);
    job.args(["sh", "-c", "grep SigIgn: /proc/self/status"]).current_dir(folder.path());
    let printed = String::from_utf8(job.output_in_time().unwrap().stdout).unwrap();
    let mask = printed.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect(&printed);
    // Those of the trap: 1, 2, 3 and 15. The C library has others of its own.
    let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
    assert_eq!(mask & 0x4007, 0, "{printed}");
}

/// What the runner prints, and the results that it writes.
fn run(binary: &Path, folder: &Path, deadline: &str) -> (String, String) {
    let results = folder.join("results");
    let mut runner = Command::new(env!("CARGO_BIN_EXE_run-tests"));
    runner.arg(binary).current_dir(folder).env("TEST_DEADLINE", deadline).env("TEST_RESULTS", &results);
    let output = runner.output_within(BUILD_DEADLINE).unwrap();
    assert_eq!(output.status.code(), Some(101));
    (String::from_utf8(output.stdout).unwrap(), fs::read_to_string(results).unwrap())
}
