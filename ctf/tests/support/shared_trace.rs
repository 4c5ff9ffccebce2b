//! The trace of real Valkey servers that comes with this repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// `valkey-mixed`, unpacked.
pub struct SharedTrace {
    folder: TempDir,
}

impl SharedTrace {
    /// Unpacks the trace.
    pub fn unpack() -> Self {
        let archive = data("valkey-mixed.tar.xz");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let unpacked = Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(folder.path()).status();
        assert!(unpacked.expect("tar is installed").success(), "tar needs xz: run `make setup`");
        Self { folder }
    }

    /// The folder above the trace.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// A file that lies beside the trace.
pub fn data(name: &str) -> PathBuf {
    lttng_testing::workspace().join("tests/data").join(name)
}
