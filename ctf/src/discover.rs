//! Finds the traces below folders.
//!
//! A trace's folder is one that directly holds a `metadata` file. LTTng makes many of them for one trace:
//! each rotated chunk below `archives/` and each snapshot repeats the metadata, with the same UUID. Folders
//! are therefore grouped by UUID, and a source reads each group as one trace.

use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::packets::bytes::Location;
use crate::{Damage, Error, ErrorKind, Uuid};

#[cfg(feature = "archives")]
mod archive;
mod trace_files;

pub use trace_files::TraceFiles;
use trace_files::TraceFolder;

/// How deep below a given folder to look. LTTng's own layouts need at most seven levels.
const MAX_DEPTH: usize = 32;

/// The number of folder entries to look at before giving up, so that `ltt-top /` ends.
const MAX_ENTRIES: usize = 1_000_000;

/// The largest metadata file that is read: enough for some millions of event classes.
const MAX_METADATA: u64 = 2 << 30;

/// What to say of an empty metadata file. LTTng makes the file first and fills it later.
const EMPTY: &str = "is empty, so the trace cannot be read: LTTng writes it when a traced program ends or the \
    session is stopped or rotated";

/// What was found below the given folders.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Discovery, Reader, TraceFiles};
///
/// // Traces may also come from elsewhere than folders, any number of them.
/// let packet = example_packet(0, &[(10, "Ada", 12)]);
/// let trace = TraceFiles::from_bytes(EXAMPLE_METADATA.into(), vec![("ch_0".into(), packet.into())]);
/// let reader = Reader::open_found(Discovery { traces: vec![trace], damage: Vec::new() })?;
/// assert_eq!(reader.span(), Some(10..=10));
/// # Ok::<(), ctf_reader::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// The traces, in the order of their first folder.
    pub traces: Vec<TraceFiles>,
    /// What could not be looked at, and which given folders hold no trace.
    pub damage: Vec<Damage>,
}

/// Finds all traces in and below the given folders, and with the feature `archives` in `.tar`, `.tar.gz`, `.tar.xz` and
/// `.tar.zst` files.
///
/// Symbolic links are followed and each folder is looked at once. What cannot be read is reported in
/// [`Discovery::damage`]; if that leaves no trace at all, it is an error.
pub fn discover<P: AsRef<Path>>(roots: &[P]) -> Result<Discovery, Error> {
    let mut search = Search::default();
    for root in roots {
        let root = root.as_ref();
        let (found, damaged) = (search.folders.len(), search.damage.len());
        let known = search.folder(root, 0);
        if !known && search.folders.len() == found && search.damage.len() == damaged {
            search.damage(root, "no trace here or below: no folder holds a `metadata` file");
        }
    }
    let Search { mut folders, mut damage, .. } = search;
    folders.sort_by(|a, b| a.path.cmp(&b.path));
    let mut groups: BTreeMap<Key, TraceFiles> = BTreeMap::new();
    for folder in folders {
        let path = folder.path.join("metadata");
        match folder.metadata.as_ref().map(|metadata| metadata.read(MAX_METADATA)) {
            Some(Ok(bytes)) if !bytes.is_empty() => {
                let uuid = trace_files::uuid_of(&bytes);
                let key = uuid.map_or_else(|| Key::Folder(folder.path.clone()), Key::Uuid);
                let group = groups.entry(key).or_insert(TraceFiles { uuid, ..TraceFiles::default() });
                group.add(folder, bytes);
            }
            Some(Err(error)) => damage.push(Damage::io(&path, "read", &error)),
            Some(Ok(_)) | None => damage.push(Damage::of(ErrorKind::NoTrace, &path, EMPTY)),
        }
    }
    let mut traces: Vec<_> = groups.into_values().collect();
    traces.sort_by(|a, b| a.folders.cmp(&b.folders));
    damage.sort();
    match damage.first() {
        Some(first) if traces.is_empty() => Err(first.into()),
        _ => Ok(Discovery { traces, damage }),
    }
}

/// The data stream files of a trace's folder, sorted by name.
///
/// Empty ones are left out: LTTng makes one for each CPU, also for those that recorded nothing. So are hidden files and
/// `.toml` files.
pub fn stream_files(folder: &Path) -> Result<Vec<PathBuf>, Damage> {
    let unreadable = |error| Damage::io(folder, "read", &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        // A catalog may be kept next to the trace that it explains.
        let is_other =
            name.as_encoded_bytes().starts_with(b".") || name.as_encoded_bytes().ends_with(b".toml");
        if name == "metadata" || is_other {
            continue;
        }
        let path = entry.path();
        // One that cannot be looked at, or is not a regular file, is kept, so that opening it names the reason.
        let is_stream = fs::metadata(&path).map_or(true, |found| match found.is_file() {
            true => found.len() > 0,
            false => !found.is_dir(),
        });
        if is_stream {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What folders are grouped by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Uuid(Uuid),
    Folder(PathBuf),
}

/// A search for metadata in folders.
#[derive(Default)]
struct Search {
    /// The folders seen, by device and inode: each is looked at once, however many links lead to it.
    seen: HashSet<(u64, u64)>,
    entries: usize,
    folders: Vec<TraceFolder>,
    damage: Vec<Damage>,
}

impl Search {
    /// Looks into a folder and those below it, and returns whether it had been seen before.
    fn folder(&mut self, folder: &Path, depth: usize) -> bool {
        let found = match fs::metadata(folder) {
            Ok(found) => found,
            Err(error) => return self.unreadable(folder, "opened", &error),
        };
        if !found.is_dir() {
            return self.file(folder);
        }
        if !self.seen.insert((found.dev(), found.ino())) {
            return true;
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(folder, "listed", &error),
        };
        let mut below = Vec::new();
        for entry in entries {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return self.damage(folder, "too many files to look at from here: name the trace's folder");
            }
            match entry {
                Ok(entry) if entry.file_name() == "metadata" => self.trace(folder),
                // A broken link is not a folder, and no trace is lost with it.
                Ok(entry) if entry.path().is_dir() => below.push(entry.path()),
                Ok(_) => {}
                Err(error) => return self.unreadable(folder, "listed", &error),
            }
        }
        if depth == MAX_DEPTH && !below.is_empty() {
            return self.damage(folder, "folders are nested too deeply from here: name the trace's folder");
        }
        below.sort();
        for folder in below {
            self.folder(&folder, depth + 1);
        }
        false
    }

    /// Adds a folder that directly holds a `metadata` file.
    fn trace(&mut self, folder: &Path) {
        let streams = stream_files(folder).unwrap_or_else(|unreadable| {
            self.damage.push(unreadable);
            Vec::new()
        });
        self.folders.push(TraceFolder {
            path: folder.to_owned(),
            metadata: Some(Location::file(folder.join("metadata"))),
            streams: streams.into_iter().map(Location::file).collect(),
        });
    }

    /// Looks into an archive.
    #[cfg(feature = "archives")]
    fn file(&mut self, path: &Path) -> bool {
        match archive::open(path) {
            Ok(Some(archive)) => {
                self.folders.extend(archive.folders);
                if let Some(error) = archive.damage {
                    self.damage(path, &format!("ends early or is damaged: {error}"));
                }
            }
            Ok(None) => {
                self.damage(
                    path,
                    "is neither a folder with a trace nor a .tar, .tar.gz, .tar.xz or .tar.zst file",
                );
            }
            Err(error) => {
                self.unreadable(path, "unpacked", &error);
            }
        }
        false
    }

    #[cfg(not(feature = "archives"))]
    fn file(&mut self, path: &Path) -> bool {
        self.damage(path, "is not a folder: give the folder that holds the trace")
    }

    fn unreadable(&mut self, path: &Path, what: &str, error: &io::Error) -> bool {
        self.damage.push(Damage::io(path, what, error));
        false
    }

    fn damage(&mut self, path: &Path, reason: &str) -> bool {
        self.damage.push(Damage::of(ErrorKind::NoTrace, path, reason));
        false
    }
}

#[cfg(test)]
mod tests;
