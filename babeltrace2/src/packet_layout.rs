//! Where the fields of a packet's header are.
//!
//! Only LTTng's own layout is known here, which has been the same since LTTng 2.8:
//!
//! ```text
//!  0 magic            20 stream_id (u32)            32 timestamp_begin   48 content_size   64 packet_seq_num
//!  4 uuid (16 bytes)  24 stream_instance_id (u64)   40 timestamp_end     56 packet_size    72 events_discarded
//! ```
//!
//! After that, cpu_id (u32) ends it. Sizes are in bits. Integers are in the byte order in which the magic
//! number reads 0xC1FC1FC1.

use std::fs;
use std::path::Path;

use ctf_reader::metadata::{self, ArrayType, Length, Metadata, Type};

/// How long the header is at most, in bytes.
pub const HEADER: usize = 84;

/// LTTng's packet layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLayout {
    /// The size of events_discarded in bytes, an `unsigned long` of the traced program.
    pub long: usize,
}

impl PacketLayout {
    /// LTTng's layout, if that is what the metadata in the folder declares.
    pub fn of_folder(folder: &Path) -> Option<Self> {
        let (metadata, _) = metadata::read(&fs::read(folder.join("metadata")).ok()?);
        Self::of_metadata(&metadata)
    }

    fn of_metadata(metadata: &Metadata) -> Option<Self> {
        let header = [("magic", 32), ("uuid", 128), ("stream_id", 32), ("stream_instance_id", 64)];
        if members(metadata.packet_header.as_ref())? != header {
            return None;
        }
        let context = |long| {
            [
                ("timestamp_begin", 64),
                ("timestamp_end", 64),
                ("content_size", 64),
                ("packet_size", 64),
                ("packet_seq_num", 64),
                ("events_discarded", long),
                ("cpu_id", 32),
            ]
        };
        let contexts: Option<Vec<_>> =
            metadata.streams.iter().map(|stream| members(stream.packet_context.as_ref())).collect();
        let contexts = contexts.filter(|contexts| !contexts.is_empty())?;
        let same = |long| contexts.iter().all(|members| *members == context(long));
        [(32, 4), (64, 8)].into_iter().find(|&(bits, _)| same(bits)).map(|(_, long)| Self { long })
    }

    /// The size of a packet's header in bits.
    pub fn header_bits(self) -> u64 {
        (72 + self.long as u64 + 4) * 8
    }
}

/// The names and sizes of a structure's members, if all have fixed sizes and leave no gaps at these places.
fn members(structure: Option<&Type>) -> Option<Vec<(&str, u64)>> {
    let size = |kind: &Type| match kind {
        Type::Integer(integer) if integer.align <= integer.size => Some(u64::from(integer.size)),
        Type::Array(ArrayType { length: Length::Fixed(length), element, .. }) => match &**element {
            Type::Integer(byte) if byte.size == 8 && byte.align <= 8 => length.checked_mul(8),
            _ => None,
        },
        _ => None,
    };
    structure?.members().iter().map(|member| Some((&*member.name, size(&member.kind)?))).collect()
}

/// Reads an integer of a header.
pub fn integer(header: &[u8; HEADER], at: usize, size: usize, big_endian: bool) -> u64 {
    let bytes = &header[at..at + size];
    let join = |value, &byte: &u8| value << 8 | u64::from(byte);
    if big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
}
