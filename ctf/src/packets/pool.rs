//! Open files, a limited number of them at a time.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::bytes::{Bytes, Location};

/// The number of files that are kept open. A process may have 1,024 by default, and a trace more streams than that.
const MAX_OPEN: usize = 128;

/// Files that one thread at a time has open for reading, by the numbers of their trace and of the file in it.
#[derive(Debug, Default)]
pub struct FilePool {
    /// Those that were used last are last.
    open: VecDeque<((usize, usize), Arc<Bytes>)>,
}

impl FilePool {
    /// Opens a file, or finds it open.
    pub fn get(&mut self, trace: usize, file: usize, location: &Location) -> io::Result<Arc<Bytes>> {
        let key = (trace, file);
        let known = self.open.iter().rposition(|(known, _)| *known == key);
        if let Some(entry) = known.and_then(|known| self.open.remove(known)) {
            let bytes = Arc::clone(&entry.1);
            self.open.push_back(entry);
            return Ok(bytes);
        }
        if self.open.len() >= MAX_OPEN {
            self.open.pop_front();
        }
        let bytes = Arc::new(location.open()?);
        self.open.push_back((key, Arc::clone(&bytes)));
        Ok(bytes)
    }
}
