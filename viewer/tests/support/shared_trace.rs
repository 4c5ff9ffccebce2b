//! The trace of real Valkey servers that may lie beside this repository.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// `valkey-mixed`, unpacked.
pub struct SharedTrace {
    folder: TempDir,
}

impl SharedTrace {
    /// Unpacks the trace, or says that it is not there.
    pub fn unpack() -> Option<Self> {
        let archive = lttng_testing::workspace().join("../shared/traces/valkey-mixed.tar.xz");
        if !archive.exists() {
            println!("skipped: {} is absent", archive.display());
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let unpacked = Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(folder.path()).status();
        assert!(unpacked.expect("tar is installed").success());
        Some(Self { folder })
    }

    /// The folder above the trace.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
