//! Where a stream file's packets are.
//!
//! Babeltrace 2 refuses a whole trace when one packet is cut short, loops on a packet of size 0, and does not
//! show a packet's number or size. So the headers are looked at first.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use ctf_reader::{Damage, Uuid};

use crate::packet_layout::{HEADER, PacketLayout, integer};

const MAGIC: u32 = 0xC1FC_1FC1;

/// How far to look for a packet at once.
const SEARCH: usize = 1 << 16;

/// A packet, or as much of it as the file has.
#[derive(Clone, Debug, PartialEq)]
pub struct ScannedPacket {
    pub file: Arc<Path>,
    pub offset: u64,
    /// In bytes, as far as the file goes.
    pub size: u64,
    /// Up to the last event's end, in bits, as far as the file goes.
    pub content: u64,
    /// Whether the file ends before the packet does, the tracer did not close it, or its events are damaged.
    pub is_incomplete: bool,
    /// The numbers of its stream's class and of its stream.
    pub stream: (u64, u64),
    pub sequence: u64,
    pub begin: u64,
    /// The number of events that its stream had discarded when it was closed.
    pub discarded: u64,
    layout: PacketLayout,
    big_endian: bool,
}

/// The packets of one stream file.
#[derive(Debug, PartialEq)]
pub struct StreamFile {
    pub path: Arc<Path>,
    pub size: u64,
    pub packets: Vec<ScannedPacket>,
    pub damage: Vec<Damage>,
}

impl StreamFile {
    /// Looks at all packet headers of a file of LTTng's layout.
    pub fn scan(path: &Path, uuid: Uuid, layout: PacketLayout) -> io::Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut scan =
            FileScan { file, size, uuid, layout, path: path.into(), stream: None, damage: Vec::new() };
        let mut packets = Vec::new();
        let mut offset = 0;
        while offset < size {
            match scan.packet(offset)? {
                Ok(packet) => {
                    offset = match packet.is_incomplete {
                        true => scan.next_packet(offset + 1)?.unwrap_or(size),
                        false => offset + packet.size,
                    };
                    packets.push(packet);
                }
                Err(reason) => {
                    scan.damage(offset, reason);
                    offset = scan.next_packet(offset + 1)?.unwrap_or(size);
                }
            }
        }
        Ok(Self { path: scan.path, size, packets, damage: scan.damage })
    }

    /// Leaves out what follows a damaged event, up to the end of its packet. Where the packet's own offset is
    /// given instead, its last event leads beyond its content.
    pub fn cut(&mut self, damage: &Damage) {
        let Some(offset) = damage.offset else { return };
        let index = self.packets.partition_point(|packet| packet.offset <= offset);
        let Some(packet) = index.checked_sub(1).and_then(|index| self.packets.get_mut(index)) else { return };
        if packet.is_incomplete || offset >= packet.offset + packet.size {
            return;
        }
        if offset >= packet.offset + HEADER as u64 {
            packet.content = packet.content.min((offset - packet.offset) * 8);
        }
        packet.size = packet.content.div_ceil(8);
        packet.is_incomplete = true;
        self.damage.push(damage.clone());
    }

    /// A file whose packets are not known.
    pub fn unknown(path: &Path) -> io::Result<Self> {
        let size = File::open(path)?.metadata()?.len();
        Ok(Self { path: path.into(), size, packets: Vec::new(), damage: Vec::new() })
    }
}

struct FileScan {
    file: File,
    size: u64,
    uuid: Uuid,
    layout: PacketLayout,
    path: Arc<Path>,
    /// The stream of the file's first packet.
    stream: Option<(u64, u64)>,
    damage: Vec<Damage>,
}

impl FileScan {
    /// Reads the header at an offset, or says why no packet begins there.
    fn packet(&mut self, offset: u64) -> io::Result<Result<ScannedPacket, &'static str>> {
        let remaining = self.size - offset;
        let mut header = [0; HEADER];
        if remaining < header.len() as u64 {
            return Ok(Err("the file ends within a packet's header"));
        }
        self.file.read_exact_at(&mut header, offset)?;
        let Some(big_endian) = self.signature(&header) else {
            return Ok(Err("no packet of this trace begins here"));
        };
        let integer = |at, size| integer(&header, at, size, big_endian);
        let stream = (integer(20, 4), integer(24, 8));
        if *self.stream.get_or_insert(stream) != stream {
            return Ok(Err("the packet belongs to another stream than the file's first"));
        }
        let (mut content, size) = (integer(48, 8), integer(56, 8));
        let is_open = size == u64::MAX;
        if !is_open && (size % 8 != 0 || content > size || content < self.layout.header_bits()) {
            return Ok(Err("the packet's sizes contradict each other"));
        }
        if !is_open && integer(40, 8) < integer(32, 8) {
            return Ok(Err("the packet ends before it begins"));
        }
        let mut length = size / 8;
        let is_incomplete = is_open || length > remaining;
        if is_incomplete {
            let next = self.next_packet(offset + 1)?;
            if next.is_some() && !is_open {
                return Ok(Err("the packet's size extends past the next packet"));
            }
            length = next.unwrap_or(self.size) - offset;
        }
        if is_open {
            length = self.written(offset, length)?;
            content = length * 8;
            self.damage(offset, "the tracer did not close this packet: it still runs or was killed");
        } else if is_incomplete {
            self.damage(offset, "the file ends within this packet");
        }
        Ok(Ok(ScannedPacket {
            file: Arc::clone(&self.path),
            offset,
            size: length,
            content: content.min(length * 8),
            is_incomplete,
            stream,
            sequence: integer(64, 8),
            begin: integer(32, 8),
            discarded: integer(72, self.layout.long),
            layout: self.layout,
            big_endian,
        }))
    }

    /// Whether a packet of this trace begins with these bytes, and if so whether in big-endian order.
    fn signature(&self, bytes: &[u8]) -> Option<bool> {
        let (magic, rest) = bytes.split_first_chunk::<4>()?;
        let big_endian = *magic == MAGIC.to_be_bytes();
        let ours = (big_endian || *magic == MAGIC.to_le_bytes()) && rest.starts_with(&self.uuid.0);
        ours.then_some(big_endian)
    }

    /// Looks for the next packet at an offset or later. Packets begin at whole pages.
    fn next_packet(&self, from: u64) -> io::Result<Option<u64>> {
        const PAGE: u64 = 4096;
        let mut bytes = vec![0; SEARCH];
        let mut offset = from.next_multiple_of(PAGE);
        while offset < self.size {
            let length = usize::try_from(self.size - offset).map_or(SEARCH, |rest| rest.min(SEARCH));
            self.file.read_exact_at(&mut bytes[..length], offset)?;
            let mut pages = bytes[..length].chunks(PAGE as usize);
            if let Some(page) = pages.position(|page| self.signature(page).is_some()) {
                return Ok(Some(offset + page as u64 * PAGE));
            }
            offset += length as u64;
        }
        Ok(None)
    }

    /// The size of what has been written to a packet that was left open: all but the zeros at its end.
    fn written(&self, offset: u64, length: u64) -> io::Result<u64> {
        let mut bytes = vec![0; SEARCH];
        let mut rest = length;
        while rest > 0 {
            let part = usize::try_from(rest).map_or(SEARCH, |rest| rest.min(SEARCH));
            rest -= part as u64;
            self.file.read_exact_at(&mut bytes[..part], offset + rest)?;
            if let Some(last) = bytes[..part].iter().rposition(|&byte| byte != 0) {
                return Ok((rest + last as u64 + 1).max(HEADER as u64));
            }
        }
        Ok(HEADER as u64)
    }

    fn damage(&mut self, offset: u64, reason: &str) {
        let damage = Damage::new(&self.path, reason);
        self.damage.push(Damage { offset: Some(offset), ..damage });
    }
}

impl ScannedPacket {
    /// The number of events that were discarded since an earlier packet of the stream; the counter may wrap.
    pub fn discarded_since(&self, before: &ScannedPacket) -> u64 {
        let difference = self.discarded.wrapping_sub(before.discarded);
        if self.layout.long == 4 { difference & u64::from(u32::MAX) } else { difference }
    }

    /// Copies the packet, with its sizes as far as the file goes and its end not before its beginning.
    /// `instance` replaces its stream's number.
    pub fn copy(&self, to: &mut impl Write, instance: Option<u64>) -> io::Result<()> {
        let mut from = File::open(&self.file)?;
        from.seek(SeekFrom::Start(self.offset))?;
        let mut header = [0; HEADER];
        from.read_exact(&mut header)?;
        let end = self.begin.max(integer(&header, 40, 8, self.big_endian));
        let changes = [(24, instance), (40, Some(end)), (48, Some(self.content)), (56, Some(self.size * 8))];
        for (at, value) in changes {
            if let Some(value) = value {
                let bytes = if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
                header[at..at + 8].copy_from_slice(&bytes);
            }
        }
        // A header with a short counter may be all that the packet has.
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        to.write_all(&header[..size.min(HEADER)])?;
        io::copy(&mut from.take(self.size.saturating_sub(HEADER as u64)), to)?;
        Ok(())
    }
}
