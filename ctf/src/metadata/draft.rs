//! Types whose lengths and variants are not linked yet to the fields that they refer to.
//!
//! A named type is shared by all types that use it, so drafts take no more memory than their text;
//! [`Draft::nodes`] is the size of the type when it is copied out, which the [linker](super::link) bounds.

use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

use super::model::{Float, Integer, VariableInteger};
use crate::Enumeration;

/// How deep a type may nest, names of types counted.
const MAX_DEPTH: usize = 64;

/// The largest alignment, in bits: 4096 bytes, a memory page.
const MAX_ALIGN: i128 = 1 << 15;

/// A type whose references are not resolved.
#[derive(Debug)]
pub struct Draft {
    pub kind: Kind,
    /// The number of types it is made of, itself included.
    pub nodes: usize,
    depth: usize,
}

pub type Drafted = Result<Rc<Draft>, String>;

/// What a draft is.
#[derive(Debug)]
pub enum Kind {
    Integer(Integer),
    Variable(VariableInteger),
    Float(Float),
    Enum(Integer, Arc<Enumeration>),
    Text,
    Struct { align: u32, members: Vec<DraftMember> },
    Variant { tag: Tag, members: Rc<[DraftMember]> },
    Optional { selector: Location, values: Arc<[RangeInclusive<i128>]>, content: Rc<Draft> },
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
    Label(Path),
    /// A number, by the ranges of each member.
    Number(Location, Arc<[(RangeInclusive<i128>, usize)]>),
}

/// The number of elements of an array.
#[derive(Clone, Debug)]
pub enum DraftLength {
    Fixed(u64),
    Path(Path),
    At(Location),
}

/// A reference of TSDL's to an earlier field: `len`, `stream.event.context.len`.
pub type Path = Vec<String>;

/// A reference of CTF 2's to an earlier field.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// The scope where the path begins, or else the structure around what refers.
    pub origin: Option<Origin>,
    /// The number of structures to go up first.
    pub up: usize,
    /// The members to follow then; there is at least one.
    pub down: Vec<String>,
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

impl Kind {
    /// A structure that is aligned at least like this.
    pub fn structure(align: u32, members: Vec<DraftMember>) -> Kind {
        let align = members.iter().map(|member| member.draft.align()).fold(align, u32::max);
        Kind::Struct { align, members }
    }

    /// An array that is aligned at least like this.
    pub fn array(align: u32, length: DraftLength, element: Rc<Draft>) -> Kind {
        Kind::Array { align: align.max(element.align()), is_uuid: false, length, element }
    }
}

impl Draft {
    /// A draft, if it does not nest too deeply.
    pub fn new(kind: Kind) -> Drafted {
        let members = match &kind {
            Kind::Struct { members, .. } => members.as_slice(),
            Kind::Variant { members, .. } => members,
            _ => &[],
        };
        let content = match &kind {
            Kind::Optional { content, .. } => Some(content),
            Kind::Array { element, .. } => Some(element),
            _ => None,
        };
        let (mut depth, mut nodes) = (0, 1_usize);
        for part in members.iter().map(|member| &member.draft).chain(content) {
            depth = depth.max(part.depth);
            nodes = nodes.saturating_add(part.nodes);
        }
        if depth >= MAX_DEPTH {
            return Err("a type nests too deeply".into());
        }
        Ok(Rc::new(Draft { kind, nodes, depth: depth + 1 }))
    }

    fn align(&self) -> u32 {
        match &self.kind {
            Kind::Integer(integer) | Kind::Enum(integer, _) => integer.align,
            Kind::Float(float) => float.align,
            Kind::Variable(_) | Kind::Text => 8,
            Kind::Struct { align, .. } | Kind::Array { align, .. } => *align,
            Kind::Variant { .. } | Kind::Optional { .. } => 1,
        }
    }
}

/// An alignment in bits, if it can be one.
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
