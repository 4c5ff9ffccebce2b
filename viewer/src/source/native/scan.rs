//! The packets of a stream file, found without decoding them.
//!
//! A file is walked from header to header. Where a header cannot be right, the walk goes on at the next
//! place that the index names, or else at the next that looks like a packet's beginning: the magic number and
//! the trace's UUID, 20 bytes that do not occur by chance.

use std::ops::RangeInclusive;
use std::path::Path;

use memchr::memmem::Finder;

use super::file::StreamFile;
use super::index::{self, Entry};
use super::metadata::{ByteOrder, Integer, Metadata, Type};
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
    let mut scan = Scan::default();
    let mut slots = vec![0; metadata.slots];
    let mut buffer = Vec::new();
    let mut offset = 0;
    while offset < file.length {
        let rest = file.length - offset;
        let listed =
            index.binary_search_by_key(&offset, |entry| entry.offset).ok().map(|entry| &index[entry]);
        if let Some(header) = listed.and_then(|entry| from_index(metadata, entry))
            && let Some(length @ 1..) = header.packet_size
            && length <= rest
            && !in_window(header.stream, header.begin..=header.end.unwrap_or(u64::MAX))
        {
            scan.packets.push(Packet { offset, length, header, is_cut: false, is_in_window: false });
            offset += length;
            continue;
        }
        match read_header(metadata, file, offset, &mut buffer, &mut slots)? {
            Ok(header) => {
                let next = match header.packet_size {
                    Some(length) => Some(offset.saturating_add(length)),
                    None if header.is_open => find_packet(metadata, file, index, offset + 1, &mut buffer)?,
                    None => None,
                };
                let end = next.unwrap_or(file.length);
                let range = header.begin..=header.end.unwrap_or(u64::MAX);
                scan.packets.push(Packet {
                    offset,
                    length: end.min(file.length) - offset,
                    is_cut: end > file.length,
                    is_in_window: in_window(header.stream, range),
                    header,
                });
                offset = end;
            }
            Err(reason) => {
                if scan.damage.len() < MAX_DAMAGE {
                    scan.damage.push(Damage { path: file.path.clone(), offset: Some(offset), reason });
                }
                let next = find_packet(metadata, file, index, offset + 1, &mut buffer)?;
                offset = next.unwrap_or(file.length);
            }
        }
    }
    Ok(scan)
}

/// The index of a stream file, if it has one that can be read.
pub fn index_of(path: &Path) -> Vec<Entry> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let mut name = name.to_owned();
    name.push(".idx");
    let bytes = std::fs::read(folder.join("index").join(name)).unwrap_or_default();
    index::read(&bytes).unwrap_or_default()
}

/// Reads the header at an offset: what it says, or why it cannot be right.
fn read_header(
    metadata: &Metadata,
    file: &StreamFile,
    offset: u64,
    buffer: &mut Vec<u8>,
    slots: &mut [i128],
) -> std::io::Result<Result<PacketHeader, String>> {
    let mut length = HEADER_READ;
    loop {
        let bytes = file.read(offset, length, buffer)?;
        let whole = bytes.len() < length;
        match PacketHeader::decode(metadata, bytes, slots) {
            Ok(header) => return Ok(Ok(header)),
            Err(Unsound::Wrong(reason)) => return Ok(Err(reason)),
            Err(Unsound::Short) if whole => return Ok(Err("the file ends in a packet's header".into())),
            Err(Unsound::Short) if length >= MAX_HEADER => {
                return Ok(Err("the packet's header is too long".into()));
            }
            Err(Unsound::Short) => length *= 4,
        }
    }
}

/// Finds where the next sound packet begins, from an offset on.
fn find_packet(
    metadata: &Metadata,
    file: &StreamFile,
    index: &[Entry],
    from: u64,
    buffer: &mut Vec<u8>,
) -> std::io::Result<Option<u64>> {
    let mut slots = vec![0; metadata.slots];
    let mut header = Vec::new();
    let mut is_sound =
        |offset| read_header(metadata, file, offset, &mut header, &mut slots).map(|header| header.is_ok());
    let listed = &index[index.partition_point(|entry| entry.offset < from)..];
    for entry in listed.iter().take(MAX_TRIES).take_while(|entry| entry.offset < file.length) {
        if is_sound(entry.offset)? {
            return Ok(Some(entry.offset));
        }
    }
    let Some(mark) = beginning(metadata) else { return Ok(None) };
    let finder = Finder::new(&mark);
    let mut from = from;
    while from < file.length {
        let bytes = file.read(from, SEARCH_READ, buffer)?;
        for found in finder.find_iter(bytes) {
            let offset = from + found as u64;
            if is_sound(offset)? {
                return Ok(Some(offset));
            }
        }
        // What begins in these bytes may end in the next.
        match bytes.len().checked_sub(mark.len() - 1) {
            Some(searched @ 1..) if bytes.len() == SEARCH_READ => from += searched as u64,
            _ => break,
        }
    }
    Ok(None)
}

/// The bytes that packets of this trace begin with: magic number and UUID, if they have both.
fn beginning(metadata: &Metadata) -> Option<Vec<u8>> {
    let [magic, uuid, ..] = metadata.packet_header.as_ref()?.members() else { return None };
    let Type::Integer(Integer { size: 32, order, .. }) = &magic.kind else { return None };
    if magic.name != "magic" || uuid.name != "uuid" || uuid.kind.align() > 32 {
        return None;
    }
    let magic = match order {
        ByteOrder::Little => MAGIC.to_le_bytes(),
        ByteOrder::Big => MAGIC.to_be_bytes(),
    };
    Some([magic.as_slice(), &metadata.uuid?].concat())
}

/// A packet's header as the index tells it.
fn from_index(metadata: &Metadata, entry: &Entry) -> Option<PacketHeader> {
    let stream = metadata.streams.binary_search_by_key(&entry.stream_id, |stream| stream.id).ok()?;
    let context = metadata.streams[stream].packet_context.as_ref().map_or(&[][..], Type::members);
    let discarded = context.iter().find(|member| member.name == "events_discarded");
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
