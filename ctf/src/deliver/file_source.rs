//! The packets of a trace that is in files or in memory as a whole.

use std::io;
use std::sync::Arc;

use super::packet_source::{NextPacket, Packet, PacketSource, Storage};
use crate::Window;
use crate::open_trace::OpenTrace;
use crate::packets::LocatedPacket;

/// The packets of an open trace.
pub struct FileSource<'r> {
    number: usize,
    trace: &'r OpenTrace,
    /// The packets of each stream that may have events in the window, the earliest last.
    streams: Vec<Vec<&'r LocatedPacket>>,
}

impl<'r> FileSource<'r> {
    /// The packets of the reader's trace with this number.
    pub fn new(number: usize, trace: &'r OpenTrace, window: Window) -> FileSource<'r> {
        let streams = trace.packets.streams().map(|stream| {
            let packets = stream.iter().filter(|packet| trace.is_in_window(packet, window));
            let mut packets: Vec<_> = packets.collect();
            // A clock that was set back brings later packets before earlier ones.
            packets.sort_by_key(|packet| packet.earliest());
            packets.reverse();
            packets
        });
        FileSource { number, trace, streams: streams.collect() }
    }
}

impl FileSource<'_> {
    /// The size of all packets, in bytes.
    pub fn size(&self) -> u64 {
        self.streams.iter().flatten().map(|packet| packet.length).sum()
    }
}

impl PacketSource for FileSource<'_> {
    fn metadata(&mut self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn streams(&mut self) -> io::Result<usize> {
        Ok(self.streams.len())
    }

    fn next_packet(&mut self, stream: usize) -> io::Result<NextPacket> {
        let Some(packet) = self.streams[stream].pop() else { return Ok(NextPacket::End) };
        let location = Arc::clone(&self.trace.packets.files[packet.file]);
        Ok(NextPacket::Packet(Packet {
            storage: Storage::File { trace: self.number, file: packet.file, location },
            offset: packet.offset,
            length: packet.length,
            located: Some(Box::new(packet.clone())),
        }))
    }
}
