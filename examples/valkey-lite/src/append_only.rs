//! The append-only file: every change, written before its reply is sent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use valkey_trace::valkey_aof::{aof_fstat, aof_fsync_always, aof_rename};

use crate::resp::Bytes;
use crate::stall;
use crate::trace::append_only_write;
use crate::worker::Worker;

/// How often `everysec` syncs.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// The file, and what is on its way into it.
pub struct AppendOnly {
    path: PathBuf,
    file: Option<File>,
    synced: Instant,
    is_dirty: bool,
    syncer: Worker<File>,
}

impl AppendOnly {
    pub fn new(path: PathBuf) -> io::Result<Self> {
        let syncer = Worker::start("fsync", |file: File| {
            stall::BACKGROUND.reached();
            // `everysec` promises no more than to try, and the client has long had its reply.
            let _ = file.sync_data();
        })?;
        let synced = Instant::now();
        Ok(Self { path, file: None, synced, is_dirty: false, syncer })
    }

    /// Whether a sync is running on the second thread.
    pub fn is_syncing(&self) -> bool {
        self.syncer.pending() > 0
    }

    /// Opens the file to append to it.
    pub fn open(&mut self) -> io::Result<()> {
        let file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        aof_fstat::timed(|| file.metadata())?;
        self.file = Some(file);
        Ok(())
    }

    /// The step of every loop: takes up what was journalled, writes it, and syncs as often as asked for.
    pub fn flush(&mut self, journal: &mut Option<Bytes>, is_always: bool, has_child: bool) -> io::Result<()> {
        let is_syncing = self.is_syncing();
        let (Some(file), Some(journal)) = (&mut self.file, journal) else { return Ok(()) };
        let mut rest = &journal[..];
        while !rest.is_empty() {
            let length = append_only_write(is_syncing, has_child, || {
                stall::AOF_WRITE.reached();
                file.write(rest)
            })?;
            rest = &rest[length..];
        }
        self.is_dirty |= !journal.is_empty();
        journal.clear();
        if self.is_dirty && is_always {
            aof_fsync_always::timed(|| {
                stall::AOF_FSYNC.reached();
                file.sync_data()
            })?;
        } else if self.is_dirty && self.synced.elapsed() >= SYNC_INTERVAL && !is_syncing {
            self.syncer.submit(file.try_clone()?);
        } else {
            return Ok(());
        }
        (self.synced, self.is_dirty) = (Instant::now(), false);
        Ok(())
    }

    /// Writes and syncs everything, before the server ends.
    pub fn finish(&mut self, journal: &mut Option<Bytes>) -> io::Result<()> {
        self.flush(journal, false, false)?;
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }

    /// Replaces the file by what a child has written: all the data, at the fork.
    pub fn replace(&mut self, rewritten: &Path) -> io::Result<()> {
        aof_rename::timed(|| fs::rename(rewritten, &self.path))?;
        self.open()
    }
}
