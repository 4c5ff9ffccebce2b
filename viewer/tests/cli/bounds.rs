//! Memory and time stay bounded, whatever a trace holds.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use lttng_testing::{instructions, need};

use super::handwritten::Handwritten;
use super::run::ltt_top;

/// 40 events with sequences of this many numbers.
fn sequences(length: u32) -> tempfile::TempDir {
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("app:batch", "u32 _length; u8 _numbers[_length]; u64 _latency_us;");
    let numbers = vec![7; length as usize];
    (0..40_u64).for_each(|n| trace.event(class, &[&length.to_le_bytes(), &numbers, &n.to_le_bytes()]));
    trace.write()
}

/// The most bytes that `ltt-top slow` had allocated at a time, counted by a preloaded library.
fn peak_memory(counter: &Path, trace: &Path) -> u64 {
    let file = trace.join("peak");
    let mut command = ltt_top(["slow", "-n", "40", "--format", "json", "--threads", "2"]);
    let output =
        command.arg(trace).env("LD_PRELOAD", counter).env("PEAK_FILE", &file).output().expect("it runs");
    assert!(output.status.success() && output.stdout.len() > 100_000, "{output:?}");
    fs::read_to_string(file).expect("the library has counted").trim().parse().expect("a number")
}

#[test]
fn long_sequences_take_no_more_memory_than_short_ones() {
    let folder = tempfile::tempdir().unwrap();
    let counter = folder.path().join("peak.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/peak.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&counter).arg(source);
    assert!(cc.status().expect("a C compiler is installed: run `make setup`").success());
    let [short, long] = [20_000, 1_000_000].map(|length| peak_memory(&counter, sequences(length).path()));
    // Bytes of the trace pass through memory; what is kept of 40 events is 2.6 MB.
    assert!(long < short + 40_000_000, "{short} bytes for 40 times 20 kB, {long} bytes for 40 times 1 MB");
}

/// The instructions that a command takes for a trace with this many event classes.
fn instructions_for(command: &str, classes: u32) -> f64 {
    let mut trace = Handwritten::new("alpha");
    for class in 0..classes {
        trace.class(&format!("app:request_{class}"), "u64 _latency_us;");
    }
    (0..classes).for_each(|class| trace.event(class, &[&u64::from(class).to_le_bytes()]));
    let trace = trace.write();
    instructions(ltt_top([command, "-n", "1", "--format", "json", "--threads", "1"]).arg(trace.path()))
}

#[test]
#[ignore = "make check: valgrind"]
fn many_event_classes_take_time_in_proportion() {
    if !need("valgrind") {
        return;
    }
    let start = instructions_for("info", 1);
    for command in ["top", "outliers"] {
        // Without those of the start, four times the classes: four times the instructions, and not sixteen times.
        let [few, many] = [50, 200].map(|classes| instructions_for(command, classes) - start);
        assert!(many < few * 8.0, "{command}: {few} and {many} instructions");
    }
}
