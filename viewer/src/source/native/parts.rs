//! A packet, read a part at a time.
//!
//! Parts fit the processor's cache. A part ends anywhere: the event that it cuts is decoded again at the beginning of
//! the next, which starts at a multiple of [`PAGE`] so that alignments hold.

use std::io;
use std::rc::Rc;

use super::bits::Fault;
use super::decoding::{Cursor, Decoding, Part, Stop};
use super::file::StreamFile;
use super::ledger::Filed;
use super::packet;
use super::read::Job;
use crate::source::{Value, Window};

/// How much of a packet to read at a time, about.
const PART: usize = 256 << 10;

/// No alignment is larger than this many bytes.
const PAGE: usize = 4096;

/// A packet that is being read.
pub struct OpenPacket<'j> {
    job: &'j Job<'j>,
    filed: &'j Filed,
    file: Rc<StreamFile>,
    /// The bytes of its header and its context, if anybody asks for these.
    head: Vec<u8>,
    /// What events may refer to in these.
    slots: Vec<i128>,
    /// Where the content ends, in bits.
    content: u64,
    /// How long a part is.
    part: usize,
    /// Where the part at hand begins, in bytes from the packet's beginning.
    base: u64,
    /// Where in the part decoding is.
    cursor: Cursor,
    buffer: Vec<u8>,
    /// How many bytes of the part there are in the buffer.
    filled: usize,
}

impl<'j> OpenPacket<'j> {
    /// Opens a packet. The buffer is one to be used again.
    pub fn new(
        job: &'j Job<'j>,
        filed: &'j Filed,
        file: Rc<StreamFile>,
        mut buffer: Vec<u8>,
    ) -> io::Result<OpenPacket<'j>> {
        let (packet, header) = (&filed.packet, &filed.packet.header);
        let mut head = Vec::new();
        let mut slots = vec![0; job.metadata.slots];
        if job.plans[header.stream].needs_context() || !slots.is_empty() {
            let length = file.read(packet.offset, header.events_at.div_ceil(8) as usize, &mut head)?.len();
            head.truncate(length);
        }
        // It was sound when the packet was found.
        let _ = packet::context(job.metadata, &job.metadata.streams[header.stream], &head, &mut slots);
        let available = if header.is_open {
            written(&file, packet.offset, packet.length, &mut buffer)?
        } else {
            packet.length
        };
        let content = header.content_size.unwrap_or(u64::MAX).min(available.saturating_mul(8));
        let cursor = Cursor { at: header.events_at as usize, clock: header.begin };
        // In equal parts, so that two packets that are decoded in turns keep step.
        let length = content.div_ceil(8);
        let part = length.div_ceil(length.div_ceil(PART as u64).max(1)) as usize + PAGE;
        Ok(OpenPacket { job, filed, file, head, slots, content, part, base: 0, cursor, buffer, filled: 0 })
    }

    /// Reads the next part, or the same one again and more of it.
    pub fn read(&mut self) -> io::Result<()> {
        let offset = self.filed.packet.offset + self.base;
        let length = self.part.min(self.left());
        self.filled = self.file.read(offset, length, &mut self.buffer)?.len();
        Ok(())
    }

    /// How many bytes of content there are from the part's beginning on.
    fn left(&self) -> usize {
        usize::try_from(self.content.div_ceil(8) - self.base).unwrap_or(usize::MAX)
    }

    /// The values of the packet's context, if anybody asks for these.
    pub fn context(&self) -> Vec<Value<'_>> {
        let stream = &self.job.metadata.streams[self.filed.packet.header.stream];
        packet::context(self.job.metadata, stream, &self.head, &mut self.slots.clone()).unwrap_or_default()
    }

    /// The part that was read, to be decoded.
    pub fn decoding<'a>(&'a self, context: &'a [Value<'a>], window: Window) -> Decoding<'a> {
        let end = usize::try_from(self.content - self.base * 8).unwrap_or(usize::MAX);
        let part = Part { bytes: &self.buffer[..self.filled], end, context };
        let plan = &self.job.plans[self.filed.packet.header.stream];
        Decoding::new(plan, part, self.cursor, window, self.slots.clone())
    }

    /// Goes on behind what was decoded, if the packet has more.
    pub fn goes_on(&mut self, cursor: Cursor, stop: Stop) -> bool {
        self.cursor = cursor;
        if stop != Stop::Short || self.filled < self.part || self.filled == self.left() {
            return false;
        }
        match cursor.at / 8 / PAGE * PAGE {
            0 => self.part = self.part.saturating_mul(2),
            passed => {
                self.base += passed as u64;
                self.cursor.at -= passed * 8;
            }
        }
        true
    }

    /// What is wrong with the packet if its events ended like this, and where.
    pub fn verdict(&self, stop: Stop) -> Option<(u64, String)> {
        let packet = &self.filed.packet;
        let in_event = packet.offset + self.base + self.cursor.at as u64 / 8;
        let (at, reason) = match stop {
            // What concerns the whole packet is named at its beginning.
            _ if packet.header.is_open => {
                let reason = "the tracer did not close this packet: it still runs or was killed";
                return Some((packet.offset, reason.into()));
            }
            Stop::End | Stop::Short if packet.is_cut => {
                return Some((packet.offset, "the file ends within this packet".into()));
            }
            Stop::End => return None,
            Stop::Short => (in_event, in_words(Fault::Short).into()),
            Stop::UnknownClass(id) => (in_event, format!("the metadata describes no event with id {id}")),
            Stop::NoRoom => (in_event, "an event takes no room".into()),
            Stop::Fault(fault) => (in_event, in_words(fault).into()),
        };
        let at = if packet.is_cut { packet.offset } else { at };
        Some((at, format!("{reason}; the rest of the packet is left out")))
    }

    /// Which packet it is.
    pub fn filed(&self) -> (&'j Job<'j>, &'j Filed) {
        (self.job, self.filed)
    }

    /// The buffer, to be used again.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}

fn in_words(fault: Fault) -> &'static str {
    match fault {
        Fault::Short => "an event ends behind the packet's content",
        Fault::NoChoice => "a variant's tag chooses none of its members",
        Fault::BadLength => "a sequence has an impossible length",
        Fault::TooLarge => "an integer has more than 64 bits",
    }
}

/// How much of a packet that was left open has been written: all but the zeros at its end.
fn written(file: &StreamFile, offset: u64, length: u64, buffer: &mut Vec<u8>) -> io::Result<u64> {
    let mut written = 0;
    let mut at = 0;
    while at < length {
        let wanted = PART.min(usize::try_from(length - at).unwrap_or(PART));
        let bytes = file.read(offset + at, wanted, buffer)?;
        if let Some(last) = bytes.iter().rposition(|&byte| byte != 0) {
            written = at + last as u64 + 1;
        }
        if bytes.len() < wanted {
            break;
        }
        at += bytes.len() as u64;
    }
    Ok(written)
}
