//! Runs the program itself, and reads what it writes as it comes.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use lttng_testing::DEADLINE;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

pub use crate::cli::run::{json, ltt_top};

/// The program while it runs; dropping it ends it.
pub struct Running {
    process: Child,
    /// What it writes, until nobody reads that any more.
    out: Option<BufReader<ChildStdout>>,
}

/// How the program ended.
#[derive(Debug)]
pub struct Ended {
    pub status: Option<i32>,
    /// What it wrote since it was last read.
    pub out: String,
    pub err: String,
}

impl Running {
    pub fn start(mut command: Command) -> Running {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let out = BufReader::new(process.stdout.take().expect("its output is piped"));
        Running { process, out: Some(out) }
    }

    /// The next line that it writes; empty at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.as_mut().expect("it is read").read_line(&mut line).expect("it writes UTF-8");
        line
    }

    /// The next line that it writes to standard error.
    pub fn error_line(&mut self) -> String {
        let errors = self.process.stderr.as_mut().expect("its errors are piped");
        let mut line = Vec::new();
        let mut byte = [0];
        while line.last() != Some(&b'\n') && errors.read(&mut byte).expect("it writes") == 1 {
            line.push(byte[0]);
        }
        String::from_utf8(line).expect("it writes UTF-8")
    }

    /// The next object that it writes.
    pub fn object(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Reads objects until one is as it should be.
    #[track_caller]
    pub fn until(&mut self, is_right: impl Fn(&Value) -> bool) -> Value {
        let patience = Instant::now() + DEADLINE;
        loop {
            let object = self.object();
            if is_right(&object) {
                return object;
            }
            assert_ne!(object["is_last"], true, "{object}");
            assert!(Instant::now() < patience, "none is as it should be within {DEADLINE:?}: {object}");
        }
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("it runs");
    }

    /// Reads no more, and waits for its end; `poke` gives it something to write.
    pub fn close_output(mut self, mut poke: impl FnMut()) -> Option<i32> {
        self.out = None;
        let mut status = None;
        lttng_testing::wait_until("it ends", || {
            poke();
            status = self.process.try_wait().expect("it is our child");
            status.is_some()
        });
        status.and_then(|status| status.code())
    }

    /// Sends a signal again and again until it ends: the first may come before there is a handler.
    pub fn end_by(mut self, signal: Signal) -> Ended {
        lttng_testing::wait_until("it ends", || {
            let has_ended = self.process.try_wait().expect("it is our child").is_some();
            if !has_ended {
                self.signal(signal);
                std::thread::sleep(Duration::from_millis(100));
            }
            has_ended
        });
        self.end()
    }

    /// Reads to its end.
    pub fn end(mut self) -> Ended {
        let mut out = self.out.take().expect("it is read");
        let mut err = self.process.stderr.take().expect("its errors are piped");
        let read = lttng_testing::must_end("its output", move || {
            let [mut said, mut complained] = [String::new(), String::new()];
            out.read_to_string(&mut said).expect("it writes UTF-8");
            err.read_to_string(&mut complained).expect("it writes UTF-8");
            (said, complained)
        });
        let status = self.process.wait().expect("it is our child").code();
        Ended { status, out: read.0, err: read.1 }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
