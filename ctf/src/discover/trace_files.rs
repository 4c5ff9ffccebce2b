//! The files of a trace, which may be spread over several folders.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::packets::bytes::Location;
use crate::{Uuid, metadata};

/// How much of a metadata file to search for its UUID, which is near its beginning.
const UUID_SEARCH: usize = 1 << 20;

/// One trace: all folders whose metadata has the same UUID.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::TraceFiles;
///
/// let trace = TraceFiles::from_bytes(EXAMPLE_METADATA.into(), Vec::new());
/// assert_eq!((trace.uuid, trace.is_ctf_2()), (None, false));
/// ```
#[derive(Clone, Debug, Default)]
pub struct TraceFiles {
    /// The UUID; folders without one are never grouped.
    pub uuid: Option<Uuid>,
    /// The folders that directly hold a `metadata` file, sorted.
    pub folders: Vec<PathBuf>,
    /// What the metadata files hold. Of those that only begin like a longer one, the longer one alone is kept.
    pub(crate) metadata: Vec<(PathBuf, Vec<u8>)>,
    /// The stream files.
    pub(crate) streams: Vec<Location>,
}

impl TraceFiles {
    /// A trace that is in memory: the bytes of its metadata file, and of its stream files under a name.
    pub fn from_bytes(metadata: Vec<u8>, streams: Vec<(PathBuf, Arc<[u8]>)>) -> TraceFiles {
        let streams = streams.into_iter().map(|(name, bytes)| Location::memory(name, bytes));
        TraceFiles {
            uuid: uuid_of(&metadata),
            metadata: vec![("metadata".into(), metadata)],
            streams: streams.collect(),
            ..TraceFiles::default()
        }
    }

    /// A trace in files that are open and may have no name: the bytes of its metadata file, the folders that it is known by, and
    /// its stream files under a name.
    pub fn from_files(
        metadata: Vec<u8>,
        folders: Vec<PathBuf>,
        streams: Vec<(PathBuf, File)>,
    ) -> io::Result<TraceFiles> {
        let part = |(name, file): (PathBuf, File)| {
            let length = file.metadata()?.len();
            Ok(Location::part(name, Arc::new(file), 0, length))
        };
        let streams = streams.into_iter().map(part).collect::<io::Result<_>>()?;
        Ok(TraceFiles { folders, streams, ..TraceFiles::from_bytes(metadata, Vec::new()) })
    }

    /// Whether the trace is of CTF 2, and not of CTF 1.8.
    pub fn is_ctf_2(&self) -> bool {
        self.metadata.iter().any(|(_, bytes)| metadata::is_json(beginning(bytes)))
    }

    /// Adds a folder with this metadata.
    pub(super) fn add(&mut self, folder: TraceFolder, bytes: Vec<u8>) {
        let path = folder.path.join("metadata");
        self.folders.push(folder.path);
        self.streams.extend(folder.streams);
        match self
            .metadata
            .iter_mut()
            .find(|(_, known)| known.starts_with(&bytes) || bytes.starts_with(known))
        {
            Some(known) if known.1.len() < bytes.len() => *known = (path, bytes),
            Some(_) => {}
            None => self.metadata.push((path, bytes)),
        }
    }
}

/// A folder that directly holds a `metadata` file.
#[derive(Debug)]
pub struct TraceFolder {
    pub path: PathBuf,
    pub metadata: Option<Location>,
    /// The stream files, sorted by name.
    pub streams: Vec<Location>,
}

/// The UUID in a metadata file.
pub fn uuid_of(metadata: &[u8]) -> Option<Uuid> {
    Uuid::of_metadata(beginning(metadata))
}

fn beginning(metadata: &[u8]) -> &[u8] {
    &metadata[..metadata.len().min(UUID_SEARCH)]
}
