//! A folder for each run that records. It says which processes and which session the run created, so that a later run finds
//! what is left of one that was killed.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::lttng::{answers, lttng};
use super::proc::{self, Stat};
use super::process::{deadline, kill, wait_until};
use crate::outcome::{Trouble, warn};

const PREFIX: &str = "ltt-top-";

/// What the session of a run is called.
pub fn session_name(pid: u32) -> String {
    format!("{PREFIX}{pid}")
}

/// The file in the folder: a process a line, that of the run itself first.
const RECORD: &str = "processes";

/// The folder of this run, removed when it is dropped.
pub struct RunFolder(TempDir);

impl RunFolder {
    /// Creates the folder. What earlier runs have left is removed, or a warning names it.
    pub fn create(clean: bool) -> Result<RunFolder, Trouble> {
        let left: Vec<Leftover> = Leftover::all();
        for leftover in left {
            if clean {
                leftover.remove();
            } else {
                warn(&format!("{leftover}; `ltt-top list --clean` removes that"));
            }
        }
        let folder = TempDir::with_prefix(PREFIX)
            .map_err(|error| Trouble::Failed(format!("cannot create a temporary folder: {error}")))?;
        let run = RunFolder(folder);
        run.note(std::process::id())?;
        Ok(run)
    }

    /// A new folder within it.
    pub fn subfolder(&self, name: &str) -> Result<PathBuf, Trouble> {
        let path = self.0.path().join(name);
        fs::create_dir(&path).map_err(|error| {
            Trouble::Failed(format!("{}: cannot create a folder: {error}", path.display()))
        })?;
        Ok(path)
    }

    /// Notes that this run started a process.
    pub fn note(&self, pid: u32) -> Result<(), Trouble> {
        let path = self.0.path().join(RECORD);
        let Some(stat) = Stat::of(pid) else { return Ok(()) };
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| writeln!(file, "{} {} {}", stat.pid, stat.start, stat.name))
            .map_err(|error| Trouble::Failed(format!("{}: {error}", path.display())))
    }
}

/// What is left of a run that died.
struct Leftover {
    folder: PathBuf,
    owner: u32,
    /// Those that still run.
    processes: Vec<Stat>,
}

impl Leftover {
    fn all() -> Vec<Leftover> {
        let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
        named.filter_map(|entry| Leftover::of(&entry.path())).collect()
    }

    /// None if the run goes on.
    fn of(folder: &Path) -> Option<Leftover> {
        let record = fs::read_to_string(folder.join(RECORD)).ok()?;
        let identity = |line: &str| {
            let mut words = line.split(' ');
            Some((words.next()?.parse::<u32>().ok()?, words.next()?.parse::<u64>().ok()?))
        };
        let mut identities = record.lines().filter_map(identity);
        let alive = |(pid, start): (u32, u64)| Stat::of(pid).filter(|stat| stat.start == start);
        let owner = identities.next()?;
        if alive(owner).is_some() {
            return None;
        }
        let processes = identities.filter_map(alive).collect();
        Some(Leftover { folder: folder.to_owned(), owner: owner.0, processes })
    }

    /// Ends its session and its processes, and removes its folder.
    fn remove(&self) {
        if answers().unwrap_or(false) {
            // The daemon may be another's, and the session gone.
            _ = lttng(["destroy", "--no-wait", &session_name(self.owner)]);
        }
        for process in &self.processes {
            let family = proc::descendants(process.pid);
            for signal in [Signal::TERM, Signal::CONT] {
                Pid::from_raw(process.pid as i32).map(|pid| kill_process(pid, signal));
            }
            let all: Vec<&Stat> = family.iter().chain([process]).collect();
            wait_until(Instant::now() + deadline(), || !all.iter().any(|process| process.is_alive()));
            all.into_iter().for_each(kill);
        }
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            warn(&format!("{}: cannot remove the folder: {error}", self.folder.display()));
        }
    }
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Leftover { folder, owner, processes } = self;
        write!(f, "process {owner}, an earlier ltt-top, died and left its session {}", session_name(*owner))?;
        for process in processes {
            write!(f, ", {} (process {})", process.name, process.pid)?;
        }
        write!(f, " and the folder {}", folder.display())
    }
}
