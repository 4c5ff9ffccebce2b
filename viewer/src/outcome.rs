//! How a command ends, and what to say if it fails.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use std::{fmt, thread};

use ctf_reader::Error;
use ltt_analysis::Failure;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How a command ended.
pub enum Outcome {
    /// The result is complete as far as the trace goes.
    Complete,
    /// Part of the trace is damaged and was left out.
    Damaged,
    /// A change is beyond a limit that was given.
    Exceeded,
}

/// Why there is no result: one line that says what is wrong, where, and what to do.
pub enum Trouble {
    /// Nothing could be read or written.
    Failed(String),
    /// The command line makes no sense, at least for this trace.
    Usage(String),
    /// The output is no longer read, which is not an error.
    BrokenPipe,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Failed(message) | Trouble::Usage(message) => f.write_str(message),
            Trouble::BrokenPipe => f.write_str("broken pipe"),
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Failed(error.to_string())
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Trouble::BrokenPipe,
            io::ErrorKind::Unsupported => Trouble::Usage(error.to_string()),
            _ => Trouble::Failed(format!("cannot write the result: {error}")),
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Source(error) => error.into(),
            misfit => Trouble::Usage(misfit.to_string()),
        }
    }
}

/// How long to wait for a standard error that accepts nothing, such as a terminal after Ctrl-S.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often to wait that long while it would accept more: the machine is slow then.
const ROUNDS: usize = 20;

/// Writes a line to standard error. A closed, full or blocked one neither ends the program nor holds it up: what was
/// started must be stopped all the same.
pub fn tell(message: &str) {
    static IS_BLOCKED: AtomicBool = AtomicBool::new(false);
    if IS_BLOCKED.load(Ordering::Relaxed) {
        return;
    }
    let line = format!("ltt-top: {message}\n");
    let (written, is_written) = channel();
    thread::spawn(move || {
        _ = io::stderr().write_all(line.as_bytes());
        _ = written.send(());
    });
    for round in 1..=ROUNDS {
        if is_written.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        if round == ROUNDS || !accepts_more() {
            IS_BLOCKED.store(true, Ordering::Relaxed);
            return;
        }
    }
}

/// Whether standard error would take more now, or has ended.
fn accepts_more() -> bool {
    let errors = io::stderr();
    let mut look = [PollFd::new(&errors, PollFlags::OUT)];
    poll(&mut look, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Writes a warning about the result to standard error.
pub fn warn(message: &str) {
    tell(&format!("warning: {message}"));
}
