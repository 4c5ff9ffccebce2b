//! A session daemon: the running one, or else a new one.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::lttng::{answers, daemon_pid};
use super::owned_process::deadline;
use super::proc::{self, Stat};
use super::run::Run;
use super::usage::Usage;
use crate::outcome::Trouble;

/// A session daemon that this run uses: no other run ends it meanwhile.
pub struct Daemon {
    /// Its process, unless that cannot be seen from here.
    process: Option<Stat>,
    _usage: Usage,
}

impl Daemon {
    /// Finds the running daemon, or starts one.
    pub fn find_or_start(run: &Run) -> Result<Daemon, Trouble> {
        let _start = Usage::start()?;
        let usage = Usage::shared()?;
        if !answers()? {
            let process = run.start("lttng-sessiond", &["--no-kernel".into()])?;
            let begin = Instant::now();
            while !answers()? {
                if !process.is_alive() {
                    return Err(Trouble::Failed(
                        "lttng-sessiond ended at once: is another one running, or is its folder not writable?"
                            .into(),
                    ));
                }
                if begin.elapsed() > deadline() {
                    return Err(Trouble::Failed(format!(
                        "lttng-sessiond was started but does not answer within {} s; {}",
                        deadline().as_secs_f64(),
                        proc::threads(process.pid)
                    )));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        let process = daemon_pid().and_then(Stat::of).filter(|stat| stat.name.starts_with("lttng-sessiond"));
        Ok(Daemon { process, _usage: usage })
    }

    /// How it ended, if it has.
    pub fn failure(&self) -> Option<String> {
        match &self.process {
            Some(process) if process.is_alive() => None,
            Some(process) => Some(format!("lttng-sessiond died (process {})", process.pid)),
            None => (!answers().unwrap_or(false)).then(|| "the session daemon no longer answers".into()),
        }
    }

    /// Its process, where it can be seen.
    pub fn process(&self) -> Option<&Stat> {
        self.process.as_ref()
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
