//! Files of others, which may be endless, huge or no files at all.

use std::fs::{File, OpenOptions};
use std::io::{Error, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The largest file that is read.
const LARGEST: u64 = 1 << 30;

/// Opens a regular file.
pub fn open(path: &Path) -> Result<File, String> {
    // A FIFO would block until somebody writes to it.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = file.map_err(|error| failed(path, &error))?;
    if !file.metadata().map_err(|error| failed(path, &error))?.is_file() {
        return Err(format!("{}: not a regular file", path.display()));
    }
    Ok(file)
}

/// Reads a regular file, unless it is too large.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    read_all(open(path)?, path)
}

/// Reads an open file to its end, unless it is too large.
pub fn read_all(file: File, path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("{}: larger than 1 GiB", path.display()));
    }
    Ok(bytes)
}

fn failed(path: &Path, error: &Error) -> String {
    format!("{}: cannot be read: {error}", path.display())
}
