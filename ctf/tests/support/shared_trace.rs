//! The traces of real Valkey servers that come with this repository.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A recorded trace, unpacked.
pub struct SharedTrace {
    folder: TempDir,
}

impl SharedTrace {
    /// Unpacks `valkey-mixed`.
    pub fn unpack() -> Self {
        SharedTrace::unpack_named("valkey-mixed")
    }

    /// Unpacks a trace.
    pub fn unpack_named(name: &str) -> Self {
        Self { folder: lttng_testing::unpack(&data(&format!("{name}.tar.xz"))) }
    }

    /// The folder above the trace.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// A file in the folder of the traces.
#[allow(dead_code, reason = "some test binaries only unpack")]
pub fn data(name: &str) -> PathBuf {
    lttng_testing::workspace().join("tests/data").join(name)
}
