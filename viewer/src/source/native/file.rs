//! The edge to the file system: parts of stream files, read into a buffer that is used again.
//!
//! Files are read and not mapped. A trace may still be recorded, rotated or cleared while it is read, and a
//! mapping of a file that shrinks kills the reader. Reading a part that fits the processor's cache costs little
//! more than the page faults of a mapping do (a mapping makes `top` 5 % faster on one thread, and no faster on
//! two), and keeps memory bounded by the part.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

/// Where a stream's bytes are.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file, or the name of what is in memory.
    pub path: PathBuf,
    memory: Option<Arc<[u8]>>,
}

impl Place {
    /// A file.
    pub fn file(path: PathBuf) -> Place {
        Place { path, memory: None }
    }

    /// Bytes that are in memory, under a name.
    pub fn memory(path: PathBuf, bytes: Arc<[u8]>) -> Place {
        Place { path, memory: Some(bytes) }
    }

    /// The bytes of the index file that LTTng puts beside a stream file; none if there is none.
    pub fn index(&self) -> Vec<u8> {
        let (Some(folder), Some(name), None) = (self.path.parent(), self.path.file_name(), &self.memory)
        else {
            return Vec::new();
        };
        let mut name = name.to_owned();
        name.push(".idx");
        std::fs::read(folder.join("index").join(name)).unwrap_or_default()
    }

    /// Opens it for reading.
    pub fn open(&self) -> io::Result<StreamFile> {
        let path = self.path.clone();
        if let Some(bytes) = &self.memory {
            let length = bytes.len() as u64;
            return Ok(StreamFile { path, content: Content::Memory(bytes.clone()), length });
        }
        let file = File::open(&path)?;
        let length = file.metadata()?.len();
        Ok(StreamFile { path, content: Content::File(file), length })
    }
}

/// A stream file, open for reading.
#[derive(Debug)]
pub struct StreamFile {
    /// Where it is.
    pub path: PathBuf,
    content: Content,
    /// Its length when it was opened; it may have grown or shrunk since.
    pub length: u64,
}

#[derive(Debug)]
enum Content {
    File(File),
    Memory(Arc<[u8]>),
}

impl StreamFile {
    /// Reads so many bytes at an offset, or as many as there are.
    pub fn read<'b>(&self, offset: u64, length: usize, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
        let length = length.min(usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX));
        if buffer.len() < length {
            buffer.resize(length, 0);
        }
        let mut filled = 0;
        while filled < length {
            match self.content.read_at(&mut buffer[filled..length], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&buffer[..filled])
    }
}

impl Content {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Content::File(file) => file.read_at(buffer, offset),
            Content::Memory(bytes) => {
                let mut rest =
                    usize::try_from(offset).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                io::Read::read(&mut rest, buffer)
            }
        }
    }
}
