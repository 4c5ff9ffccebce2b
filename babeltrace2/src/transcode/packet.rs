//! A stream's packets, in a file without a name.

use std::fs::File;
use std::io::{self, BufWriter, Write};

/// What packets begin with.
const MAGIC: u32 = 0xC1FC_1FC1;

/// How much of a stream without packets is one.
const SIZE: usize = 1 << 20;

/// Writes a stream.
pub struct StreamWriter {
    /// Its number in its trace.
    pub id: u64,
    class: u64,
    uuid: Option<[u8; 16]>,
    has_clock: bool,
    file: BufWriter<File>,
    packet: Option<Packet>,
    sequence: u64,
    lost_events: u64,
}

#[derive(Default)]
struct Packet {
    begin: Option<u64>,
    end: Option<u64>,
    context: Vec<u8>,
    events: Vec<u8>,
    /// Whether it was begun by an event, and not by a message.
    is_made_up: bool,
}

impl StreamWriter {
    pub fn new(id: u64, class: u64, uuid: Option<[u8; 16]>, has_clock: bool) -> io::Result<Self> {
        let file = BufWriter::new(tempfile::tempfile()?);
        Ok(StreamWriter { id, class, uuid, has_clock, file, packet: None, sequence: 0, lost_events: 0 })
    }

    /// Begins a packet, at this time if that is known.
    pub fn begin(&mut self, time: Option<u64>) -> io::Result<()> {
        self.end(None)?;
        self.packet = Some(Packet { begin: time, ..Packet::default() });
        Ok(())
    }

    /// Where the context of the packet goes that has just begun.
    pub fn context(&mut self) -> &mut Vec<u8> {
        &mut self.packet.get_or_insert_default().context
    }

    /// Begins an event. Its fields go where this returns.
    pub fn event(&mut self, class: u64, time: Option<u64>) -> io::Result<&mut Vec<u8>> {
        if self.packet.as_ref().is_some_and(|packet| packet.is_made_up && packet.events.len() >= SIZE) {
            self.end(None)?;
        }
        let packet = self.packet.get_or_insert_with(|| Packet { is_made_up: true, ..Packet::default() });
        packet.begin = packet.begin.or(time);
        packet.end = packet.end.max(time);
        packet.events.extend(class.to_le_bytes());
        if let Some(time) = time {
            packet.events.extend(time.to_le_bytes());
        }
        Ok(&mut packet.events)
    }

    /// Ends the packet, if there is one, at this time or that of its last event, and writes it.
    pub fn end(&mut self, time: Option<u64>) -> io::Result<()> {
        let Some(Packet { begin, end, context, events, .. }) = self.packet.take() else { return Ok(()) };
        let mut head = Vec::with_capacity(128);
        head.extend(MAGIC.to_le_bytes());
        head.extend(self.uuid.iter().flatten());
        head.extend([self.class, self.id].map(u64::to_le_bytes).as_flattened());
        if self.has_clock {
            let begin = begin.unwrap_or(0);
            let end = time.or(end).unwrap_or(begin);
            head.extend([begin, end].map(u64::to_le_bytes).as_flattened());
        }
        let bits = (head.len() + 4 * 8 + context.len() + events.len()) as u64 * 8;
        head.extend([bits, bits, self.sequence, self.lost_events].map(u64::to_le_bytes).as_flattened());
        self.sequence += 1;
        [head, context, events].iter().try_for_each(|part| self.file.write_all(part))
    }

    /// Events were lost before the next packet.
    pub fn lose_events(&mut self, count: u64) {
        self.lost_events = self.lost_events.saturating_add(count);
    }

    /// Packets were lost before the next one.
    pub fn lose_packets(&mut self, count: u64) {
        self.sequence = self.sequence.saturating_add(count);
    }

    /// The file, with all packets.
    pub fn finish(mut self) -> io::Result<File> {
        self.end(None)?;
        self.file.into_inner().map_err(|error| error.into_error())
    }
}
