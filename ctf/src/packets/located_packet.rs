//! A packet that was found, and where.

use super::header::PacketHeader;
use super::marks::Marks;

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
    /// Whether it is not to be read: somebody has read it before.
    pub is_skipped: bool,
    /// An upper bound of the clock's counts of its events, from its header and its successor's.
    pub latest: u64,
    /// Where readings of a part of it can begin and end.
    pub marks: Marks,
}

impl LocatedPacket {
    /// A packet that has been found at an offset of a file.
    pub fn new(file: usize, offset: u64, length: u64, header: PacketHeader, is_cut: bool) -> LocatedPacket {
        let (is_skipped, latest, marks) = (false, u64::MAX, Marks::default());
        LocatedPacket { file, offset, length, header, is_cut, is_skipped, latest, marks }
    }

    /// The stream: packets without a stream number belong to their file's stream.
    pub fn stream(&self) -> (usize, Result<u64, usize>) {
        (self.header.stream, self.header.instance.ok_or(self.file))
    }

    /// Bounds of the clock's counts of its events, of which there is at least one, where its header has them.
    pub fn bounds(&self) -> Option<[u64; 2]> {
        let PacketHeader { begin, end, content_size, events_at, is_open, .. } = self.header;
        let is_known = content_size.is_some_and(|size| size > events_at) && !is_open && !self.is_cut;
        let bounds = [begin?, if self.latest < u64::MAX { self.latest } else { end? }];
        (is_known && !self.header.is_stepped()).then_some(bounds)
    }

    /// A lower bound of the clock's counts of its events, unless the clock was set back within the packet and has
    /// passed the packet's beginning again. If it has not, how far it was set back is not known: events after that may
    /// be earlier than the packet's end too.
    pub fn earliest(&self) -> u64 {
        if self.header.is_stepped() { 0 } else { self.header.begin.unwrap_or(0) }
    }
}
