//! Archives of this repository, unpacked without any tool.

use std::fs::File;
use std::path::Path;

use lzma_rust2::XzReader;
use tempfile::TempDir;

/// A folder with what is in a `.tar.xz` archive.
pub fn unpack(archive: &Path) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    unpack_to(archive, folder.path()).unwrap_or_else(|error| panic!("{}: {error}", archive.display()));
    folder
}

fn unpack_to(archive: &Path, folder: &Path) -> std::io::Result<()> {
    tar::Archive::new(XzReader::new(File::open(archive)?, true)).unpack(folder)
}
