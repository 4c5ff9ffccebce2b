//! The disk that is recorded to. The session daemon says nothing of one that is full: it drops what it cannot write.

use std::path::{Path, PathBuf};

use rustix::fs::statvfs;

/// With less room than this, in bytes, a packet may not have been written.
const LEAST: u64 = 1 << 20;

/// The disk of a folder.
pub struct Disk(PathBuf);

impl Disk {
    pub fn of(folder: &Path) -> Disk {
        Disk(folder.to_owned())
    }

    /// Whether it is full.
    pub fn failure(&self) -> Option<String> {
        let Disk(folder) = self;
        let system = statvfs(folder).ok()?;
        let free = system.f_bavail.saturating_mul(system.f_frsize);
        (free < LEAST).then(|| format!("the disk of {} is full ({} KiB free)", folder.display(), free >> 10))
    }
}
