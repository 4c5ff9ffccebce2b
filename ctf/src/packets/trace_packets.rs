//! All packets of a trace.

use std::sync::Arc;

use super::bytes::Location;
use super::{LocatedPacket, continuity, index, scan};
use crate::Damage;
use crate::metadata::Metadata;

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
    pub fn find(metadata: &Metadata, files: Vec<Location>) -> TracePackets {
        let files = files.into_iter().map(Arc::new).collect();
        let mut found = TracePackets { files, ..TracePackets::default() };
        for (number, location) in found.files.iter().enumerate() {
            let index = match location.index() {
                Ok(bytes) => index::read(&bytes).unwrap_or_default(),
                // The trace is complete without it, but a bad index is worth knowing about.
                Err(error) => {
                    found.damage.push(Damage::io(&location.index_path(), "read", &error));
                    Vec::new()
                }
            };
            match location.open().and_then(|bytes| scan::scan(metadata, &bytes, number, &index)) {
                Ok(scan) => {
                    found.packets.extend(scan.packets);
                    let damage = scan.damage.into_iter();
                    let damage =
                        damage.map(|(offset, reason)| Damage::new(&location.path, reason).at(offset));
                    found.damage.extend(damage);
                }
                Err(error) => {
                    found.damage.push(Damage::io(&location.path, "read", &error));
                }
            }
        }
        continuity::arrange(&mut found.packets);
        found
    }

    pub fn streams(&self) -> impl Iterator<Item = &[LocatedPacket]> {
        self.packets.chunk_by(|a, b| a.stream() == b.stream())
    }

    /// The first and the last packet of each stream that have events; the same one twice if there is only one.
    pub fn ends(&self) -> impl Iterator<Item = [&LocatedPacket; 2]> {
        let has_events = |packet: &&LocatedPacket| {
            let header = &packet.header;
            !packet.is_skipped && header.content_size.is_none_or(|size| size > header.events_at)
        };
        self.streams().filter_map(move |stream| {
            let mut packets = stream.iter().filter(has_events);
            let first = packets.next()?;
            Some([first, packets.next_back().unwrap_or(first)])
        })
    }
}
