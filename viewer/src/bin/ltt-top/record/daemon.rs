//! A session daemon: the running one, or else a new one.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::lttng::{answers, daemon_pid, missing, tool};
use super::proc;
use super::process::{OwnedProcess, deadline};
use super::run_folder::RunFolder;
use crate::outcome::Trouble;

/// A session daemon; if it was started here, it is stopped when this is dropped.
pub struct Daemon {
    process: Option<OwnedProcess>,
}

impl Daemon {
    /// Finds the running daemon, or starts one.
    pub fn find_or_start(run: &RunFolder) -> Result<Daemon, Trouble> {
        if answers()? {
            return Ok(Daemon { process: None });
        }
        let mut command = tool("lttng-sessiond");
        command.arg("--no-kernel").stdout(Stdio::null()).stderr(Stdio::null());
        let started = OwnedProcess::spawn(&mut command, deadline());
        let mut process = started.map_err(|error| missing("lttng-sessiond", &error))?;
        run.note(process.id())?;
        let begin = Instant::now();
        while !answers()? {
            if let Some(status) = process.ended() {
                return Err(Trouble::Failed(format!(
                    "lttng-sessiond ended at once ({status}): is another one running, or is its folder not writable?"
                )));
            }
            if begin.elapsed() > deadline() {
                return Err(Trouble::Failed(format!(
                    "lttng-sessiond was started but does not answer within {} s; {}",
                    deadline().as_secs_f64(),
                    proc::threads(process.id())
                )));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Daemon { process: Some(process) })
    }

    /// How it ended by itself, if it has: one that others started, by no longer answering.
    pub fn failure(&mut self) -> Option<String> {
        match &mut self.process {
            Some(process) => process.ended().map(|status| format!("lttng-sessiond died ({status})")),
            None => (!answers().unwrap_or(false)).then(|| "the session daemon no longer answers".into()),
        }
    }

    /// Whether it was started here.
    pub fn is_ours(&self) -> bool {
        self.process.is_some()
    }
}

/// The session daemon of this machine, while its sessions are watched.
pub struct LocalDaemon(u32);

impl LocalDaemon {
    /// The daemon that runs here, if one of these hosts is this one.
    pub fn of(mut hosts: impl Iterator<Item = String>) -> Option<LocalDaemon> {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let is_here = hosts.any(|host| host == name.trim());
        daemon_pid().filter(|_| is_here).map(LocalDaemon).filter(LocalDaemon::runs)
    }

    fn runs(&self) -> bool {
        Path::new("/proc").join(self.0.to_string()).exists()
    }

    /// Whether it has gone.
    pub fn failure(&self) -> Option<String> {
        let LocalDaemon(pid) = self;
        (!self.runs())
            .then(|| format!("the session daemon (process {pid}) is gone, and the last events with it"))
    }
}
