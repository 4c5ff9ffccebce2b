//! A packet, read a part at a time.
//!
//! Parts fit the processor's cache. A part ends anywhere: the event that it cuts is decoded again at the beginning of
//! the next, which starts at a multiple of [`PAGE`] so that alignments hold.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::decode::bits::Fault;
use crate::decode::frozen::Frozen;
use crate::decode::part::{Cursor, Part, StopReason};
use crate::decode::stream_plan::StreamPlan;
use crate::metadata::Metadata;
use crate::packets::LocatedPacket;
use crate::packets::bytes::Bytes;
use crate::packets::header;
use crate::packets::marks::Mark;
use crate::packets::notes::{PacketNotes, PartNotes};

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
    /// Where the content ends, in bits.
    content: u64,
    /// How long a part is.
    part: usize,
    /// Where the part that has been read begins, in bytes from the packet's beginning.
    base: u64,
    /// Where in the part decoding is.
    pub cursor: Cursor,
    /// The part that has been read. Others may have it, too.
    read: Arc<ReadPart>,
    is_event_too_large: bool,
    /// Whether the clock has run backwards.
    pub is_stepped: bool,
    /// Where parts began, after the first.
    marks: Vec<Mark>,
    /// The events that the collector will want again.
    pub notes: PacketNotes,
}

/// A part of a packet in memory, with what its events refer to.
#[derive(Debug, Default)]
pub struct ReadPart {
    buffer: Vec<u8>,
    /// The whole packet, if it is in memory, and where the part begins there; the buffer is not used then.
    memory: Option<(Arc<Vec<u8>>, usize)>,
    /// The number of bytes.
    filled: usize,
    /// Where the content ends, in bits from the beginning of the part.
    end: usize,
    /// The values of the packet's context, if any are wanted.
    context: Arc<[Frozen]>,
    /// What events may refer to in the packet's header and context.
    slots: Arc<[i128]>,
}

impl ReadPart {
    /// A part of the same packet that is read into another buffer.
    fn other(&self, buffer: Vec<u8>) -> ReadPart {
        let (context, slots) = (Arc::clone(&self.context), Arc::clone(&self.slots));
        ReadPart { buffer, context, slots, ..ReadPart::default() }
    }

    /// The part, for decoding.
    #[inline]
    pub fn part(&self) -> Part<'_> {
        let bytes = match &self.memory {
            Some((memory, begin)) => &memory[*begin..][..self.filled],
            None => &self.buffer[..self.filled],
        };
        Part { bytes, end: self.end, context: &self.context, slots: &self.slots }
    }

    /// The buffer, for reuse, if nobody else has the part and there is one.
    pub fn into_buffer(part: Arc<ReadPart>) -> Option<Vec<u8>> {
        Arc::into_inner(part).map(|part| part.buffer).filter(|buffer| buffer.capacity() > 0)
    }
}

impl OpenPacket {
    /// Opens a packet and reads its first part, of about this size, into a buffer that is used again. Parts in which all events
    /// are known to be outside of the limits of time may be left out.
    pub fn open(
        metadata: &Metadata,
        plan: Arc<StreamPlan>,
        packet: &LocatedPacket,
        bytes: &Bytes,
        (part, limits): (usize, &RangeInclusive<i64>),
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
        let [from, to] = packet.marks.around(limits, &plan.timebase);
        let mut open = OpenPacket {
            plan,
            offset: packet.offset,
            is_open: header.is_open,
            is_cut: packet.is_cut,
            content: to.map_or(content, |to| to.position()),
            part: equal.max(head) + PAGE,
            base: 0,
            cursor: Cursor::new(header.events_at as usize, header.begin.unwrap_or(0)),
            read: Arc::default(),
            is_event_too_large: false,
            is_stepped: false,
            marks: Vec::new(),
            notes: PacketNotes::default(),
        };
        let mut read = ReadPart { buffer, ..ReadPart::default() };
        let needs_head = open.plan.needs_context || metadata.slots > 0;
        if needs_head || from.is_none() {
            open.read_into(&mut read, bytes)?;
        }
        if needs_head {
            let stream = &metadata.streams[header.stream];
            let mut slots = vec![0; metadata.slots];
            let head = &read.part().bytes[..read.filled.min(head)];
            // The header was valid when the packet was found.
            let values = header::context(metadata, stream, head, &mut slots).unwrap_or_default();
            read.context = values.into_iter().map(Frozen::from).collect();
            read.slots = slots.into();
        }
        if let Some(Mark { base, cursor }) = from {
            (open.base, open.cursor) = (base, cursor);
            open.read_into(&mut read, bytes)?;
        }
        open.read = Arc::new(read);
        Ok(open)
    }

    /// Reads the next part, or the same one again and more of it; into another buffer if others still have the last one.
    pub fn read(&mut self, bytes: &Bytes, buffer: impl FnOnce() -> Vec<u8>) -> io::Result<()> {
        let mut read = std::mem::take(&mut self.read);
        match Arc::get_mut(&mut read) {
            Some(read) => self.read_into(read, bytes)?,
            None => {
                let mut other = read.other(buffer());
                // Whoever has the old part may be done with it while this is read, and use its buffer again.
                drop(read);
                self.read_into(&mut other, bytes)?;
                read = Arc::new(other);
            }
        }
        self.read = read;
        Ok(())
    }

    /// Reads the part that some events were noted in, unless that is the one that has been read.
    pub fn read_noted(&mut self, noted: &PartNotes, bytes: &Bytes) -> io::Result<()> {
        if (noted.base, noted.length) == (self.base, self.read.filled) {
            return Ok(());
        }
        (self.base, self.part) = (noted.base, noted.length);
        self.read(bytes, Vec::new)
    }

    /// Keeps what was noted of the part that has been read.
    pub fn note(&mut self, mut part: PartNotes) {
        (part.base, part.length) = (self.base, self.read.filled);
        self.notes.parts.push(part);
    }

    fn read_into(&self, read: &mut ReadPart, bytes: &Bytes) -> io::Result<()> {
        let length = self.part.min(self.left());
        let end = self.content.saturating_sub(self.base * 8);
        let begin = self.offset + self.base;
        read.end = usize::try_from(end).unwrap_or(usize::MAX);
        match bytes.as_packet() {
            Some(packet) => {
                let begin = usize::try_from(begin).unwrap_or(usize::MAX).min(packet.len());
                read.filled = length.min(packet.len() - begin);
                read.memory = Some((packet, begin));
            }
            None => read.filled = bytes.read(begin, length, &mut read.buffer)?.len(),
        }
        Ok(())
    }

    /// The number of bytes of content from the part's beginning on.
    fn left(&self) -> usize {
        usize::try_from(self.content.div_ceil(8).saturating_sub(self.base)).unwrap_or(usize::MAX)
    }

    /// The part that has been read.
    #[inline]
    pub fn part(&self) -> Part<'_> {
        self.read.part()
    }

    /// The part that has been read, to keep.
    pub fn read_part(&self) -> Arc<ReadPart> {
        Arc::clone(&self.read)
    }

    /// Goes on after what was decoded, if the packet has more.
    pub fn goes_on(&mut self, cursor: Cursor, stop: StopReason) -> bool {
        self.cursor = cursor;
        let filled = self.read.filled;
        if stop != StopReason::Short || filled < self.part || filled == self.left() {
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
                self.marks.push(Mark { base: self.base, cursor: self.cursor });
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

    /// Where readings of a part of the packet can begin and end, if it has been read as a whole.
    pub fn take_marks(&mut self) -> Vec<Mark> {
        let marks = std::mem::take(&mut self.marks);
        if self.is_stepped { Vec::new() } else { marks }
    }

    /// The buffer, for reuse.
    pub fn into_buffer(self) -> Option<Vec<u8>> {
        ReadPart::into_buffer(self.read)
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
