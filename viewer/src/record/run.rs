//! A run that records, with its keeper.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::keeper::{DISK_FULL, FAILED, FOLDER, KEEPER, KEPT, STARTED};
use super::owned_process::deadline;
use super::proc::Stat;
use super::run_folder::clean_up;
use crate::outcome::{Trouble, tell, warn};

/// A run. Dropping it lets its keeper remove what is left of it, and end the daemons that it started.
pub struct Run {
    folder: PathBuf,
    keeper: Child,
    requests: Option<ChildStdin>,
    /// The kind and the value of each answer.
    answers: Receiver<(String, String)>,
    is_disk_full: Arc<AtomicBool>,
}

impl Run {
    /// Starts a keeper. What earlier runs have left is removed, or a warning names it.
    pub fn begin(clean: bool) -> Result<Run, Trouble> {
        clean_up(clean);
        let failed = |error: &dyn std::fmt::Display| {
            Trouble::Failed(format!("cannot start the process that cleans up after this one: {error}"))
        };
        // The file may have been replaced since.
        let program = std::env::current_exe().ok().filter(|program| program.exists());
        let mut command = Command::new(program.unwrap_or_else(|| "/proc/self/exe".into()));
        // In a separate process group: Ctrl-C is not for it.
        command.arg(KEEPER).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut keeper = command.spawn().map_err(|error| failed(&error))?;
        let (requests, out, errors) = (keeper.stdin.take(), keeper.stdout.take(), keeper.stderr.take());
        let (sender, answers) = channel();
        let is_disk_full = Arc::new(AtomicBool::new(false));
        let found_full = Arc::clone(&is_disk_full);
        std::thread::spawn(move || {
            let lines = out.into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok);
            for line in lines {
                let (kind, value) = line.split_once(' ').unwrap_or((&line, ""));
                match kind {
                    DISK_FULL => found_full.store(true, Ordering::Relaxed),
                    _ => _ = sender.send((kind.to_owned(), value.to_owned())),
                }
            }
        });
        std::thread::spawn(move || {
            let lines = errors.into_iter().flat_map(|errors| BufReader::new(errors).lines());
            lines.map_while(Result::ok).for_each(|line| tell(line.trim_start_matches("ltt-top: ")));
        });
        let mut run = Run { folder: PathBuf::new(), keeper, requests, answers, is_disk_full };
        run.folder = run.answer(FOLDER).map(PathBuf::from).map_err(|reason| failed(&reason))?;
        Ok(run)
    }

    /// The folder of this run, which goes with it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts one of LTTng's daemons.
    pub fn start(&self, tool: &str, arguments: &[String]) -> Result<Stat, Trouble> {
        let request = [&[tool.to_owned()], arguments].concat().join("\t");
        let sent = self.requests.as_ref().map(|mut requests| writeln!(requests, "{request}"));
        let answer = match sent {
            Some(Ok(())) => self.answer(STARTED),
            _ => Err("the process that cleans up after this one is gone".into()),
        };
        let pid = answer.map_err(Trouble::Failed)?.parse().unwrap_or(0);
        // It may have ended at once.
        Ok(Stat::of(pid).unwrap_or(Stat { pid, name: tool.into(), state: 'Z', parent: 0, start: 0 }))
    }

    /// Whether a relay that it started complained that its disk is full.
    pub fn is_disk_full(&self) -> bool {
        self.is_disk_full.load(Ordering::Relaxed)
    }

    fn answer(&self, expected: &str) -> Result<String, String> {
        match self.answers.recv_timeout(deadline()) {
            Ok((kind, value)) if kind == expected => Ok(value),
            Ok((kind, value)) if kind == FAILED => Err(value),
            Ok((kind, _)) => Err(format!("unexpected answer: {kind}")),
            Err(RecvTimeoutError::Timeout) => Err(format!("no answer within {:?}", deadline())),
            Err(RecvTimeoutError::Disconnected) => Err("it ended".into()),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let was_killed = self.keeper.try_wait().is_ok_and(|status| status.is_some());
        self.requests = None;
        // Its work has deadlines: a session, relays and a daemon to end.
        match self.answers.recv_timeout(5 * deadline() + Duration::from_secs(1)) {
            Ok((kind, users)) if kind == KEPT => {
                tell(&format!("the session daemon stays until its other sessions end: {users}"));
            }
            _ if was_killed => {
                warn("the process that cleans up was killed: `ltt-top list --clean` removes what is left");
            }
            // It has ended, or never will.
            _ => _ = self.keeper.try_wait(),
        }
    }
}
