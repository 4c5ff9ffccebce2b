//! A folder for each run that records. It says which processes the run started, so that a later run finds what is left of
//! one that was killed with its keeper.
//!
//! Temporary folders are shared: another user may put anything there under our name. Only a folder of this user that
//! nobody else can write to is read, and what it says is checked before a process is ended.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ltt_analysis::text::escape;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::process::geteuid;
use tempfile::TempDir;

use super::identity::{Fate, Identity};
use super::lttng::{lttng, sessions};
use super::usage::Usage;
use crate::outcome::warn;

const PREFIX: &str = "ltt-top-";

/// The file in the folder: a process a line, that of the run itself first, then its keeper.
const RECORD: &str = "processes";

/// The longest record that is read, in bytes.
const LONGEST: u64 = 1 << 16;

/// The folder of a run, removed when it is dropped.
pub struct RunFolder {
    folder: TempDir,
    record: File,
}

impl RunFolder {
    /// Creates the folder of the run that this process was started by.
    pub fn create(run: u32) -> std::io::Result<RunFolder> {
        let private = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir()?;
        let record = File::create_new(folder.path().join(RECORD))?;
        // Other namespaces see the lock, but not our processes.
        flock(&record, FlockOperation::LockExclusive)?;
        let mut created = RunFolder { folder, record };
        created.note(run);
        created.note(std::process::id());
        Ok(created)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Notes a process that was started.
    pub fn note(&mut self, pid: u32) {
        if let Some(identity) = Identity::of(pid) {
            _ = self.record.write_all(format!("{}\n", identity.line()).as_bytes());
        }
    }
}

/// What the session of a run is called: as its folder, so that no other run has one of the same name.
pub fn session_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What is left of a run that was killed with its keeper.
struct Leftover {
    folder: PathBuf,
    run: u32,
    /// Whether its session is still there.
    has_session: bool,
    processes: Vec<Identity>,
}

/// Removes what earlier runs have left, or names it.
pub fn clean_up(is_asked_to: bool) {
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let mut all = named.filter_map(|entry| Leftover::of(&entry.path())).peekable();
    if all.peek().is_none() {
        return;
    }
    let sessions = sessions().unwrap_or_default();
    for mut leftover in all {
        leftover.has_session = sessions.contains(&session_name(&leftover.folder));
        let runs = |process: &Identity| matches!(process.fate(), Fate::Runs(_) | Fate::Doubtful(..));
        // An empty folder is in nobody's way.
        let is_harmless = !leftover.has_session && !leftover.processes.iter().any(runs);
        match is_asked_to || is_harmless {
            true => leftover.remove(),
            false => warn(&format!("{leftover}; `ltt-top list --clean` removes that")),
        }
    }
}

impl Leftover {
    /// None if the folder is not one of our own, or its run or keeper goes on.
    fn of(folder: &Path) -> Option<Leftover> {
        let record = read_private(folder)?;
        let mut identities = record.lines().filter_map(Identity::parse);
        let run = identities.next()?;
        let keeper = identities.next();
        let goes_on = |process: &Identity| !matches!(process.fate(), Fate::Gone);
        if goes_on(&run) || keeper.as_ref().is_some_and(goes_on) {
            return None;
        }
        let processes = identities.collect();
        Some(Leftover { folder: folder.to_owned(), run: run.pid, has_session: false, processes })
    }

    /// Ends its session and its processes, and removes its folder. What is in use or not provably ours is named and left.
    fn remove(&self) {
        if self.has_session {
            _ = lttng(["destroy", "--no-wait", &session_name(&self.folder)]);
        }
        let exclusive = Usage::exclusive();
        let users = sessions().unwrap_or_default();
        for process in &self.processes {
            match process.fate() {
                Fate::Gone => {}
                Fate::Doubtful(stat, reason) => warn(&format!(
                    "process {} ({}) was left alone: {}'s record names it, but {reason}",
                    stat.pid,
                    escape::text(&stat.name),
                    escape::text(&self.folder.display().to_string())
                )),
                Fate::Runs(stat) if stat.name.starts_with("lttng-sessiond") && exclusive.is_none() => {
                    return warn(&format!(
                        "the session daemon (process {}) is in use and was left",
                        stat.pid
                    ));
                }
                Fate::Runs(stat) if stat.name.starts_with("lttng-sessiond") && !users.is_empty() => {
                    return warn(&format!(
                        "the session daemon (process {}) was left for the sessions {}",
                        stat.pid,
                        escape::text(&users.join(", "))
                    ));
                }
                Fate::Runs(_) => process.end(),
            }
        }
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            let folder = escape::text(&self.folder.display().to_string());
            warn(&format!("{folder}: cannot remove the folder: {error}"));
        }
    }
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {}, an earlier ltt-top, died and left ", self.run)?;
        if self.has_session {
            write!(f, "its session {}, ", escape::text(&session_name(&self.folder)))?;
        }
        for process in &self.processes {
            if let Fate::Runs(stat) | Fate::Doubtful(stat, _) = process.fate() {
                write!(f, "{} (process {}), ", escape::text(&stat.name), stat.pid)?;
            }
        }
        write!(f, "the folder {}", escape::text(&self.folder.display().to_string()))
    }
}

/// The record in a folder of this user that nobody else can enter, unless a keeper has it. Follows no link, and waits for
/// no FIFO.
fn read_private(folder: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let folder = File::from(rustix::fs::open(folder, flags | OFlags::DIRECTORY, Mode::empty()).ok()?);
    let is_ours = |file: &File, is_right: &dyn Fn(&fs::Metadata) -> bool| {
        file.metadata().is_ok_and(|file| file.uid() == geteuid().as_raw() && is_right(&file))
    };
    is_ours(&folder, &|folder| folder.mode() & 0o077 == 0).then_some(())?;
    let record = File::from(rustix::fs::openat(&folder, RECORD, flags, Mode::empty()).ok()?);
    is_ours(&record, &|record| record.is_file() && record.nlink() == 1).then_some(())?;
    flock(&record, FlockOperation::NonBlockingLockShared).ok()?;
    let mut text = String::new();
    record.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}
