//! What values of a type are, as all writers see them.

use super::number::{Number, NumberKind, Width};

/// What values of a type are: what they mean, what they are made of, and how many of those there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What the value means.
    pub content: Content,
    /// The number that the value is, or that each of its elements is.
    pub element: Number,
    /// How many elements there are.
    pub extent: Extent,
}

/// What a value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A number, or a list of numbers.
    Number,
    /// A number with a label.
    Enumeration,
    /// Text.
    Text,
    /// Return addresses, which are taken where the event is recorded; the application passes nothing.
    Stack,
}

/// The number of elements of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The value is a single number, passed by value.
    One,
    /// Any number, with a NUL after them.
    Terminated,
    /// This number.
    Fixed(u32),
    /// Any number, recorded before them in an integer of this width.
    Counted(Width),
}

impl Shape {
    /// Whether an application passes it; a stack is taken where the event is recorded.
    pub fn is_passed(&self) -> bool {
        self.content != Content::Stack
    }

    /// Whether an application passes text.
    pub fn is_text(&self) -> bool {
        self.content == Content::Text
    }

    /// Whether it is a single floating-point number.
    pub fn is_float(&self) -> bool {
        self.extent == Extent::One && self.element.kind == NumberKind::Float
    }

    /// The bytes that it takes in a trace for any value.
    pub fn fixed_size(&self) -> u64 {
        let size = u64::from(self.element.width.bytes());
        match self.extent {
            Extent::One => size,
            Extent::Terminated => 1,
            Extent::Fixed(count) => u64::from(count) * size,
            Extent::Counted(length) => length.bytes().into(),
        }
    }

    /// Whether it takes further bytes that depend on its value.
    pub fn varies(&self) -> bool {
        matches!(self.extent, Extent::Terminated | Extent::Counted(_))
    }
}
