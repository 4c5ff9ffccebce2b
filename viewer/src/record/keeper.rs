//! The process beside every run that records. It starts LTTng's daemons for the run and outlives it, however it ends: then it
//! removes what the run has left, and ends the session daemon when the last session is gone, whoever created that.
//!
//! The run writes a line to its standard input for each daemon to start; the input ends with the run. It answers on standard
//! output. What it has to say goes through standard error to the run, while that listens.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use super::lttng::{lttng, missing, sessions, tool};
use super::owned_process::{OwnedProcess, deadline};
use super::run_folder::{RunFolder, session_name};
use super::usage::Usage;
use crate::signals::StopSignal;

/// The argument that makes the program a keeper.
pub const KEEPER: &str = "--keep-run";

/// From one look whether there are sessions to the next.
const PAUSE: Duration = Duration::from_secs(1);

/// What a full disk makes LTTng's daemons say.
const FULL: &[u8] = b"No space left on device";

/// Answers of the keeper, each followed by its value.
pub const FOLDER: &str = "folder";
pub const STARTED: &str = "started";
pub const FAILED: &str = "failed";
pub const DISK_FULL: &str = "full";
pub const KEPT: &str = "kept";

/// Keeps the run that this process was started by.
pub fn run() -> ExitCode {
    // It ends when its work is done, and by no other signal than SIGKILL.
    let _signals = StopSignal::listen_patiently();
    let parent = rustix::process::getppid().map_or(0, |parent| parent.as_raw_nonzero().get().unsigned_abs());
    let mut folder = match RunFolder::create(parent) {
        Ok(folder) => folder,
        Err(error) => {
            answer(FAILED, &format!("cannot create a temporary folder: {error}"));
            return ExitCode::FAILURE;
        }
    };
    answer(FOLDER, &folder.path().display().to_string());
    let (mut daemon, mut relays) = (None, Vec::new());
    for request in io::stdin().lines().map_while(Result::ok) {
        let mut words = request.split('\t');
        let name = words.next().unwrap_or_default();
        let mut command = tool(name);
        let is_relay = name == "lttng-relayd";
        // A session daemon may complain about the disk of another session.
        let errors = if is_relay { Stdio::piped() } else { Stdio::null() };
        command.args(words).stdout(Stdio::null()).stderr(errors);
        match OwnedProcess::spawn(&mut command, deadline()) {
            Ok(mut process) => {
                folder.note(process.id());
                answer(STARTED, &process.id().to_string());
                if is_relay {
                    listen(&mut process);
                    relays.push(process);
                } else {
                    daemon = Some(process);
                }
            }
            Err(error) => answer(FAILED, &missing(name, &error).to_string()),
        }
    }
    let session = session_name(folder.path());
    let may_answer = daemon.as_mut().is_none_or(|daemon| daemon.ended().is_none());
    if may_answer && sessions().is_ok_and(|sessions| sessions.contains(&session)) {
        _ = lttng(["destroy", "--no-wait", &session]);
    }
    drop(relays);
    drop(folder);
    if let Some(daemon) = daemon {
        keep(daemon);
    }
    ExitCode::SUCCESS
}

/// Ends the session daemon once it has no session and no run uses it.
fn keep(mut daemon: OwnedProcess) {
    while daemon.ended().is_none() {
        if let Some(_nobody) = Usage::exclusive() {
            match sessions() {
                Ok(sessions) if !sessions.is_empty() => answer(KEPT, &sessions.join(", ")),
                // One that does not answer serves nobody.
                Ok(_) | Err(_) => return daemon.end(),
            }
        } else {
            answer(KEPT, "another ltt-top");
        }
        thread::sleep(PAUSE);
    }
}

/// Tells the run about a full disk, the only complaint of a relay that matters.
fn listen(process: &mut OwnedProcess) {
    let [_, errors] = process.pipes();
    thread::spawn(move || {
        let lines = errors.into_iter().flat_map(|errors| BufReader::new(errors).split(b'\n'));
        let full =
            lines.map_while(Result::ok).filter(|line| line.windows(FULL.len()).any(|part| part == FULL));
        // To its end: a daemon must not find its standard error closed.
        full.for_each(|_| answer(DISK_FULL, ""));
    });
}

/// Tells the run something; it may be gone.
fn answer(kind: &str, value: &str) {
    let mut out = io::stdout().lock();
    _ = writeln!(out, "{kind} {}", value.replace('\n', " ")).and_then(|()| out.flush());
}
