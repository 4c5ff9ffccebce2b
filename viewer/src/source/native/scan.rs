//! The packets of a stream file, found without decoding them.
//!
//! A file is walked from header to header. Where a header cannot be right, the walk goes on at the next
//! place that the index names, or else at the next that looks like a packet's beginning: the magic number and
//! the trace's UUID, 20 bytes that do not occur by chance.

use std::ops::RangeInclusive;

use memchr::memmem::Finder;

use super::file::StreamFile;
use super::index::Entry;
use super::metadata::{ByteOrder, Integer, Metadata, Role, Type};
use super::packet::{MAGIC, PacketHeader, Unsound};
use crate::source::Damage;

/// How much of a packet to read for its header at first. LTTng's are 84 bytes.
const HEADER_READ: usize = 256;

/// The longest header that is read.
const MAX_HEADER: usize = 1 << 16;

/// How many places that an index names to try before searching.
const MAX_TRIES: usize = 16;

/// How much to read at a time when looking for a packet.
const SEARCH_READ: usize = 1 << 20;

/// How many places of damage to name in one file.
const MAX_DAMAGE: usize = 100;

/// A packet in a file.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How long it is, or what the file has of it, in bytes.
    pub length: u64,
    /// What its header says.
    pub header: PacketHeader,
    /// Whether the file ends before the packet does.
    pub is_cut: bool,
    /// Whether it lies in the time window, as far as its header tells.
    pub is_in_window: bool,
}

/// What a stream file holds.
#[derive(Debug, Default)]
pub struct Scan {
    /// The packets, in the file's order.
    pub packets: Vec<Packet>,
    /// What is no packet, and where.
    pub damage: Vec<Damage>,
}

/// Finds the packets of a file. `in_window` says for a stream class's index and the counts at a packet's
/// beginning and end whether it may hold events that are asked for.
pub fn scan(
    metadata: &Metadata,
    file: &StreamFile,
    index: &[Entry],
    in_window: &dyn Fn(usize, RangeInclusive<u64>) -> bool,
) -> std::io::Result<Scan> {
    let mut walk = Walk { metadata, file, index, slots: vec![0; metadata.slots], buffer: Vec::new() };
    let mut scan = Scan::default();
    let mut offset = 0;
    while offset < file.length {
        if let Some(packet) = walk.listed_outside(offset, in_window) {
            offset += packet.length;
            scan.packets.push(packet);
            continue;
        }
        let first = scan.packets.first().map(|packet| &packet.header);
        match walk.packet(offset, first)? {
            Ok(packet) => {
                let range = packet.header.begin..=packet.header.end.unwrap_or(u64::MAX);
                offset += packet.length;
                scan.packets.push(Packet { is_in_window: in_window(packet.header.stream, range), ..packet });
            }
            Err(reason) => {
                if scan.damage.len() < MAX_DAMAGE {
                    scan.damage.push(Damage { path: file.path.clone(), offset: Some(offset), reason });
                }
                offset = walk.find_packet(offset + 1)?.unwrap_or(file.length);
            }
        }
    }
    Ok(scan)
}

struct Walk<'a> {
    metadata: &'a Metadata,
    file: &'a StreamFile,
    index: &'a [Entry],
    slots: Vec<i128>,
    buffer: Vec<u8>,
}

impl Walk<'_> {
    /// The packet that the index has at an offset, if it is sure to lie outside of the time window.
    fn listed_outside(
        &self,
        offset: u64,
        in_window: &dyn Fn(usize, RangeInclusive<u64>) -> bool,
    ) -> Option<Packet> {
        let entry = self.index.binary_search_by_key(&offset, |entry| entry.offset).ok()?;
        let header = from_index(self.metadata, &self.index[entry])?;
        let length = header.packet_size.filter(|length| (1..=self.file.length - offset).contains(length))?;
        let is_in_window = in_window(header.stream, header.begin..=header.end?);
        (!is_in_window).then_some(Packet { offset, length, header, is_cut: false, is_in_window })
    }

    /// The packet at an offset, or why there can be none. `first` is the header of the file's first.
    fn packet(
        &mut self,
        offset: u64,
        first: Option<&PacketHeader>,
    ) -> std::io::Result<Result<Packet, String>> {
        let header = match self.header(offset)? {
            Ok(header) => header,
            Err(reason) => return Ok(Err(reason)),
        };
        if first.is_some_and(|first| (first.stream, first.instance) != (header.stream, header.instance)) {
            return Ok(Err("the packet belongs to another stream than the file's first".into()));
        }
        let rest = self.file.length - offset;
        let length = match header.packet_size {
            Some(length) => length,
            None if header.is_open => self.find_packet(offset + 1)?.map_or(rest, |next| next - offset),
            None => rest,
        };
        let is_cut = length > rest;
        if is_cut && self.find_packet(offset + 1)?.is_some() {
            return Ok(Err("the packet's size leads beyond the next packet".into()));
        }
        Ok(Ok(Packet { offset, length: length.min(rest), header, is_cut, is_in_window: true }))
    }

    /// Reads the header at an offset: what it says, or why it cannot be right.
    fn header(&mut self, offset: u64) -> std::io::Result<Result<PacketHeader, String>> {
        let mut length = HEADER_READ;
        loop {
            let bytes = self.file.read(offset, length, &mut self.buffer)?;
            let is_whole = bytes.len() < length;
            match PacketHeader::decode(self.metadata, bytes, &mut self.slots) {
                Ok(header) => return Ok(Ok(header)),
                Err(Unsound::Wrong(reason)) => return Ok(Err(reason)),
                Err(Unsound::Short) if is_whole => {
                    return Ok(Err("the file ends within a packet's header".into()));
                }
                Err(Unsound::Short) if length >= MAX_HEADER => {
                    return Ok(Err("the packet's header is too long".into()));
                }
                Err(Unsound::Short) => length *= 4,
            }
        }
    }

    /// Finds where the next sound packet begins, from an offset on.
    fn find_packet(&mut self, from: u64) -> std::io::Result<Option<u64>> {
        let listed = &self.index[self.index.partition_point(|entry| entry.offset < from)..];
        for entry in listed.iter().take(MAX_TRIES).take_while(|entry| entry.offset < self.file.length) {
            if self.header(entry.offset)?.is_ok() {
                return Ok(Some(entry.offset));
            }
        }
        let Some(mark) = beginning(self.metadata) else { return Ok(None) };
        let finder = Finder::new(&mark);
        let mut bytes = Vec::new();
        let mut from = from;
        while from < self.file.length {
            let searched = self.file.read(from, SEARCH_READ, &mut bytes)?;
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
    let Type::Integer(Integer { size: 32, order, roles, .. }) = &magic.kind else { return None };
    if *roles != [Role::Magic] || uuid.kind.align() > 32 || !is_uuid(&uuid.kind) {
        return None;
    }
    let magic = match order {
        ByteOrder::Little => MAGIC.to_le_bytes(),
        ByteOrder::Big => MAGIC.to_be_bytes(),
        ByteOrder::LittleMirrored | ByteOrder::BigMirrored => return None,
    };
    Some([magic.as_slice(), &metadata.uuid?].concat())
}

fn is_uuid(kind: &Type) -> bool {
    matches!(kind, Type::Array(array) if array.is_uuid)
}

/// A packet's header as the index tells it.
fn from_index(metadata: &Metadata, entry: &Entry) -> Option<PacketHeader> {
    let stream = metadata.streams.binary_search_by_key(&entry.stream_id, |stream| stream.id).ok()?;
    let context = metadata.streams[stream].packet_context.as_ref().map_or(&[][..], Type::members);
    let discarded = context.iter().find(|member| member.kind.roles().contains(&Role::Discarded));
    let (instance, sequence) = entry.instance_and_sequence?;
    Some(PacketHeader {
        stream,
        instance: Some(instance),
        begin: entry.begin,
        end: Some(entry.end),
        events_at: 0,
        content_size: Some(entry.content_size),
        packet_size: Some(entry.packet_size),
        is_open: false,
        sequence: Some(sequence),
        discarded: discarded.and_then(|member| match &member.kind {
            Type::Integer(integer) => Some((entry.discarded, integer.size)),
            _ => None,
        }),
    })
}
