//! The append-only file: every change, written before its reply is sent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lttng_provider::traced;
use valkey_trace::valkey_aof;

use crate::config::SyncPolicy;
use crate::journal::Journal;
use crate::request::Bytes;
use crate::stall::StallPoint;
use crate::trace::append_only_write;
use crate::worker::Worker;

/// How often `everysec` syncs.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// The file, and what is on its way into it.
pub struct AppendOnly {
    path: PathBuf,
    /// `None` while off, and while turned on but not yet written by the first rewrite.
    file: Option<File>,
    pub size: u64,
    pending: Bytes,
    /// Changes since a rewriting child was forked: it cannot see them, so they are appended to its file.
    since_fork: Option<Bytes>,
    synced: Instant,
    is_dirty: bool,
    syncer: Worker<File>,
}

impl AppendOnly {
    pub fn new(path: PathBuf) -> io::Result<Self> {
        let syncer = Worker::start("fsync", |file: File| {
            StallPoint::BackgroundSync.reached();
            // `everysec` promises no more than to try, and the client has long had its reply.
            let _ = file.sync_data();
        })?;
        Ok(Self {
            path,
            file: None,
            size: 0,
            pending: Bytes::new(),
            since_fork: None,
            synced: Instant::now(),
            is_dirty: false,
            syncer,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether changes go into the file.
    pub fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Whether a sync is running on the second thread.
    pub fn is_syncing(&self) -> bool {
        self.syncer.pending() > 0
    }

    /// Opens the file to append to it.
    pub fn open(&mut self) -> io::Result<()> {
        let file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        self.size = file_size(&file)?;
        self.file = Some(file);
        Ok(())
    }

    /// Stops appending.
    pub fn close(&mut self) {
        self.file = None;
        self.since_fork = None;
        self.pending.clear();
    }

    /// The step of every loop: takes up what was journalled, writes it, and syncs as often as asked for.
    pub fn flush(&mut self, journal: &mut Journal, policy: SyncPolicy, has_child: bool) -> io::Result<()> {
        let from = self.pending.len();
        journal.drain_into(&mut self.pending);
        if let Some(since_fork) = &mut self.since_fork {
            since_fork.extend_from_slice(&self.pending[from..]);
        }
        if self.file.is_none() {
            self.pending.clear();
            return Ok(());
        }
        self.write_pending(has_child)?;
        self.sync(policy)
    }

    fn write_pending(&mut self, has_child: bool) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut written = 0;
        while written < self.pending.len() {
            match append_only_write(self.syncer.pending() > 0, has_child, || {
                StallPoint::AppendOnlyWrite.reached();
                file.write(&self.pending[written..])
            }) {
                Ok(length) => written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.pending.drain(..written);
                    return Err(error);
                }
            }
        }
        if written > 0 {
            self.size += written as u64;
            self.is_dirty = true;
            self.pending.clear();
            self.pending.shrink_to(1 << 20);
        }
        Ok(())
    }

    fn sync(&mut self, policy: SyncPolicy) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if !self.is_dirty {
            return Ok(());
        }
        match policy {
            SyncPolicy::Always => sync_now(file)?,
            SyncPolicy::EverySecond
                if self.synced.elapsed() >= SYNC_INTERVAL && self.syncer.pending() == 0 =>
            {
                self.syncer.submit(file.try_clone()?);
            }
            _ => return Ok(()),
        }
        self.synced = Instant::now();
        self.is_dirty = false;
        Ok(())
    }

    /// Writes and syncs everything, before the server ends.
    pub fn finish(&mut self, journal: &mut Journal) -> io::Result<()> {
        self.flush(journal, SyncPolicy::No, false)?;
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }

    /// From now on keeps the changes that a child forked now will not see.
    pub fn begin_rewrite(&mut self) {
        self.since_fork = Some(Bytes::new());
    }

    /// Forgets a rewrite that failed.
    pub fn abandon_rewrite(&mut self) {
        self.since_fork = None;
    }

    /// Appends to the child's file what has changed since the fork, and replaces the old file by it.
    pub fn finish_rewrite(&mut self, rewritten: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(rewritten)?;
        file.write_all(&self.since_fork.take().unwrap_or_default())?;
        file.sync_data()?;
        rename(rewritten, &self.path)?;
        // All that was pending is in `since_fork` too.
        self.pending.clear();
        self.open()
    }
}

#[traced(valkey_aof::aof_fsync_always)]
fn sync_now(file: &File) -> io::Result<()> {
    StallPoint::AppendOnlySync.reached();
    file.sync_data()
}

#[traced(valkey_aof::aof_fstat)]
fn file_size(file: &File) -> io::Result<u64> {
    file.metadata().map(|metadata| metadata.len())
}

#[traced(valkey_aof::aof_rename)]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}
