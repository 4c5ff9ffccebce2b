//! The edge to the file system: regular files, read at offsets into buffers that are used again.
//!
//! Files are read and not mapped. A trace may still be recorded, rotated or cleared while it is read, and a
//! mapping of a file that shrinks kills the reader. Reading a part that fits the processor's cache costs little
//! more than the page faults of a mapping do (a mapping makes reading 5 % faster on one thread, and no faster on
//! two), and keeps memory bounded by the part.
//!
//! Only regular files are opened: a FIFO would block forever, and a device may never end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest index file that is read: enough for 900,000 packets.
const MAX_INDEX: u64 = 64 << 20;

/// Opens a regular file, and refuses anything else without touching it.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK, opening a FIFO waits for a writer.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// Reads a regular file that must not be larger than the limit.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {} MB", limit >> 20))),
        false => Ok(bytes),
    }
}

/// Where the bytes of a stream are, and their name in messages.
#[derive(Clone, Debug)]
pub struct Location {
    /// The file, or the name of what is in memory.
    pub path: PathBuf,
    backing: Backing,
}

#[derive(Clone, Debug)]
enum Backing {
    File,
    /// A part of a file that is open, e.g. of an archive: where it begins, and its length.
    Part(Arc<File>, u64, u64),
    Memory(Arc<[u8]>),
}

impl Location {
    pub fn file(path: PathBuf) -> Location {
        Location { path, backing: Backing::File }
    }

    /// Bytes that are in memory, under a name.
    pub fn memory(path: PathBuf, bytes: Arc<[u8]>) -> Location {
        Location { path, backing: Backing::Memory(bytes) }
    }

    /// A part of a file that is open, under a name: where it begins, and its length.
    pub fn part(path: PathBuf, file: Arc<File>, offset: u64, length: u64) -> Location {
        Location { path, backing: Backing::Part(file, offset, length) }
    }

    /// Where LTTng puts the index of a stream file.
    pub fn index_path(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".idx");
        self.path.with_file_name("index").join(name)
    }

    /// The bytes of the index; empty if the file has no index.
    pub fn index(&self) -> io::Result<Vec<u8>> {
        match &self.backing {
            Backing::File => match read_regular(&self.index_path(), MAX_INDEX) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
                other => other,
            },
            Backing::Part(..) | Backing::Memory(_) => Ok(Vec::new()),
        }
    }

    /// Reads all of it, if it is not larger than the limit.
    pub fn read(&self, limit: u64) -> io::Result<Vec<u8>> {
        if let Backing::File = self.backing {
            return read_regular(&self.path, limit);
        }
        let bytes = self.open()?;
        let length = usize::try_from(bytes.length.min(limit)).unwrap_or(usize::MAX);
        let mut buffer = Vec::new();
        let read = bytes.read(0, length, &mut buffer)?.len();
        buffer.truncate(read);
        Ok(buffer)
    }

    /// Opens it for reading.
    pub fn open(&self) -> io::Result<Bytes> {
        match &self.backing {
            Backing::File => {
                let file = open_regular(&self.path)?;
                let length = file.metadata()?.len();
                Ok(Bytes { content: Content::File(file), length })
            }
            Backing::Part(file, offset, length) => {
                Ok(Bytes { content: Content::Part(Arc::clone(file), *offset), length: *length })
            }
            Backing::Memory(bytes) => Ok(Bytes::memory(Arc::clone(bytes))),
        }
    }
}

/// The bytes of a stream, open for reading.
#[derive(Debug)]
pub struct Bytes {
    content: Content,
    /// Their number when they were opened; a file may have grown or shrunk since.
    pub length: u64,
}

#[derive(Debug)]
enum Content {
    File(File),
    Part(Arc<File>, u64),
    Memory(Arc<[u8]>),
    Packet(Arc<Vec<u8>>),
}

impl Bytes {
    pub fn memory(bytes: Arc<[u8]>) -> Bytes {
        Bytes { length: bytes.len() as u64, content: Content::Memory(bytes) }
    }

    /// A packet as it arrived.
    pub fn packet(bytes: Arc<Vec<u8>>) -> Bytes {
        Bytes { length: bytes.len() as u64, content: Content::Packet(bytes) }
    }

    /// The bytes of a packet as it arrived, which need not be read into a buffer.
    pub fn as_packet(&self) -> Option<Arc<Vec<u8>>> {
        match &self.content {
            Content::Packet(bytes) => Some(Arc::clone(bytes)),
            _ => None,
        }
    }

    /// Reads up to `length` bytes at an offset.
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
            Content::Part(file, begin) => file.read_at(buffer, begin.saturating_add(offset)),
            Content::Memory(bytes) => read_memory(bytes, buffer, offset),
            Content::Packet(bytes) => read_memory(bytes, buffer, offset),
        }
    }
}

fn read_memory(bytes: &[u8], buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    rest.read(buffer)
}
