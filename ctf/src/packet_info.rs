//! Packets as callers see them, who read some and skip others.

use std::path::Path;

use crate::open_trace::OpenTrace;

/// What identifies a packet, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketInfo<'r> {
    /// The trace, as an index into [`Report::traces`](crate::Report::traces).
    pub trace: usize,
    /// The id of its stream class.
    pub stream: u64,
    /// Which of the streams of this class, where the packet says it; otherwise a stream is a file.
    pub instance: Option<u64>,
    /// Its number in its stream.
    pub sequence: Option<u64>,
    /// When it was begun, in nanoseconds since 1970, where it says that.
    pub begin: Option<i64>,
    /// When it was closed.
    pub end: Option<i64>,
    /// The file that it is in.
    pub file: &'r Path,
    pub(crate) file_number: usize,
    /// Where it begins there, in bytes.
    pub offset: u64,
    /// How much of it is there, in bytes.
    pub length: u64,
    /// Whether the tracer has closed it and all of it is there.
    pub is_complete: bool,
}

impl OpenTrace {
    /// The packets of the trace, which has this number, without those that are skipped.
    pub(crate) fn packet_infos(&self, trace: usize) -> impl Iterator<Item = PacketInfo<'_>> {
        self.packets.packets.iter().filter(|packet| !packet.is_skipped).map(move |packet| {
            let header = &packet.header;
            let timebase = &self.layout.timebases[header.stream];
            let time = |count: Option<u64>| count.map(|count| timebase.time(count));
            PacketInfo {
                trace,
                stream: self.layout.metadata.streams[header.stream].id,
                instance: header.instance,
                sequence: header.sequence,
                begin: time(header.begin),
                end: time(header.end),
                file: &self.packets.files[packet.file].path,
                file_number: packet.file,
                offset: packet.offset,
                length: packet.length,
                is_complete: !packet.is_cut && !header.is_open,
            }
        })
    }
}
