//! Hand-written traces as files.

use std::fs;
use std::path::Path;

use crate::case::Case;

/// The UUID of the cases that have one, in CTF 1.8.
const UUID: &str = "00010203-0405-0607-0809-0a0b0c0d0e0f";

impl Case {
    pub fn load(name: &str) -> Case {
        let texts = Case::files().into_iter().map(|path| fs::read_to_string(path).unwrap());
        let named = |text: String| {
            let (_, case) = Case::split(&text).find(|(known, _)| *known == name)?;
            Some(Case::parse(case).0)
        };
        texts.filter_map(named).next().expect("there is such a case")
    }

    /// The same trace with a UUID that ends with another number: traces of one UUID are read as one.
    pub fn with_uuid(mut self, number: u8) -> Case {
        self.metadata =
            self.metadata.replace(UUID, &format!("{}{:02x}", &UUID[..UUID.len() - 2], 0x80 | number));
        let uuid: [u8; 16] = std::array::from_fn(|i| i as u8);
        while let Some(at) = self.stream.windows(uuid.len()).position(|bytes| *bytes == uuid) {
            self.stream[at + uuid.len() - 1] = 0x80 | number;
        }
        self
    }

    /// Writes the files into a folder.
    pub fn write(&self, folder: &Path) {
        fs::write(folder.join("metadata"), &self.metadata).unwrap();
        fs::write(folder.join("stream"), &self.stream).unwrap();
    }
}
