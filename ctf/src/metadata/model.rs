//! What metadata says, resolved: the layout of everything in a trace's packets.
//!
//! It is the same for both languages of metadata. TSDL marks the fields that describe packets and events by their
//! names, CTF 2 by roles; here they have [roles](Role).

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::{Base, Enumeration, Uuid};

/// All that the metadata says about a trace.
#[derive(Debug, Default)]
pub struct Metadata {
    /// The trace's UUID, which each packet repeats where the packet header has room for it.
    pub uuid: Option<Uuid>,
    /// The tracer's `env` block, in its order.
    pub environment: Vec<(String, EnvironmentValue)>,
    /// The layout of the packet header, where packets have one.
    pub packet_header: Option<Type>,
    /// The stream classes, sorted by id.
    pub streams: Vec<StreamClass>,
    /// The number of [slots](Slot) that decoding needs.
    pub slots: usize,
}

/// A value of the `env` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentValue {
    /// A number.
    Integer(i128),
    Text(String),
}

/// One kind of stream; in LTTng's words a channel.
#[derive(Debug)]
pub struct StreamClass {
    /// What the [`Role::StreamClassId`] in a packet header says.
    pub id: u64,
    /// Follows the packet header in each packet.
    pub packet_context: Option<Type>,
    /// Precedes each event.
    pub event_header: Option<Type>,
    /// Follows each event header.
    pub event_context: Option<Type>,
    /// What the timestamps of this stream count.
    pub clock: Option<Arc<Clock>>,
    /// The event classes, sorted by id.
    pub events: Vec<EventLayout>,
}

/// One kind of event.
#[derive(Debug)]
pub struct EventLayout {
    /// What the [`Role::EventClassId`] in an event header says.
    pub id: u64,
    /// The full name.
    pub name: String,
    /// The numeric log level.
    pub log_level: Option<i64>,
    /// Where its model is described.
    pub model_uri: Option<String>,
    /// Follows the stream's event context.
    pub context: Option<Type>,
    /// The event's own fields.
    pub payload: Option<Type>,
}

/// What timestamps count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The name by which integers refer to it.
    pub name: String,
    /// Counts in a second; never 0.
    pub frequency: u64,
    /// Seconds from 1970 to the clock's origin.
    pub offset_seconds: i64,
    /// Counts from there to the clock's origin.
    pub offset: i64,
    /// Which clock it is: LTTng's is the boot ID of the machine.
    pub uuid: Option<Uuid>,
}

/// Where an integer that a length or a variant refers to is kept while decoding.
pub type Slot = usize;

/// What a field says about its packet or its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// In a packet header: always 0xC1FC1FC1.
    Magic,
    /// In a packet header: the id of the stream's class.
    StreamClassId,
    /// In a packet header: which of the streams of this class it is.
    StreamId,
    /// In a packet context: the clock when the packet was begun. In an event header: the clock's low bits.
    Timestamp,
    /// In a packet context: the clock when the packet was closed.
    PacketEnd,
    /// In a packet context: where the content ends, in bits.
    ContentSize,
    /// In a packet context: where the packet ends, in bits.
    PacketSize,
    /// In a packet context: the packet's number in its stream.
    Sequence,
    /// In a packet context: the number of events that the stream had discarded.
    Discarded,
    /// In an event header: the id of the event's class.
    EventClassId,
}

/// The layout of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    Integer(IntegerType),
    Float(FloatType),
    /// Bytes up to a NUL.
    Text,
    /// Members, one after the other.
    Struct(StructType),
    /// One of several members.
    Variant(VariantType),
    /// A field that may be absent.
    Optional(OptionalType),
    /// Elements, one after the other.
    Array(ArrayType),
}

/// The order of the bytes of a number, and of its bits within them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant first.
    Little,
    /// Most significant first.
    Big,
    /// As [`Little`](ByteOrder::Little), but the first bit is the number's most significant one.
    LittleMirrored,
    /// As [`Big`](ByteOrder::Big), but the first bit is the number's least significant one.
    BigMirrored,
}

/// The layout of an integer.
#[derive(Clone, Debug, PartialEq)]
pub struct IntegerType {
    /// In bits, 1 to 64. `None` for LEB128: seven bits a byte, least significant first, the last byte below 128.
    pub size: Option<u32>,
    /// In bits, a power of two.
    pub align: u32,
    /// Whether the most significant bit is a sign.
    pub signed: bool,
    pub order: ByteOrder,
    /// The labels of its values, if it is an enumeration.
    pub labels: Option<Arc<Enumeration>>,
    /// Whether an array of these is text.
    pub is_character: bool,
    /// Whether it is true or false: any bit is set.
    pub is_boolean: bool,
    /// The base in which to show it.
    pub base: Base,
    /// The clock that TSDL says it counts; decoding goes by [`Role::Timestamp`] alone.
    pub clock: Option<Arc<Clock>>,
    pub roles: Vec<Role>,
    /// Where to keep the value for what refers to it.
    pub slot: Option<Slot>,
}

impl IntegerType {
    /// A plain integer of this size and alignment in bits.
    pub fn unsigned(size: u32, align: u32) -> IntegerType {
        IntegerType {
            size: Some(size),
            align,
            signed: false,
            order: ByteOrder::Little,
            labels: None,
            is_character: false,
            is_boolean: false,
            base: Base::Decimal,
            clock: None,
            roles: Vec::new(),
            slot: None,
        }
    }
}

/// The layout of a floating-point number.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatType {
    /// In bits: 16, 32 or 64.
    pub size: u32,
    /// In bits, a power of two.
    pub align: u32,
    pub order: ByteOrder,
}

/// The layout of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct StructType {
    /// In bits: at least the largest of its members'.
    pub align: u32,
    /// In their order.
    pub members: Vec<Member>,
}

/// A member of a structure or a variant.
///
/// Its names are shared: a type that is used often is copied out, and its names may be long.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The name by which lengths and variants refer to it.
    pub name: Arc<str>,
    /// What it is called in events: the name without the underscore that LTTng puts before it in TSDL.
    pub label: Arc<str>,
    /// Its layout.
    pub kind: Type,
}

/// The layout of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantType {
    /// Where the value that selects a member is kept.
    pub tag: Slot,
    /// Which member a value selects: the first whose range contains it.
    pub choices: Arc<[(RangeInclusive<i128>, usize)]>,
    pub members: Vec<Member>,
}

impl VariantType {
    /// The member that a value selects.
    pub fn choose(&self, tag: i128) -> Option<&Member> {
        let (_, member) = self.choices.iter().find(|(values, _)| values.contains(&tag))?;
        self.members.get(*member)
    }
}

/// The layout of a field that may be absent.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionalType {
    /// Where the value that decides whether it is present is kept.
    pub selector: Slot,
    /// The values that mean that it is present.
    pub values: Arc<[RangeInclusive<i128>]>,
    /// Its layout if it is present.
    pub content: Box<Type>,
}

impl OptionalType {
    /// Whether it is present.
    pub fn is_present(&self, selector: i128) -> bool {
        self.values.iter().any(|values| values.contains(&selector))
    }
}

/// The layout of an array or a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayType {
    /// In bits: at least its elements'.
    pub align: u32,
    /// Whether this is the UUID that the metadata has too.
    pub is_uuid: bool,
    /// The number of elements.
    pub length: Length,
    /// The layout of each.
    pub element: Box<Type>,
}

/// The number of elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Length {
    /// Always the same number.
    Fixed(u64),
    /// What an earlier field says.
    Slot(Slot),
}

impl Type {
    /// The alignment, in bits.
    pub fn align(&self) -> u32 {
        match self {
            Type::Integer(integer) => integer.align,
            Type::Float(float) => float.align,
            Type::Text => 8,
            Type::Struct(structure) => structure.align,
            // The chosen field has its own alignment.
            Type::Variant(_) | Type::Optional(_) => 1,
            Type::Array(array) => array.align,
        }
    }

    /// The members, if this is a structure.
    pub fn members(&self) -> &[Member] {
        match self {
            Type::Struct(structure) => &structure.members,
            _ => &[],
        }
    }

    /// What it says about its packet or its event.
    pub fn roles(&self) -> &[Role] {
        match self {
            Type::Integer(integer) => &integer.roles,
            _ => &[],
        }
    }

    /// Whether this is an array or a sequence of characters.
    pub fn is_text_array(&self) -> bool {
        let Type::Array(ArrayType { element, .. }) = self else { return false };
        matches!(
            &**element,
            Type::Integer(IntegerType { is_character: true, labels: None, size: Some(8), align: ..=8, .. })
        )
    }
}
