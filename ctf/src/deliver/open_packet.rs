//! A packet, read a part at a time.
//!
//! Parts fit the processor's cache. A part ends anywhere: the event that it cuts is decoded again at the beginning of
//! the next, which starts at a multiple of [`PAGE`] so that alignments hold.

use std::io;
use std::sync::Arc;

use crate::decode::bits::Fault;
use crate::decode::frozen::Frozen;
use crate::decode::part::{Cursor, Part, StopReason};
use crate::decode::stream_plan::StreamPlan;
use crate::metadata::Metadata;
use crate::packets::LocatedPacket;
use crate::packets::bytes::Bytes;
use crate::packets::header;

/// The usual size of a part.
pub const PART: usize = 256 << 10;

/// The largest alignment, in bytes.
const PAGE: usize = 4096;

/// The largest event, in bytes: an event must fit into memory.
const MAX_EVENT: usize = 64 << 20;

/// A packet that is being read.
pub struct OpenPacket {
    /// How to decode its events.
    pub plan: Arc<StreamPlan>,
    /// Where in its file it begins.
    offset: u64,
    is_open: bool,
    is_cut: bool,
    /// The values of its context, if any are wanted.
    context: Vec<Frozen>,
    /// What events may refer to in its header and context.
    slots: Vec<i128>,
    /// Where the content ends, in bits.
    content: u64,
    /// How long a part is.
    part: usize,
    /// Where the part that has been read begins, in bytes from the packet's beginning.
    base: u64,
    /// Where in the part decoding is.
    pub cursor: Cursor,
    buffer: Vec<u8>,
    /// The whole packet, if it is in memory; the buffer is not used then.
    memory: Option<Arc<Vec<u8>>>,
    /// The number of bytes of the part that has been read.
    filled: usize,
    is_event_too_large: bool,
}

impl OpenPacket {
    /// Opens a packet and reads its first part, of about this size. The buffer is reused.
    pub fn open(
        metadata: &Metadata,
        plan: Arc<StreamPlan>,
        packet: &LocatedPacket,
        bytes: &Bytes,
        part: usize,
        mut buffer: Vec<u8>,
    ) -> io::Result<OpenPacket> {
        let header = &packet.header;
        let available = match header.is_open {
            true => written(bytes, packet.offset, packet.length, &mut buffer)?,
            false => packet.length,
        };
        let content = header.content_size.unwrap_or(u64::MAX).min(available.saturating_mul(8));
        // In equal parts, so that two packets that are decoded in turns keep step.
        let length = content.div_ceil(8);
        let equal = length.div_ceil(length.div_ceil(part as u64).max(1)) as usize;
        let head = header.events_at.div_ceil(8) as usize;
        let mut open = OpenPacket {
            plan,
            offset: packet.offset,
            is_open: header.is_open,
            is_cut: packet.is_cut,
            context: Vec::new(),
            slots: vec![0; metadata.slots],
            content,
            part: equal.max(head) + PAGE,
            base: 0,
            cursor: Cursor::new(header.events_at as usize, header.begin.unwrap_or(0)),
            buffer,
            memory: bytes.as_packet(),
            filled: 0,
            is_event_too_large: false,
        };
        open.read(bytes)?;
        if open.plan.needs_context || !open.slots.is_empty() {
            let stream = &metadata.streams[header.stream];
            let mut slots = std::mem::take(&mut open.slots);
            let head = &open.part().bytes[..open.filled.min(head)];
            // The header was valid when the packet was found.
            let values = header::context(metadata, stream, head, &mut slots).unwrap_or_default();
            let context = values.into_iter().map(Frozen::from).collect();
            (open.context, open.slots) = (context, slots);
        }
        Ok(open)
    }

    /// Reads the next part, or the same one again and more of it.
    pub fn read(&mut self, bytes: &Bytes) -> io::Result<()> {
        let length = self.part.min(self.left());
        self.filled = match &self.memory {
            Some(memory) => length.min(memory.len().saturating_sub(self.begin())),
            None => bytes.read(self.offset + self.base, length, &mut self.buffer)?.len(),
        };
        Ok(())
    }

    /// Where the part begins in memory.
    fn begin(&self) -> usize {
        usize::try_from(self.offset + self.base).unwrap_or(usize::MAX)
    }

    /// The number of bytes of content from the part's beginning on.
    fn left(&self) -> usize {
        usize::try_from(self.content.div_ceil(8).saturating_sub(self.base)).unwrap_or(usize::MAX)
    }

    /// The part that has been read.
    #[inline]
    pub fn part(&self) -> Part<'_> {
        let end = usize::try_from(self.content.saturating_sub(self.base * 8)).unwrap_or(usize::MAX);
        let bytes = match &self.memory {
            Some(memory) => &memory[self.begin()..][..self.filled],
            None => &self.buffer[..self.filled],
        };
        Part { bytes, end, context: &self.context, slots: &self.slots }
    }

    /// Goes on after what was decoded, if the packet has more.
    pub fn goes_on(&mut self, cursor: Cursor, stop: StopReason) -> bool {
        self.cursor = cursor;
        if stop != StopReason::Short || self.filled < self.part || self.filled == self.left() {
            return false;
        }
        match cursor.at / 8 / PAGE * PAGE {
            0 if self.part > MAX_EVENT => {
                self.is_event_too_large = true;
                return false;
            }
            0 => self.part *= 2,
            passed => {
                self.base += passed as u64;
                self.cursor.at -= passed * 8;
            }
        }
        true
    }

    /// What is wrong with the packet if its events ended like this, and where.
    pub fn verdict(&self, stop: StopReason) -> Option<(u64, String)> {
        let in_event = self.offset + self.base + self.cursor.at as u64 / 8;
        let reason = match stop {
            // What concerns the whole packet is reported at its beginning.
            _ if self.is_open => {
                let reason = "the tracer did not close this packet: it still runs or was killed";
                return Some((self.offset, reason.into()));
            }
            StopReason::Short if self.is_event_too_large => {
                format!("an event is larger than {} MB", MAX_EVENT >> 20)
            }
            StopReason::End | StopReason::Short if self.is_cut => {
                return Some((self.offset, "the file ends within this packet".into()));
            }
            StopReason::End => return None,
            StopReason::Short => in_words(Fault::Short).into(),
            StopReason::UnknownClass(id) => format!("the metadata describes no event with id {id}"),
            StopReason::NoRoom => "an event has no size".into(),
            StopReason::Fault(fault) => in_words(fault).into(),
        };
        let at = if self.is_cut { self.offset } else { in_event };
        Some((at, format!("{reason}; the rest of the packet is left out")))
    }

    /// Releases a packet that is in memory and has no more events.
    pub fn release(&mut self) {
        (self.memory, self.filled) = (None, 0);
    }

    /// Takes the buffer for reuse.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }
}

fn in_words(fault: Fault) -> &'static str {
    match fault {
        Fault::Short => "an event extends past the end of the packet's content",
        Fault::NoChoice => "a variant's tag selects no member",
        Fault::BadLength => "a sequence has an impossible length",
        Fault::TooLarge => "an integer has more than 64 bits",
    }
}

/// The size of what has been written to a packet that was left open: all but the zeros at its end.
fn written(bytes: &Bytes, offset: u64, length: u64, buffer: &mut Vec<u8>) -> io::Result<u64> {
    let mut written = 0;
    let mut at = 0;
    while at < length {
        let wanted = PART.min(usize::try_from(length - at).unwrap_or(PART));
        let part = bytes.read(offset + at, wanted, buffer)?;
        if let Some(last) = part.iter().rposition(|&byte| byte != 0) {
            written = at + last as u64 + 1;
        }
        if part.len() < wanted {
            break;
        }
        at += part.len() as u64;
    }
    Ok(written)
}
