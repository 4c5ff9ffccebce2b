//! bpftrace while a test works.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};

use crate::ChildInTime as _;

/// Runs a script of bpftrace, and some work after it has attached to all probes; returns what the script prints. Ask
/// [`need_bpftrace`](crate::need_bpftrace) first.
pub fn bpftrace(script: &str, work: impl FnOnce()) -> String {
    // bpftrace prints nothing before it has attached to all probes.
    let script = format!("{script} interval:ms:50 {{ printf(\"attached %llu\\n\", nsecs); }}");
    let mut command = Command::new("bpftrace");
    // Room for all that a test prints, because bpftrace may not run for seconds on a busy machine.
    command.args(["-B", "line", "-e", &script]).env("BPFTRACE_PERF_RB_PAGES", "1024").stdout(Stdio::piped());
    let mut process = command.spawn().expect("bpftrace was here a moment ago");
    let mut output = BufReader::new(process.stdout.take().expect("it is piped"));
    let mut printed = String::new();
    let mut wait_until_after = |time: u64, printed: &mut String| loop {
        let mut line = String::new();
        if output.read_line(&mut line).expect("bpftrace prints text") == 0 {
            panic!("bpftrace has ended: {script}\n{printed}");
        }
        printed.push_str(&line);
        let told = line.strip_prefix("attached ").and_then(|time| time.trim().parse::<u64>().ok());
        if let Some(told) = told.filter(|told| *told > time) {
            return told;
        }
    };
    wait_until_after(0, &mut printed);
    work();
    let now = clock_gettime(ClockId::Monotonic);
    let now = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
    // When it is interrupted, it does not look once more at what it has not read; it has when it has printed twice since. Lines that it
    // printed while the work went on are still to be read.
    (0..3).fold(now, |time, _| wait_until_after(time, &mut printed));
    kill_process(Pid::from_child(&process), Signal::INT).expect("bpftrace is our child");
    output.read_to_string(&mut printed).expect("bpftrace prints text");
    assert!(process.wait_in_time().expect("bpftrace is our child").success(), "{script}");
    printed
}
