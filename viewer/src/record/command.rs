//! `ltt-top record`: records while a command runs, for a time, or until Ctrl-C, into a folder.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use super::owned_process::OwnedProcess;
use super::recording::{RecordTargets, Recording};
use crate::cli::RecordOptions;
use crate::newest::recordings;
use crate::outcome::{Trouble, tell, warn};
use crate::signals::StopSignal;
use jiff::Zoned;

/// How often to check whether it is over.
const PAUSE: Duration = Duration::from_millis(20);

/// How often to check whether it still records.
const LOOK: Duration = Duration::from_millis(500);

/// How long a command may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);

/// What was recorded.
pub struct Recorded {
    pub folder: PathBuf,
    /// Why the recording ended early, if it did.
    pub failure: Option<String>,
}

/// Records, and returns the folder that the trace is in.
pub fn run(options: &RecordOptions) -> Result<Recorded, Trouble> {
    let output = OutputFolder::new(options)?;
    // From here on, signals must not end the process before everything created is destroyed.
    let stop = StopSignal::listen_patiently()?;
    let targets = RecordTargets {
        events: &options.enable,
        pid: options.target_pid,
        name: options.name.as_deref(),
        has_command: !options.command.is_empty(),
    };
    let mut recording = Recording::start(&output.path, &targets, options.clean, !options.no_samples, &stop)
        .inspect_err(|_| output.discard())?;
    let (mut is_started, mut failure) = (true, None);
    let mut last_look = Instant::now();
    let mut fails = || {
        if failure.is_none() && last_look.elapsed() > LOOK {
            last_look = Instant::now();
            failure = recording.failure();
            failure.iter().for_each(|reason| warn(&format!("the recording ended early: {reason}")));
        }
        failure.is_some()
    };
    let waited = match options.command.split_first() {
        Some((program, arguments)) if !stop.is_set() => {
            let child = spawn(program, arguments).inspect_err(|_| is_started = false);
            child.map(|child| wait_for(child, options, &stop, &mut || _ = fails()))
        }
        Some(_) => Ok(()),
        None => {
            let until = options.for_length.map(|length| Instant::now() + length);
            if until.is_none() {
                tell(&format!("recording into {}; Ctrl-C stops it", output.path.display()));
            }
            while !stop.is_set() && until.is_none_or(|until| Instant::now() < until) && !fails() {
                std::thread::sleep(PAUSE);
            }
            Ok(())
        }
    };
    let stopped = recording.stop();
    if failure.is_none() {
        // What was in the buffers may have filled the disk.
        failure = recording.failure();
        failure.iter().for_each(|reason| warn(&format!("the recording is incomplete: {reason}")));
    }
    drop(recording);
    if !is_started {
        output.discard();
    }
    waited?;
    if failure.is_none() {
        stopped?;
    }
    tell(&format!("recorded into {}", output.path.display()));
    Ok(Recorded { folder: output.path, failure })
}

/// Starts the program to record.
fn spawn(program: &OsString, arguments: &[OsString]) -> Result<OwnedProcess, Trouble> {
    let mut command = Command::new(program);
    command.args(arguments);
    if std::env::var_os("LTTNG_UST_REGISTER_TIMEOUT").is_none() {
        // Make it wait for the session daemon, so that its first events are recorded.
        command.env("LTTNG_UST_REGISTER_TIMEOUT", "-1");
    }
    OwnedProcess::spawn(&mut command, GRACE)
        .map_err(|error| Trouble::Failed(format!("cannot run {}: {error}", program.to_string_lossy())))
}

/// Waits until the program ends; ends it when the time is over or on a signal. It goes on if the recording does not.
fn wait_for(mut program: OwnedProcess, options: &RecordOptions, stop: &StopSignal, look: &mut dyn FnMut()) {
    let until = options.for_length.map(|length| Instant::now() + length);
    while !stop.is_set() && until.is_none_or(|until| Instant::now() < until) {
        if let Some(status) = program.ended() {
            if !status.success() {
                warn(&format!("the command ended with {status}"));
            }
            return;
        }
        look();
        std::thread::sleep(PAUSE);
    }
    program.end();
}

/// The folder to record into: one that is empty, or that did not exist yet.
struct OutputFolder {
    path: PathBuf,
    is_new: bool,
}

impl OutputFolder {
    fn new(options: &RecordOptions) -> Result<OutputFolder, Trouble> {
        let folder = match &options.output {
            Some(folder) => folder.clone(),
            None => {
                let time = Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
                let name = format!("ltt-top-{time}-{}", std::process::id());
                recordings().unwrap_or_else(|| "lttng-traces".into()).join(name)
            }
        };
        let refused = |reason: &dyn std::fmt::Display| {
            Trouble::Failed(format!("{}: {reason}; name another folder with --output", folder.display()))
        };
        let is_new = !folder.exists();
        fs::create_dir_all(&folder).map_err(|error| refused(&error))?;
        let is_empty = fs::read_dir(&folder).map_err(|error| refused(&error))?.next().is_none();
        if !is_empty {
            return Err(refused(&"the folder is not empty"));
        }
        // The session daemon has a different working directory.
        let path = std::path::absolute(&folder).map_err(|error| refused(&error))?;
        Ok(OutputFolder { path, is_new })
    }

    /// Removes the folder if it was created here, because nothing was recorded into it.
    fn discard(&self) {
        if self.is_new {
            _ = fs::remove_dir_all(&self.path);
        }
    }
}
