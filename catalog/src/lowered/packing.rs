//! The layout of arguments in a trace.

use super::argument::{Argument, Shape};
use super::number::Number;

/// The largest event that is packed on the stack, in bytes; larger ones are written piece by piece. An emitting
/// function's frame grows by as much, whether or not a session records.
pub const PACKED_MAX: u32 = 512;

/// The layout of an argument in a trace: `struct lttng_provider_field` in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// What it is made of.
    pub kind: PackingKind,
    /// Whether it is in a trace at all.
    pub recorded: bool,
    /// Whether numbers change their byte order.
    pub swapped: bool,
    /// The bytes of a number or an element.
    pub size: u32,
    /// The bytes of the length before the elements; 0 without one.
    pub length_size: u32,
    /// The number of elements, if it is always the same; 0 otherwise.
    pub count: u32,
}

/// What a packed argument is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackingKind {
    /// One number.
    Number,
    /// Bytes and a NUL.
    String,
    /// A length and bytes.
    Text,
    /// A fixed number of bytes.
    Characters,
    /// A fixed number of numbers.
    Array,
    /// A length and numbers.
    Sequence,
}

impl Argument<'_> {
    /// The layout of the argument in a trace.
    pub fn packing(&self) -> Packing {
        let recorded = self.recorded();
        let bytes = |kind| Packing { kind, recorded, swapped: false, size: 1, length_size: 0, count: 0 };
        let numbers =
            |kind, number: Number| Packing { swapped: number.swapped, size: number.size, ..bytes(kind) };
        match &self.shape {
            Shape::Number(number) | Shape::Enumeration { container: number, .. } => {
                numbers(PackingKind::Number, *number)
            }
            Shape::String => bytes(PackingKind::String),
            Shape::Characters { count } => Packing { count: *count, ..bytes(PackingKind::Characters) },
            Shape::Text { length } => Packing { length_size: length.bits() / 8, ..bytes(PackingKind::Text) },
            Shape::Array { element, count } => {
                Packing { count: *count, ..numbers(PackingKind::Array, *element) }
            }
            Shape::Sequence { element, length } => {
                Packing { length_size: length.bits() / 8, ..numbers(PackingKind::Sequence, *element) }
            }
            Shape::Stack => Packing { length_size: 1, ..numbers(PackingKind::Sequence, Number::FRAME) },
        }
    }
}

impl Packing {
    /// The bytes that the argument takes in a trace for any value.
    pub fn fixed_size(&self) -> u64 {
        if !self.recorded {
            return 0;
        }
        match self.kind {
            PackingKind::Number => self.size.into(),
            PackingKind::String => 1,
            PackingKind::Text | PackingKind::Sequence => self.length_size.into(),
            PackingKind::Characters | PackingKind::Array => u64::from(self.count) * u64::from(self.size),
        }
    }

    /// Whether it takes further bytes that depend on its value.
    pub fn varies(&self) -> bool {
        self.recorded && matches!(self.kind, PackingKind::String | PackingKind::Text | PackingKind::Sequence)
    }

    /// Whether filters need a copy of the packed value: with a NUL after it, or in network order.
    pub fn needs_copy(&self) -> bool {
        match self.kind {
            PackingKind::String => !self.recorded,
            PackingKind::Text | PackingKind::Characters => true,
            PackingKind::Array | PackingKind::Sequence => self.swapped,
            PackingKind::Number => false,
        }
    }
}
