//! The recorded traces of this repository, unpacked without any tool.

use std::fs::File;
use std::path::Path;

use lzma_rust2::XzReader;
use tempfile::TempDir;

use crate::workspace;

/// A folder with what is in an archive of `tests/data`, e.g. `valkey-mixed.tar.xz`.
pub fn unpack(archive: &str) -> TempDir {
    let path = workspace().join("tests/data").join(archive);
    let folder = tempfile::tempdir().expect("a temporary folder");
    unpack_to(&path, folder.path()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    folder
}

fn unpack_to(archive: &Path, folder: &Path) -> std::io::Result<()> {
    tar::Archive::new(XzReader::new(File::open(archive)?, true)).unpack(folder)
}
