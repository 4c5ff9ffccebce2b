//! Types whose lengths and variants are not yet linked to the fields that they refer to.
//!
//! A named type is shared by all types that use it, so drafts take no more memory than their text;
//! [`Draft::nodes`] is the size of the type when it is copied out, which the [linker](super::link) bounds.

use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

use super::json;
use super::model::{FloatType, IntegerType};

/// How deep a type may nest, names of types counted.
const MAX_DEPTH: usize = 64;

/// The largest alignment, in bits: 4096 bytes, a memory page.
const MAX_ALIGN: i128 = 1 << 15;

/// A type whose references are not resolved.
#[derive(Debug)]
pub struct Draft {
    pub kind: DraftKind,
    /// The number of types it is made of, itself included.
    pub nodes: usize,
    depth: usize,
}

pub type Drafted = Result<Rc<Draft>, String>;

#[derive(Debug)]
pub enum DraftKind {
    Integer(IntegerType),
    Float(FloatType),
    Text,
    Struct { align: u32, members: Vec<DraftMember> },
    Variant { tag: Tag, members: Rc<[DraftMember]> },
    Optional { selector: FieldLocation, values: Arc<[RangeInclusive<i128>]>, content: Rc<Draft> },
    Array { align: u32, is_uuid: bool, length: DraftLength, element: Rc<Draft> },
}

/// A member of a structure or a variant.
#[derive(Clone, Debug)]
pub struct DraftMember {
    pub name: Arc<str>,
    pub label: Arc<str>,
    pub draft: Rc<Draft>,
}

/// What chooses a variant's member.
#[derive(Debug)]
pub enum Tag {
    /// Nothing: the variant gets its tag where it is used.
    Missing,
    /// The label of an enumeration, which is the member's name.
    Label(FieldPath),
    /// A number, by the ranges of each member.
    Number(FieldLocation, Arc<[(RangeInclusive<i128>, usize)]>),
}

/// The number of elements of an array.
#[derive(Clone, Debug)]
pub enum DraftLength {
    Fixed(u64),
    Path(FieldPath),
    At(FieldLocation),
}

/// A reference to an earlier field in TSDL: `len`, `stream.event.context.len`.
pub type FieldPath = Vec<String>;

/// A reference to an earlier field in CTF 2.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldLocation {
    /// The scope where the path begins, or else the structure around what refers.
    pub origin: Option<Origin>,
    /// The number of structures to go up first.
    pub up: usize,
    /// The members to follow then; there is at least one.
    pub down: Vec<String>,
}

/// The languages of metadata.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// CTF 1.8's.
    Tsdl,
    /// CTF 2's.
    Json,
}

impl Language {
    pub fn of(text: &str) -> Language {
        if json::is_sequence(text) { Language::Json } else { Language::Tsdl }
    }
}

/// The scopes of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    PacketHeader,
    PacketContext,
    EventHeader,
    EventContext,
    OwnContext,
    Payload,
}

impl Origin {
    pub const ALL: [Origin; 6] = [
        Origin::PacketHeader,
        Origin::PacketContext,
        Origin::EventHeader,
        Origin::EventContext,
        Origin::OwnContext,
        Origin::Payload,
    ];

    /// What TSDL calls it.
    pub fn in_tsdl(self) -> &'static str {
        match self {
            Origin::PacketHeader => "trace.packet.header",
            Origin::PacketContext => "stream.packet.context",
            Origin::EventHeader => "stream.event.header",
            Origin::EventContext => "stream.event.context",
            Origin::OwnContext => "event.context",
            Origin::Payload => "event.fields",
        }
    }

    /// What CTF 2 calls it.
    pub fn in_json(self) -> &'static str {
        match self {
            Origin::PacketHeader => "packet-header",
            Origin::PacketContext => "packet-context",
            Origin::EventHeader => "event-record-header",
            Origin::EventContext => "event-record-common-context",
            Origin::OwnContext => "event-record-specific-context",
            Origin::Payload => "event-record-payload",
        }
    }
}

impl DraftKind {
    /// A structure with at least this alignment.
    pub fn structure(align: u32, members: Vec<DraftMember>) -> DraftKind {
        let align = members.iter().map(|member| member.draft.align()).fold(align, u32::max);
        DraftKind::Struct { align, members }
    }

    /// An array with at least this alignment.
    pub fn array(align: u32, length: DraftLength, element: Rc<Draft>) -> DraftKind {
        DraftKind::Array { align: align.max(element.align()), is_uuid: false, length, element }
    }
}

impl Draft {
    /// A draft, if it does not nest too deeply.
    pub fn new(kind: DraftKind) -> Drafted {
        let members = match &kind {
            DraftKind::Struct { members, .. } => members.as_slice(),
            DraftKind::Variant { members, .. } => members,
            _ => &[],
        };
        let content = match &kind {
            DraftKind::Optional { content, .. } => Some(content),
            DraftKind::Array { element, .. } => Some(element),
            _ => None,
        };
        let (mut depth, mut nodes) = (0, 1_usize);
        for part in members.iter().map(|member| &member.draft).chain(content) {
            depth = depth.max(part.depth);
            nodes = nodes.saturating_add(part.nodes);
        }
        if depth >= MAX_DEPTH {
            return Err("types are nested too deeply".into());
        }
        Ok(Rc::new(Draft { kind, nodes, depth: depth + 1 }))
    }

    fn align(&self) -> u32 {
        match &self.kind {
            DraftKind::Integer(integer) => integer.align,
            DraftKind::Float(float) => float.align,
            DraftKind::Text => 8,
            DraftKind::Struct { align, .. } | DraftKind::Array { align, .. } => *align,
            DraftKind::Variant { .. } | DraftKind::Optional { .. } => 1,
        }
    }
}

/// An alignment in bits, if it is valid.
pub fn alignment(bits: i128) -> Result<u32, String> {
    match u32::try_from(bits) {
        Ok(align) if align.is_power_of_two() && bits <= MAX_ALIGN => Ok(align),
        _ => Err(format!("an alignment of {bits} bits: it must be a power of two up to {MAX_ALIGN}")),
    }
}

/// The size of an integer in bits, if it is supported.
pub fn integer_size(bits: i128) -> Result<u32, String> {
    match u32::try_from(bits) {
        Ok(size @ 1..=64) => Ok(size),
        _ => Err(format!("an integer of {bits} bits: only 1 to 64 are supported")),
    }
}
