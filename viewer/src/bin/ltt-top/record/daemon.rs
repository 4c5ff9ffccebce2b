//! A session daemon: the running one, or else a new one.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::lttng::{answers, missing, tool};
use crate::outcome::Trouble;

/// How long a daemon may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A session daemon; if it was started here, it is stopped when this is dropped.
pub struct Daemon {
    process: Option<Child>,
}

impl Daemon {
    /// Finds the running daemon, or starts one.
    pub fn find_or_start() -> Result<Daemon, Trouble> {
        if answers()? {
            return Ok(Daemon { process: None });
        }
        let mut command = tool("lttng-sessiond");
        command.arg("--no-kernel").stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().map_err(|error| missing("lttng-sessiond", &error))?;
        let mut daemon = Daemon { process: Some(process) };
        let begin = Instant::now();
        while !answers()? {
            if let Some(status) = daemon.process.as_mut().and_then(|process| process.try_wait().ok()?) {
                return Err(Trouble::Failed(format!(
                    "lttng-sessiond ended at once ({status}): is another one running, or is its folder not writable?"
                )));
            }
            if begin.elapsed() > PATIENCE {
                return Err(Trouble::Failed("lttng-sessiond was started but does not answer".into()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(daemon)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            end(process);
        }
    }
}

/// Ends a process that was started here, and waits for it.
pub fn end(process: &mut Child) {
    if let Ok(None) = process.try_wait() {
        _ = kill_process(Pid::from_child(process), Signal::TERM);
        _ = process.wait();
    }
}
