//! Traces in archives.
//!
//! A tar file is read in place: each of its members is a part of it. A compressed one is unpacked once, into a temporary
//! file without a name, which is gone when the reader is, however it ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::trace_files::TraceFolder;
use crate::packets::bytes::{Location, open_regular};

/// How much a compressed archive may hold: a small file can claim to hold more than any disk has room for.
const MAX_UNPACKED: u64 = 1 << 40;

/// The largest dictionary that unpacking may need, in KiB.
const MAX_DICTIONARY_KIB: u32 = 512 << 10;

/// What an archive holds.
pub struct Archive {
    /// The folders that directly hold a `metadata` file.
    pub folders: Vec<TraceFolder>,
    /// Why the rest of it cannot be read, if that is so.
    pub damage: Option<io::Error>,
}

/// Looks into an archive; `None` if the file is not one.
pub fn open(path: &Path) -> io::Result<Option<Archive>> {
    let mut file = open_regular(path)?;
    let mut beginning = Vec::new();
    file.by_ref().take(512).read_to_end(&mut beginning)?;
    file.rewind()?;
    let (file, damage) = match *beginning {
        [0x1F, 0x8B, ..] => unpack(flate2::read::MultiGzDecoder::new(BufReader::new(file)))?,
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => {
            unpack(lzma_rust2::XzReader::new_mem_limit(BufReader::new(file), true, MAX_DICTIONARY_KIB))?
        }
        [0x28, 0xB5, 0x2F, 0xFD, ..] => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(BufReader::new(file));
            unpack(decoder.map_err(io::Error::other)?)?
        }
        _ if beginning.get(257..262) == Some(b"ustar") => (file, None),
        _ => return Ok(None),
    };
    let mut folders = BTreeMap::new();
    let listed = list(path, Arc::new(file), &mut folders);
    let mut folders: Vec<_> = folders.into_values().filter(|folder| folder.metadata.is_some()).collect();
    folders.iter_mut().for_each(|folder| folder.streams.sort_by(|a, b| a.path.cmp(&b.path)));
    Ok(Some(Archive { folders, damage: damage.or(listed.err()) }))
}

/// Unpacks a compressed archive as far as that can be, and says why it ends early if it does.
fn unpack(packed: impl Read) -> io::Result<(File, Option<io::Error>)> {
    let mut file = tempfile::tempfile()?;
    let damage = match io::copy(&mut packed.take(MAX_UNPACKED), &mut file) {
        Ok(MAX_UNPACKED) => Some(io::Error::other("it unpacks to more than a terabyte")),
        Ok(_) => None,
        // A full disk is not damage of the archive: with more room there would be more to read.
        Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(error),
        Err(error) => Some(error),
    };
    file.rewind()?;
    Ok((file, damage))
}

/// Groups the files of a tar file by their folders.
fn list(path: &Path, file: Arc<File>, folders: &mut BTreeMap<PathBuf, TraceFolder>) -> io::Result<()> {
    let mut archive = tar::Archive::new(&*file);
    for entry in archive.entries_with_seek()? {
        let entry = entry?;
        if !entry.header().entry_type().is_file() || entry.size() == 0 {
            continue;
        }
        let name = path.join(entry.path()?);
        let (Some(folder), Some(base)) = (name.parent(), name.file_name()) else { continue };
        let location =
            Location::part(name.clone(), Arc::clone(&file), entry.raw_file_position(), entry.size());
        let folder = folders.entry(folder.to_owned()).or_insert_with(|| TraceFolder {
            path: folder.to_owned(),
            metadata: None,
            streams: Vec::new(),
        });
        match base.as_encoded_bytes() {
            b"metadata" => folder.metadata = Some(location),
            [b'.', ..] | [.., b'.', b't', b'o', b'm', b'l'] => {}
            _ => folder.streams.push(location),
        }
    }
    Ok(())
}
