//! Numbers: integers as catalogs have them, and all that fields are made of.

use std::ops::RangeInclusive;

/// An integer type as LTTng records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// How wide it is.
    pub width: Width,
    /// Whether it can be negative.
    pub signed: bool,
    /// The base that readers show it in.
    pub base: Base,
    /// The byte order in the trace.
    pub order: ByteOrder,
}

impl Integer {
    /// What `bytes` are made of.
    pub const BYTE: Integer = Integer { base: Base::Hexadecimal, ..Integer::new(Width::W8, false) };

    /// A decimal integer in the machine's byte order.
    pub const fn new(width: Width, signed: bool) -> Self {
        Integer { width, signed, base: Base::Decimal, order: ByteOrder::Native }
    }

    /// The name of the Rust type, e.g. `u32`.
    pub fn rust_name(self) -> String {
        Number::from(self).rust_type()
    }

    /// The values that fit.
    pub fn range(self) -> RangeInclusive<i128> {
        let bits = self.width.bits();
        if self.signed { -(1 << (bits - 1))..=(1 << (bits - 1)) - 1 } else { 0..=(1 << bits) - 1 }
    }
}

/// The width of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// 8 bits.
    W8,
    /// 16 bits.
    W16,
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
}

impl Width {
    /// The width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Width::W8 => 8,
            Width::W16 => 16,
            Width::W32 => 32,
            Width::W64 => 64,
        }
    }

    /// The width in bytes.
    pub fn bytes(self) -> u32 {
        self.bits() / 8
    }
}

/// The base that readers show an integer in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// Base 10.
    #[default]
    Decimal,
    /// Base 16.
    Hexadecimal,
}

/// The byte order of an integer in the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// That of the machine.
    #[default]
    Native,
    /// Big-endian; a program still passes the value as it is.
    Network,
}

/// A number that a value is, or that each of its elements is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// What kind of number it is.
    pub kind: NumberKind,
    /// How wide it is.
    pub width: Width,
    /// The base that readers show it in.
    pub base: Base,
    /// The byte order in the trace.
    pub order: ByteOrder,
}

/// What kind of number it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// An integer from 0.
    Unsigned,
    /// An integer that can be negative.
    Signed,
    /// A floating-point number, whose bits are passed where only integers are possible.
    Float,
    /// True or false.
    Bool,
    /// A byte of text.
    Character,
}

impl Number {
    pub(crate) const FLOAT: Number = Number::new(NumberKind::Float, Width::W32);
    pub(crate) const DOUBLE: Number = Number::new(NumberKind::Float, Width::W64);
    pub(crate) const BOOL: Number = Number::new(NumberKind::Bool, Width::W8);
    pub(crate) const CHARACTER: Number = Number::new(NumberKind::Character, Width::W8);

    /// A return address.
    pub(crate) const FRAME: Number =
        Number { base: Base::Hexadecimal, ..Number::new(NumberKind::Unsigned, Width::W64) };

    const fn new(kind: NumberKind, width: Width) -> Number {
        Number { kind, width, base: Base::Decimal, order: ByteOrder::Native }
    }

    /// The number that a length is recorded in.
    pub fn length(width: Width) -> Number {
        Number::new(NumberKind::Unsigned, width)
    }

    /// The name of its type in C, e.g. `uint32_t`.
    pub fn c_type(self) -> String {
        let bits = self.width.bits();
        match self.kind {
            NumberKind::Unsigned => format!("uint{bits}_t"),
            NumberKind::Signed => format!("int{bits}_t"),
            NumberKind::Float if self.width == Width::W32 => "float".to_owned(),
            NumberKind::Float => "double".to_owned(),
            NumberKind::Bool => "bool".to_owned(),
            NumberKind::Character => "char".to_owned(),
        }
    }

    /// The name of its type in Rust, e.g. `u32`.
    pub fn rust_type(self) -> String {
        let bits = self.width.bits();
        match self.kind {
            NumberKind::Unsigned | NumberKind::Character => format!("u{bits}"),
            NumberKind::Signed => format!("i{bits}"),
            NumberKind::Float => format!("f{bits}"),
            NumberKind::Bool => "bool".to_owned(),
        }
    }
}

impl From<Integer> for Number {
    fn from(Integer { width, signed, base, order }: Integer) -> Number {
        let kind = if signed { NumberKind::Signed } else { NumberKind::Unsigned };
        Number { kind, width, base, order }
    }
}
