//! Where packets are: in which files, at which offsets, and which of them count.
//!
//! ```text
//! files or memory ──bytes──> scan ──header──> packets ──ledger──> each once, with what was lost between them
//!                             └ index: hints where to go on after damage
//! ```

use std::sync::Arc;

pub mod bytes;
pub mod header;
pub mod index;
pub mod ledger;
pub mod pool;
pub mod scan;

use crate::Damage;
use crate::metadata::Metadata;
use bytes::Location;
use header::PacketHeader;

/// A packet, and where it is.
#[derive(Clone, Debug)]
pub struct LocatedPacket {
    /// The file that it is in, by its number within the trace.
    pub file: usize,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How long it is, or what the file has of it, in bytes.
    pub length: u64,
    /// What its header says.
    pub header: PacketHeader,
    /// Whether the file ends before the packet does.
    pub is_cut: bool,
    /// The clock's count that none of its events exceeds, as far as its header and its successor's tell.
    pub latest: u64,
}

/// The packets of a trace.
#[derive(Debug, Default)]
pub struct TracePackets {
    /// The files that hold the packets.
    pub files: Vec<Arc<Location>>,
    /// The packets, each once, stream by stream and in the order of their stream.
    pub packets: Vec<LocatedPacket>,
    /// What in the files is not a packet, and which files cannot be read.
    pub damage: Vec<Damage>,
}

impl TracePackets {
    /// Finds the packets in all files of a trace.
    pub fn find(metadata: &Metadata, files: Vec<Location>) -> TracePackets {
        let files = files.into_iter().map(Arc::new).collect();
        let mut found = TracePackets { files, ..TracePackets::default() };
        for (number, location) in found.files.iter().enumerate() {
            let index = match location.index() {
                Ok(bytes) => index::read(&bytes).unwrap_or_default(),
                // The trace is complete without it, but whoever put it there should know.
                Err(error) => {
                    found
                        .damage
                        .push(Damage::new(&location.index_path(), format!("cannot be read: {error}")));
                    Vec::new()
                }
            };
            match location.open().and_then(|bytes| scan::scan(metadata, &bytes, number, &index)) {
                Ok(scan) => {
                    found.packets.extend(scan.packets);
                    let damage = scan.damage.into_iter().map(|(offset, reason)| Damage {
                        path: location.path.clone(),
                        offset: Some(offset),
                        reason,
                    });
                    found.damage.extend(damage);
                }
                Err(error) => {
                    found.damage.push(Damage::new(&location.path, format!("cannot be read: {error}")));
                }
            }
        }
        ledger::arrange(&mut found.packets);
        found
    }

    /// The packets of each stream.
    pub fn streams(&self) -> impl Iterator<Item = &[LocatedPacket]> {
        self.packets.chunk_by(|a, b| a.stream() == b.stream())
    }

    /// The first and the last packet of each stream that have events.
    pub fn ends(&self) -> impl Iterator<Item = &LocatedPacket> {
        let has_events = |packet: &&LocatedPacket| {
            let header = &packet.header;
            header.content_size.is_none_or(|size| size > header.events_at)
        };
        self.streams().flat_map(move |stream| {
            let mut packets = stream.iter().filter(has_events);
            let first = packets.next();
            first.into_iter().chain(packets.next_back())
        })
    }
}

impl LocatedPacket {
    /// The stream: packets without a stream number belong to their file's stream.
    pub fn stream(&self) -> (usize, Result<u64, usize>) {
        (self.header.stream, self.header.instance.ok_or(self.file))
    }

    /// The clock's count that none of its events precedes, unless the clock was set back within the packet and has
    /// passed the packet's beginning again. If it has not, how far it was set back is not known: events after that may
    /// be earlier than the packet's end too.
    pub fn earliest(&self) -> u64 {
        if self.header.is_stepped() { 0 } else { self.header.begin.unwrap_or(0) }
    }
}
