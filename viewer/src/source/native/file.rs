//! The edge to the file system: parts of stream files, read into a buffer that is used again.
//!
//! Files are read and not mapped. A trace may still be recorded, rotated or cleared while it is read, and a
//! mapping of a file that shrinks kills the reader. Reading a part that fits the processor's cache costs
//! about what the page faults of a mapping do, and keeps memory bounded by the part.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A stream file, open for reading.
#[derive(Debug)]
pub struct StreamFile {
    /// Where it is.
    pub path: PathBuf,
    file: File,
    /// Its length when it was opened; it may have grown or shrunk since.
    pub length: u64,
}

impl StreamFile {
    /// Opens a file.
    pub fn open(path: &Path) -> io::Result<StreamFile> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(StreamFile { path: path.to_owned(), file, length })
    }

    /// Reads so many bytes at an offset, or as many as there are.
    pub fn read<'b>(&self, offset: u64, length: usize, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
        if buffer.len() < length {
            buffer.resize(length, 0);
        }
        let mut filled = 0;
        while filled < length {
            match self.file.read_at(&mut buffer[filled..length], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&buffer[..filled])
    }
}
