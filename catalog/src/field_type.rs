//! The types of fields. What is special about a type is said here and nowhere else: the word for it, what its values are
//! made of, how many of those there are and what they mean.
//!
//! All writers (Rust, C, LTTng-UST's macros, packing, USDT probes, spans of `tracing`) and all checks read a [`Shape`]
//! and do not know types. So a type that is a new combination of these needs a variant, its word and its shape.

pub(crate) mod number;
mod shape;
mod spelling;

pub use number::{Base, ByteOrder, Integer, Number, NumberKind, Width};
pub use shape::{Content, Extent, Shape};
pub(crate) use spelling::{read_integer, read_type};

use crate::enumeration::Enumeration;

/// The type of a field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// An integer of 8 to 64 bits.
    Integer(Integer),
    /// A 32-bit floating-point number.
    Float,
    /// A 64-bit floating-point number.
    Double,
    /// True or false, recorded as 1 or 0 in a byte.
    Bool,
    /// A value of the named [`Enumeration`] of the same provider.
    Enum(String),
    /// A NUL-terminated string.
    String,
    /// This number of bytes of text.
    TextArray(u32),
    /// Text with its length recorded before it.
    Text {
        /// The integer that the length is recorded in.
        length: Width,
    },
    /// A fixed number of integers.
    Array {
        /// What each element is.
        element: Integer,
        /// The number of elements.
        length: u32,
    },
    /// Integers with their number recorded before them; bytes are a sequence of hexadecimal `u8`.
    Sequence {
        /// What each element is.
        element: Integer,
        /// The integer that the number of elements is recorded in.
        length: Width,
    },
    /// The return addresses of the callers, taken when the event is recorded; the application passes no argument for it.
    Stack,
}

/// The types that a single word spells. Those with a length have the one that holds unless a catalog says otherwise.
pub(crate) const WORDS: &[(&str, FieldType)] = &[
    ("u8", FieldType::Integer(Integer::new(Width::W8, false))),
    ("u16", FieldType::Integer(Integer::new(Width::W16, false))),
    ("u32", FieldType::Integer(Integer::new(Width::W32, false))),
    ("u64", FieldType::Integer(Integer::new(Width::W64, false))),
    ("i8", FieldType::Integer(Integer::new(Width::W8, true))),
    ("i16", FieldType::Integer(Integer::new(Width::W16, true))),
    ("i32", FieldType::Integer(Integer::new(Width::W32, true))),
    ("i64", FieldType::Integer(Integer::new(Width::W64, true))),
    ("f32", FieldType::Float),
    ("f64", FieldType::Double),
    ("bool", FieldType::Bool),
    ("string", FieldType::String),
    ("text", FieldType::Text { length: DEFAULT_LENGTH }),
    ("bytes", FieldType::Sequence { element: Integer::BYTE, length: DEFAULT_LENGTH }),
    ("stack", FieldType::Stack),
];

/// All types in words, for errors.
pub(crate) const EVERY_TYPE: &str = "`u8` to `u64` and `i8` to `i64` (each also `hex`, `network` or \
     `network hex`), `f32`, `f64`, `bool`, `string`, `enum NAME`, `text`, `bytes`, `[char; 16]`, \
     `[u32; 4]`, `[u32]` or `stack`";

/// The length of text and sequences unless the catalog says otherwise.
pub(crate) const DEFAULT_LENGTH: Width = Width::W32;

impl FieldType {
    /// What values of this type are, as all writers see them. The enums are those of the provider; one that it does not
    /// have, which the checks refuse, has values of 64 bits.
    pub fn shape(&self, enums: &[Enumeration]) -> Shape {
        let shape = |content, element, extent| Shape { content, element, extent };
        match self {
            FieldType::Integer(integer) => shape(Content::Number, Number::from(*integer), Extent::One),
            FieldType::Float => shape(Content::Number, Number::FLOAT, Extent::One),
            FieldType::Double => shape(Content::Number, Number::DOUBLE, Extent::One),
            FieldType::Bool => shape(Content::Number, Number::BOOL, Extent::One),
            FieldType::Enum(name) => {
                let container = enums.iter().find(|known| known.name == *name).map(|known| known.container);
                let container = container.unwrap_or(Integer::new(Width::W64, true));
                shape(Content::Enumeration, Number::from(container), Extent::One)
            }
            FieldType::String => shape(Content::Text, Number::CHARACTER, Extent::Terminated),
            FieldType::TextArray(count) => shape(Content::Text, Number::CHARACTER, Extent::Fixed(*count)),
            FieldType::Text { length } => shape(Content::Text, Number::CHARACTER, Extent::Counted(*length)),
            FieldType::Array { element, length } => {
                shape(Content::Number, Number::from(*element), Extent::Fixed(*length))
            }
            FieldType::Sequence { element, length } => {
                shape(Content::Number, Number::from(*element), Extent::Counted(*length))
            }
            FieldType::Stack => shape(Content::Stack, Number::FRAME, Extent::Counted(Width::W8)),
        }
    }

    /// The number of values, which no enum changes.
    pub fn extent(&self) -> Extent {
        self.shape(&[]).extent
    }

    /// The integer that values of this type are, or are made of.
    pub fn integer(&self) -> Option<Integer> {
        match self {
            FieldType::Integer(integer) => Some(*integer),
            FieldType::Array { element, .. } | FieldType::Sequence { element, .. } => Some(*element),
            _ => None,
        }
    }
}
