//! The packets of a stream file, found without decoding them.
//!
//! A file is scanned from header to header. Where a header is invalid, the scan continues at the next
//! place that the index names, or else at the next that looks like a packet's beginning: the magic number and
//! the trace's UUID, 20 bytes that do not occur by chance.

use std::io;

use memchr::memmem::Finder;

use super::LocatedPacket;
use super::bytes::Bytes;
use super::header::{HeaderError, MAGIC, PacketHeader};
use crate::metadata::{ByteOrder, IntegerType, Metadata, Role, Type};

/// How much of a packet to read for its header at first. LTTng's are 84 bytes.
const HEADER_READ: usize = 256;

/// The longest header that is read.
const MAX_HEADER: usize = 1 << 16;

/// The number of places that an index names to try before searching.
const MAX_TRIES: usize = 16;

/// How much to read at a time when looking for a packet.
const SEARCH_READ: usize = 1 << 20;

/// The most places of damage that are reported for one file.
const MAX_DAMAGE: usize = 100;

/// What a stream file holds.
#[derive(Debug, Default)]
pub struct Scan {
    /// The packets, in the file's order.
    pub packets: Vec<LocatedPacket>,
    /// What is not a packet: where, and why.
    pub damage: Vec<(u64, String)>,
}

/// Finds the packets of a file, which has this number within its trace.
pub fn scan(metadata: &Metadata, bytes: &Bytes, file: usize, index: &[u64]) -> io::Result<Scan> {
    let mut scanner =
        Scanner { metadata, bytes, file, index, slots: vec![0; metadata.slots], buffer: Vec::new() };
    let mut scan = Scan::default();
    let mut offset = 0;
    while offset < bytes.length {
        let first = scan.packets.first().map(|packet| &packet.header);
        match scanner.packet(offset, first)? {
            Ok(packet) => {
                offset += packet.length;
                scan.packets.push(packet);
            }
            Err(reason) => {
                if scan.damage.len() < MAX_DAMAGE {
                    scan.damage.push((offset, reason));
                }
                offset = scanner.find_packet(offset + 1)?.unwrap_or(bytes.length);
            }
        }
    }
    Ok(scan)
}

/// Reads the header of a packet whose place is known: what it says, or why it cannot be right.
pub fn read_header(
    metadata: &Metadata,
    bytes: &Bytes,
    offset: u64,
) -> io::Result<Result<PacketHeader, String>> {
    header_at(metadata, bytes, offset, &mut vec![0; metadata.slots], &mut Vec::new())
}

fn header_at(
    metadata: &Metadata,
    bytes: &Bytes,
    offset: u64,
    slots: &mut [i128],
    buffer: &mut Vec<u8>,
) -> io::Result<Result<PacketHeader, String>> {
    let mut length = HEADER_READ;
    loop {
        let found = bytes.read(offset, length, buffer)?;
        let is_whole = found.len() < length;
        return Ok(Err(match PacketHeader::decode(metadata, found, slots) {
            Ok(header) => return Ok(Ok(header)),
            Err(HeaderError::Wrong(reason)) => reason,
            Err(HeaderError::Short) if is_whole => "the file ends within a packet's header".into(),
            Err(HeaderError::Short) if length >= MAX_HEADER => "the packet's header is too long".into(),
            Err(HeaderError::Short) => {
                length *= 4;
                continue;
            }
        }));
    }
}

struct Scanner<'a> {
    metadata: &'a Metadata,
    bytes: &'a Bytes,
    file: usize,
    /// Where the index says that packets begin.
    index: &'a [u64],
    slots: Vec<i128>,
    buffer: Vec<u8>,
}

impl Scanner<'_> {
    /// The packet at an offset, or why no packet can begin there. `first` is the header of the file's first packet.
    fn packet(
        &mut self,
        offset: u64,
        first: Option<&PacketHeader>,
    ) -> io::Result<Result<LocatedPacket, String>> {
        let header = match self.header(offset)? {
            Ok(header) => header,
            Err(reason) => return Ok(Err(reason)),
        };
        if first.is_some_and(|first| (first.stream, first.instance) != (header.stream, header.instance)) {
            return Ok(Err("the packet belongs to another stream than the file's first".into()));
        }
        let rest = self.bytes.length - offset;
        let length = match header.packet_size {
            Some(length) => length,
            None if header.is_open => self.find_packet(offset + 1)?.map_or(rest, |next| next - offset),
            None => rest,
        };
        let is_cut = length > rest;
        if is_cut && self.find_packet(offset + 1)?.is_some() {
            return Ok(Err("the packet's size extends past the next packet".into()));
        }
        let (file, length) = (self.file, length.min(rest));
        Ok(Ok(LocatedPacket::new(file, offset, length, header, is_cut)))
    }

    /// Reads the header at an offset: what it says, or why it cannot be right.
    fn header(&mut self, offset: u64) -> io::Result<Result<PacketHeader, String>> {
        header_at(self.metadata, self.bytes, offset, &mut self.slots, &mut self.buffer)
    }

    /// Finds where the next valid packet begins, from an offset on.
    fn find_packet(&mut self, from: u64) -> io::Result<Option<u64>> {
        let listed = &self.index[self.index.partition_point(|&offset| offset < from)..];
        for &offset in listed.iter().take(MAX_TRIES).take_while(|&&offset| offset < self.bytes.length) {
            if self.header(offset)?.is_ok() {
                return Ok(Some(offset));
            }
        }
        let Some(mark) = beginning(self.metadata) else { return Ok(None) };
        let finder = Finder::new(&mark);
        let mut bytes = Vec::new();
        let mut from = from;
        while from < self.bytes.length {
            let searched = self.bytes.read(from, SEARCH_READ, &mut bytes)?;
            for found in finder.find_iter(searched) {
                let offset = from + found as u64;
                if self.header(offset)?.is_ok() {
                    return Ok(Some(offset));
                }
            }
            if searched.len() < SEARCH_READ {
                break;
            }
            // What begins in these bytes may end in the next.
            from += (SEARCH_READ - mark.len()) as u64;
        }
        Ok(None)
    }
}

/// The bytes that packets of this trace begin with: magic number and UUID, if they have both.
fn beginning(metadata: &Metadata) -> Option<Vec<u8>> {
    let [magic, uuid, ..] = metadata.packet_header.as_ref()?.members() else { return None };
    let Type::Integer(IntegerType { size: Some(32), order, roles, .. }) = &magic.kind else { return None };
    if *roles != [Role::Magic] || uuid.kind.align() > 32 || !is_uuid(&uuid.kind) {
        return None;
    }
    let magic = match order {
        ByteOrder::Little => MAGIC.to_le_bytes(),
        ByteOrder::Big => MAGIC.to_be_bytes(),
        ByteOrder::LittleMirrored | ByteOrder::BigMirrored => return None,
    };
    Some([magic.as_slice(), &metadata.uuid?.0].concat())
}

fn is_uuid(kind: &Type) -> bool {
    matches!(kind, Type::Array(array) if array.is_uuid)
}
