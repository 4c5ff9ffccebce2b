//! Memory and time stay bounded, whatever a trace holds.

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::handwritten::Handwritten;
use crate::run::{json, ltt_top};

/// 40 events with sequences of this many numbers.
fn sequences(length: u32) -> tempfile::TempDir {
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("app:batch", "u32 _length; u8 _numbers[_length]; u64 _latency_us;");
    let numbers = vec![7; length as usize];
    (0..40_u64).for_each(|n| trace.event(class, &[&length.to_le_bytes(), &numbers, &n.to_le_bytes()]));
    trace.write()
}

/// The most memory that `ltt-top slow --format json` had by itself, in kB.
///
/// It is asked while the program waits for somebody to read its output, which does not fit a pipe: by then it
/// has read the trace, and what is left to do is to write.
fn peak_memory(trace: &tempfile::TempDir) -> u64 {
    let mut command = ltt_top(["slow", "-n", "40", "--format", "json", "--threads", "2"]);
    let mut process = command.arg(trace.path()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut output = process.stdout.take().unwrap();
    let mut first = [0];
    output.read_exact(&mut first).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).unwrap();
    assert!(process.wait().unwrap().success());
    assert!(rest.len() > 100_000, "{} bytes fit a pipe", rest.len());
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it was running");
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn long_sequences_take_no_more_memory_than_short_ones() {
    let (short, long) = (peak_memory(&sequences(20_000)), peak_memory(&sequences(1_000_000)));
    // Bytes of the trace pass through memory; what is kept of 40 events is 2.6 MB.
    assert!(long < 100_000, "{long} kB");
    assert!(long < short + 60_000, "{short} kB for 40 times 20 kB, {long} kB for 40 times 1 MB");
}

#[test]
fn many_event_classes_take_time_in_proportion() {
    let seconds = |classes: u32| {
        let mut trace = Handwritten::new("alpha");
        for class in 0..classes {
            trace.class(&format!("app:request_{class}"), "u64 _latency_us;");
        }
        (0..classes).for_each(|class| trace.event(class, &[&u64::from(class).to_le_bytes()]));
        let trace = trace.write();
        ["top", "outliers", "slow", "info"].map(|command| {
            let begin = Instant::now();
            let found = json(ltt_top([command, "-n", "1"]).arg(trace.path()));
            assert_eq!(found["trace"]["events"], classes);
            begin.elapsed()
        })
    };
    let (few, many) = (seconds(4_000), seconds(40_000));
    for (few, many) in few.into_iter().zip(many) {
        // Ten times the classes: ten times the time, and not a hundred times.
        assert!(many < few.max(Duration::from_millis(100)) * 40, "{few:?} and {many:?}");
    }
}
