//! What metadata says, resolved: the layout of everything in a trace's packets.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::source::Enumeration;

/// All that is known of a trace.
#[derive(Debug, Default)]
pub struct Metadata {
    /// The trace's UUID, which each packet repeats where the packet header has room for it.
    pub uuid: Option<[u8; 16]>,
    /// The tracer's `env` block, in its order.
    pub environment: Vec<(String, EnvironmentValue)>,
    /// The layout of the packet header, where packets have one.
    pub packet_header: Option<Type>,
    /// The stream classes, sorted by id.
    pub streams: Vec<StreamClass>,
    /// How many [slots](Slot) decoding needs.
    pub slots: usize,
}

/// A value of the `env` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentValue {
    /// A number.
    Integer(i128),
    /// A text.
    Text(String),
}

/// One kind of stream; in LTTng's words a channel.
#[derive(Debug)]
pub struct StreamClass {
    /// What a packet header's `stream_id` says.
    pub id: u64,
    /// Stands in each packet after the packet header.
    pub packet_context: Option<Type>,
    /// Stands before each event.
    pub event_header: Option<Type>,
    /// Stands after each event header.
    pub event_context: Option<Type>,
    /// What the timestamps of this stream count.
    pub clock: Option<Arc<Clock>>,
    /// The event classes, sorted by id.
    pub events: Vec<EventLayout>,
}

/// One kind of event.
#[derive(Debug)]
pub struct EventLayout {
    /// What an event header's `id` says.
    pub id: u64,
    /// The full name.
    pub name: String,
    /// The numeric log level.
    pub log_level: Option<i64>,
    /// Stands after the stream's event context.
    pub context: Option<Type>,
    /// The event's own fields.
    pub payload: Option<Type>,
}

/// What timestamps count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// By what integers refer to it.
    pub name: String,
    /// Counts in a second; never 0.
    pub frequency: u64,
    /// Seconds from 1970 to the clock's origin.
    pub offset_seconds: i64,
    /// Counts from there to the clock's origin.
    pub offset: i64,
}

impl Clock {
    /// The time of a count, in nanoseconds since 1970, saturated.
    #[inline]
    pub fn nanoseconds(&self, count: u64) -> i64 {
        const SECOND: i128 = 1_000_000_000;
        let counts = i128::from(self.offset) + i128::from(count);
        let nanoseconds = if self.frequency == 1_000_000_000 {
            counts
        } else {
            (counts * SECOND).div_euclid(i128::from(self.frequency))
        };
        let time = i128::from(self.offset_seconds) * SECOND + nanoseconds;
        time.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

/// Where an integer that a length or a variant refers to is kept while decoding.
pub type Slot = usize;

/// The layout of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// An integer.
    Integer(Integer),
    /// A floating-point number.
    Float(Float),
    /// An integer whose values have labels.
    Enum(Integer, Arc<Enumeration>),
    /// Bytes up to a NUL.
    Text,
    /// Members, one after the other.
    Struct(Struct),
    /// One of several members.
    Variant(Variant),
    /// Elements, one after the other.
    Array(Array),
}

/// In which order the bytes of a number stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant first.
    Little,
    /// Most significant first.
    Big,
}

/// The layout of an integer.
#[derive(Clone, Debug, PartialEq)]
pub struct Integer {
    /// In bits, 1 to 64.
    pub size: u32,
    /// In bits, a power of two.
    pub align: u32,
    /// Whether the most significant bit is a sign.
    pub signed: bool,
    /// The order of its bytes.
    pub order: ByteOrder,
    /// Whether an array of these is text.
    pub is_character: bool,
    /// The clock that the integer counts.
    pub clock: Option<Arc<Clock>>,
    /// Where to keep the value for what refers to it.
    pub slot: Option<Slot>,
}

/// The layout of a floating-point number.
#[derive(Clone, Debug, PartialEq)]
pub struct Float {
    /// In bits: 32 or 64.
    pub size: u32,
    /// In bits, a power of two.
    pub align: u32,
    /// The order of its bytes.
    pub order: ByteOrder,
}

/// The layout of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// In bits: at least the largest of its members'.
    pub align: u32,
    /// In the order in which they stand.
    pub members: Vec<Member>,
}

/// A member of a structure or a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The name as the metadata has it; see [`Member::label`].
    pub name: String,
    /// Its layout.
    pub kind: Type,
}

impl Member {
    /// The name without the underscore that LTTng puts before it.
    pub fn label(&self) -> &str {
        self.name.strip_prefix('_').unwrap_or(&self.name)
    }
}

/// The layout of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Where the value that chooses is kept.
    pub tag: Slot,
    /// Which member a value chooses: the first whose range has it.
    pub choices: Vec<(RangeInclusive<i128>, usize)>,
    /// The members.
    pub members: Vec<Member>,
}

impl Variant {
    /// The member that a value chooses.
    pub fn choose(&self, tag: i128) -> Option<&Member> {
        let (_, member) = self.choices.iter().find(|(values, _)| values.contains(&tag))?;
        self.members.get(*member)
    }
}

/// The layout of an array or a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// How many elements.
    pub length: Length,
    /// What each is.
    pub element: Box<Type>,
}

/// How many elements there are.
#[derive(Clone, Debug, PartialEq)]
pub enum Length {
    /// Always as many.
    Fixed(u64),
    /// As many as an earlier field says.
    Slot(Slot),
}

impl Type {
    /// The alignment, in bits.
    pub fn align(&self) -> u32 {
        match self {
            Type::Integer(integer) | Type::Enum(integer, _) => integer.align,
            Type::Float(float) => float.align,
            Type::Text => 8,
            Type::Struct(structure) => structure.align,
            // The chosen member aligns itself.
            Type::Variant(_) => 1,
            Type::Array(array) => array.element.align(),
        }
    }

    /// The members, if this is a structure.
    pub fn members(&self) -> &[Member] {
        match self {
            Type::Struct(structure) => &structure.members,
            _ => &[],
        }
    }

    /// Whether this is an array or a sequence of characters.
    pub fn is_text_array(&self) -> bool {
        match self {
            Type::Array(Array { element, .. }) => {
                matches!(&**element, Type::Integer(element) if element.is_character && element.size == 8
                    && element.align <= 8)
            }
            _ => false,
        }
    }
}
