//! The append-only file: every change, written before its reply is sent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use valkey_trace::valkey_aof::{aof_fstat, aof_fsync_always, aof_rename};

use crate::config::SyncPolicy;
use crate::resp::{Bytes, encode};
use crate::stall;
use crate::threads::Worker;
use crate::trace::append_only_write;

/// How often `everysec` syncs.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// Requests that, replayed in order, lead to the same data; `None` while nothing is recorded.
#[derive(Default)]
pub struct Journal(Option<Bytes>);

impl Journal {
    /// Starts or stops recording.
    pub fn enable(&mut self, enabled: bool) {
        self.0 = enabled.then(|| self.0.take().unwrap_or_default());
    }

    /// The request in the journal's form, if it records.
    pub fn prepare(&self, request: &[impl AsRef<[u8]>]) -> Option<Bytes> {
        self.0.as_ref().map(|_| {
            let mut encoded = Bytes::new();
            encode(&mut encoded, request);
            encoded
        })
    }

    /// Records a prepared request.
    pub fn append(&mut self, prepared: &[u8]) {
        self.0.iter_mut().for_each(|bytes| bytes.extend_from_slice(prepared));
    }

    /// Records a request.
    pub fn record(&mut self, request: &[impl AsRef<[u8]>]) {
        self.0.iter_mut().for_each(|bytes| encode(bytes, request));
    }

    /// Moves what has been recorded since the last time to the end of `pending`.
    pub fn drain_into(&mut self, pending: &mut Bytes) {
        self.0.iter_mut().for_each(|bytes| pending.append(bytes));
    }
}

/// The file, and what is on its way into it.
pub struct AppendOnly {
    pub path: PathBuf,
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
            stall::BACKGROUND.reached();
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
        self.size = aof_fstat::timed(|| file.metadata())?.len();
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
        let is_syncing = self.is_syncing();
        let Some(file) = self.file.as_mut().filter(|_| !self.pending.is_empty()) else { return Ok(()) };
        let mut written = 0;
        while written < self.pending.len() {
            match append_only_write(is_syncing, has_child, || {
                stall::AOF_WRITE.reached();
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
        self.size += written as u64;
        self.is_dirty = true;
        self.pending.clear();
        self.pending.shrink_to(1 << 20);
        Ok(())
    }

    fn sync(&mut self, policy: SyncPolicy) -> io::Result<()> {
        let Some(file) = self.file.as_ref().filter(|_| self.is_dirty) else { return Ok(()) };
        match policy {
            SyncPolicy::Always => aof_fsync_always::timed(|| {
                stall::AOF_FSYNC.reached();
                file.sync_data()
            })?,
            SyncPolicy::EverySecond if self.synced.elapsed() >= SYNC_INTERVAL && !self.is_syncing() => {
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

    /// Appends to the child's file what has changed since the fork, and replaces the old file by it. If that or
    /// the child has failed, the old file stays in use.
    pub fn finish_rewrite(&mut self, rewritten: &Path, has_failed: bool) -> io::Result<()> {
        let since_fork = self.since_fork.take().unwrap_or_default();
        let result = if has_failed { Ok(()) } else { self.replace(rewritten, &since_fork) };
        if has_failed || result.is_err() {
            let _ = fs::remove_file(rewritten);
        }
        result
    }

    fn replace(&mut self, rewritten: &Path, since_fork: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(rewritten)?;
        file.write_all(since_fork)?;
        file.sync_data()?;
        aof_rename::timed(|| fs::rename(rewritten, &self.path))?;
        // All that was pending is in `since_fork` too.
        self.pending.clear();
        self.open()
    }
}
