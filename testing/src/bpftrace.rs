//! bpftrace while a test works.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::ChildInTime as _;

/// Runs a script of bpftrace, and some work after it has attached to all probes; returns what the script prints. Ask
/// [`need_bpftrace`](crate::need_bpftrace) first.
pub fn bpftrace(script: &str, work: impl FnOnce()) -> String {
    // bpftrace prints nothing before it has attached to all probes.
    let script = format!("{script} interval:ms:50 {{ printf(\"attached\\n\"); }}");
    let mut command = Command::new("bpftrace");
    // Room for all that a test prints, because bpftrace may not run for seconds on a busy machine.
    command.args(["-B", "line", "-e", &script]).env("BPFTRACE_PERF_RB_PAGES", "1024").stdout(Stdio::piped());
    let mut process = command.spawn().expect("bpftrace was here a moment ago");
    let mut output = BufReader::new(process.stdout.take().expect("it is piped"));
    let mut printed = String::new();
    let mut wait = |printed: &mut String| {
        let mut line = String::new();
        while line != "attached\n" {
            line.clear();
            if output.read_line(&mut line).expect("bpftrace prints text") == 0 {
                panic!("bpftrace has ended: {script}\n{printed}");
            }
            printed.push_str(&line);
        }
    };
    wait(&mut printed);
    work();
    // When it is interrupted, it does not look once more at what it has not read; it has when it has printed twice.
    (0..3).for_each(|_| wait(&mut printed));
    kill_process(Pid::from_child(&process), Signal::INT).expect("bpftrace is our child");
    output.read_to_string(&mut printed).expect("bpftrace prints text");
    assert!(process.wait_in_time().expect("bpftrace is our child").success(), "{script}");
    printed
}
