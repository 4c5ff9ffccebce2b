//! Event headers: which class an event is of, and when it happened.
//!
//! LTTng writes one of two, both with a short form and an extended one for large ids and long pauses:
//!
//! ```text
//! large     id u16, timestamp u32                                    6 bytes
//!           65535 u16, id u32, timestamp u64                        14 bytes
//! compact   id 5 bits, timestamp 27 bits                             4 bytes
//!           31 in 5 bits, 3 bits of padding, id u32, timestamp u64  13 bytes
//! ```
//!
//! These are recognised by their layout and decoded by hand; any other header takes the general path.

use super::bits::{Bits, Fault};
use super::clock::advance;
use super::general::Slots;
use super::roles::{RoleField, visit};
use crate::metadata::{ByteOrder, Length, Role, Slot, StreamClass, Type};

/// How to decode the event headers of a stream.
#[derive(Clone, Debug)]
pub enum EventHeader {
    Lttng(Lttng),
    Other(Type),
    /// None: the stream has one class, and its events have no time.
    None,
}

/// A header of LTTng's, known by the sizes of its short form: an id in the low bits, a timestamp in those above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lttng {
    id_bits: u32,
    timestamp_bits: u32,
}

impl Lttng {
    pub const LARGE: Lttng = Lttng { id_bits: 16, timestamp_bits: 32 };
    pub const COMPACT: Lttng = Lttng { id_bits: 5, timestamp_bits: 27 };

    /// The size of the short form in bytes.
    #[inline(always)]
    pub fn size(self) -> usize {
        ((self.id_bits + self.timestamp_bits) / 8) as usize
    }

    /// The id of the class. `None` if the header has the extended form.
    #[inline(always)]
    pub fn id(self, first_bytes: u64) -> Option<u64> {
        let id = first_bytes & ones(self.id_bits);
        (id != ones(self.id_bits)).then_some(id)
    }

    /// Whether this is the short form with this id.
    #[inline(always)]
    pub fn has_id(self, first_bytes: u64, id: u64) -> bool {
        first_bytes & ones(self.id_bits) == id
    }

    /// By how much the clock has moved on, if this is the short form.
    #[inline(always)]
    pub fn passed(self, first_bytes: u64, clock: u64) -> u64 {
        (first_bytes >> self.id_bits).wrapping_sub(clock) & ones(self.timestamp_bits)
    }

    fn decode(self, bits: &mut Bits<'_>, clock: &mut u64) -> Result<u64, Fault> {
        bits.align(8)?;
        let mut after = *bits;
        let mut first_bytes = [0; 8];
        first_bytes[..self.size()].copy_from_slice(after.bytes(self.size())?);
        let first_bytes = u64::from_le_bytes(first_bytes);
        if let Some(id) = self.id(first_bytes) {
            *clock = clock.wrapping_add(self.passed(first_bytes, *clock));
            *bits = after;
            return Ok(id);
        }
        bits.bytes(self.id_bits.div_ceil(8) as usize)?;
        let id = bits.integer(32, ByteOrder::Little)?;
        *clock = bits.integer(64, ByteOrder::Little)?;
        Ok(id)
    }
}

/// A number whose lowest bits are set.
fn ones(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl EventHeader {
    pub fn new(stream: &StreamClass) -> EventHeader {
        let Some(header) = &stream.event_header else { return EventHeader::None };
        let tag = match header.members() {
            [id, _] => match &id.kind {
                Type::Integer(id) => id.slot,
                _ => None,
            },
            _ => None,
        };
        // The path by hand does not keep the id in its slot, so nothing else may refer to it.
        let events = stream.events.iter().flat_map(|event| [&event.context, &event.payload]);
        let mut others = events.chain([&stream.event_context]).flatten();
        match tag {
            Some(tag) if others.any(|kind| refers_to(kind, tag)) => EventHeader::Other(header.clone()),
            Some(_) if is_lttng(header, Lttng::LARGE, 8) => EventHeader::Lttng(Lttng::LARGE),
            Some(_) if is_lttng(header, Lttng::COMPACT, 1) => EventHeader::Lttng(Lttng::COMPACT),
            _ => EventHeader::Other(header.clone()),
        }
    }

    /// Whether what follows a header begins at a byte's boundary.
    pub fn ends_at_a_byte(&self) -> bool {
        matches!(self, EventHeader::Lttng(_))
    }

    /// Decodes a header: returns the class's id, and moves the clock on.
    pub fn decode(&self, bits: &mut Bits<'_>, slots: &mut Slots, clock: &mut u64) -> Result<u64, Fault> {
        match self {
            EventHeader::Lttng(lttng) => lttng.decode(bits, clock),
            EventHeader::Other(header) => {
                let mut id = 0;
                visit(header, bits, slots, &mut |field| {
                    let RoleField::Number { roles, value, size, .. } = field else { return };
                    if roles.contains(&Role::EventClassId) {
                        id = value;
                    }
                    if roles.contains(&Role::Timestamp) {
                        *clock = advance(*clock, value, size);
                    }
                })?;
                Ok(id)
            }
            EventHeader::None => Ok(0),
        }
    }
}

/// Whether a header is this one of LTTng's, with this alignment of the fields in the short form.
fn is_lttng(header: &Type, Lttng { id_bits, timestamp_bits }: Lttng, short_align: u32) -> bool {
    let plain = |kind: &Type, size: u32, align: u32, role: Role, slot: Option<Slot>| {
        let Type::Integer(integer) = kind else { return false };
        !integer.signed
            && integer.order == ByteOrder::Little
            && (integer.size, integer.align) == (Some(size), align)
            && integer.roles == [role]
            && integer.slot == slot
    };
    let [id, choice] = header.members() else { return false };
    let Type::Variant(variant) = &choice.kind else { return false };
    let [short, extended] = variant.members.as_slice() else { return false };
    let [timestamp] = short.kind.members() else { return false };
    let [full_id, full_timestamp] = extended.kind.members() else { return false };
    let last = (1 << id_bits) - 1;
    header.align() == 8
        && short.kind.align() == short_align
        && extended.kind.align() == 8
        && plain(&id.kind, id_bits, short_align, Role::EventClassId, Some(variant.tag))
        && plain(&timestamp.kind, timestamp_bits, short_align, Role::Timestamp, None)
        && plain(&full_id.kind, 32, 8, Role::EventClassId, None)
        && plain(&full_timestamp.kind, 64, 8, Role::Timestamp, None)
        && *variant.choices == [(0..=last - 1, 0), (last..=last, 1)]
}

/// Whether a length or a variant in a type refers to a slot.
fn refers_to(kind: &Type, slot: Slot) -> bool {
    match kind {
        Type::Struct(structure) => structure.members.iter().any(|member| refers_to(&member.kind, slot)),
        Type::Variant(variant) => {
            variant.tag == slot || variant.members.iter().any(|member| refers_to(&member.kind, slot))
        }
        Type::Optional(optional) => optional.selector == slot || refers_to(&optional.content, slot),
        Type::Array(array) => array.length == Length::Slot(slot) || refers_to(&array.element, slot),
        Type::Integer(_) | Type::Float(_) | Type::Text => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::{self, Metadata};

    /// The metadata of hand-written cases.
    fn cases<const N: usize>(names: [&str; N]) -> [Metadata; N] {
        let files =
            [include_str!("../../tests/cases/packets.txt"), include_str!("../../tests/cases/fields.txt")];
        let files = files.into_iter().chain([include_str!("../../tests/cases/ctf2.txt")]);
        let text: String = files.collect();
        names.map(|name| {
            let (_, case) = text.split_once(&format!("=== {name}\n")).expect("there is such a case");
            let (text, _) = case.split_once("== stream").unwrap();
            let (metadata, problems) = metadata::read(text.replace('␞', "\x1e").as_bytes());
            assert_eq!(problems, []);
            metadata
        })
    }

    #[test]
    fn lttngs_headers_are_recognised_in_both_languages() {
        let ours = cases([
            "large_header_has_a_short_and_an_extended_form",
            "ctf2_large_header_has_a_short_and_an_extended_form",
            "compact_header_has_a_short_and_an_extended_form",
            "ctf2_compact_header_has_a_short_and_an_extended_form",
        ]);
        for (metadata, expected) in ours.iter().zip([16, 16, 5, 5]) {
            match EventHeader::new(&metadata.streams[0]) {
                EventHeader::Lttng(found) => assert_eq!(found.id_bits, expected),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn other_headers_take_the_general_path() {
        let others = cases([
            "large_header_in_big_endian_order",
            "ctf2_large_header_in_big_endian_order",
            "payload_may_refer_to_the_event_headers_id",
            "ctf2_payload_may_refer_to_the_event_headers_id",
            "ctf2_event_header_of_any_other_shape",
        ]);
        for metadata in &others {
            let header = EventHeader::new(&metadata.streams[0]);
            assert!(matches!(header, EventHeader::Other(_)), "{header:?}");
        }
    }
}
