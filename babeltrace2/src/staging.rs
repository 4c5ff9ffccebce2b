//! Folders in which a trace has no damage.
//!
//! Babeltrace 2 opens a trace's files itself and refuses all of them for one that is damaged. It is therefore
//! given temporary folders with links to the undamaged files and copies of the undamaged parts of the others.
//! They have no `index/`: an index adds nothing, and 2.0.4 divides by an entry size of 0 in a damaged one.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::packets::ScannedPacket;

/// Temporary folders for the folders of a trace; dropping it removes them.
pub struct Staging {
    root: TempDir,
    /// The folders with those that they stand for.
    folders: Vec<(PathBuf, PathBuf)>,
}

/// A folder in the staging area.
#[derive(Clone, Copy)]
pub struct FolderIndex(usize);

impl Staging {
    /// Makes an empty staging area.
    pub fn new() -> io::Result<Self> {
        let root = tempfile::Builder::new().prefix("ltt-top-").tempdir()?;
        Ok(Self { root, folders: Vec::new() })
    }

    /// Adds a folder with the metadata of another.
    pub fn folder(&mut self, original: &Path) -> io::Result<FolderIndex> {
        let index = self.folders.len();
        let staged = self.root.path().join(index.to_string());
        fs::create_dir(&staged)?;
        symlink(fs::canonicalize(original.join("metadata"))?, staged.join("metadata"))?;
        self.folders.push((staged, original.to_owned()));
        Ok(FolderIndex(index))
    }

    /// Adds a stream file as it is.
    pub fn link(&mut self, folder: FolderIndex, file: &Path) -> io::Result<()> {
        let (staged, _) = &self.folders[folder.0];
        symlink(fs::canonicalize(file)?, staged.join(file.file_name().unwrap_or_default()))
    }

    /// Adds a stream file that holds these packets. `instance` replaces their stream's number.
    pub fn write<'a>(
        &mut self,
        folder: FolderIndex,
        name: &str,
        packets: impl IntoIterator<Item = &'a ScannedPacket>,
        instance: Option<u64>,
    ) -> io::Result<()> {
        let (staged, _) = &self.folders[folder.0];
        let mut file = BufWriter::new(File::create(staged.join(name))?);
        for packet in packets {
            packet.copy(&mut file, instance)?;
        }
        file.flush()
    }

    /// The folders to give to Babeltrace 2.
    pub fn inputs(&self) -> Vec<&Path> {
        self.folders.iter().map(|(staged, _)| staged.as_path()).collect()
    }

    /// Puts the original folders' names into a message.
    pub fn name(&self, message: &str) -> String {
        // From the last, so that folder 1 is not taken for the beginning of folder 10.
        self.folders.iter().rev().fold(message.to_owned(), |message, (staged, original)| {
            message.replace(&*staged.to_string_lossy(), &original.to_string_lossy())
        })
    }
}
