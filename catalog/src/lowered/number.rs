//! Numbers: their types in C and Rust, and their layout in a trace.

use crate::{ByteOrder, Integer, Width};

/// A number of a field or of an element, as an application passes it and a trace records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The name of its type in C, e.g. `uint32_t`.
    pub c_type: &'static str,
    /// The name of its type in Rust, e.g. `u32`.
    pub rust_type: &'static str,
    /// The bytes that it takes.
    pub size: u32,
    /// Whether it can be negative.
    pub signed: bool,
    /// Whether its bytes are swapped on their way into a trace; a single byte has no order.
    pub swapped: bool,
}

impl Number {
    pub(crate) const FLOAT: Number = Number::new("float", "f32", 4, true);
    pub(crate) const DOUBLE: Number = Number::new("double", "f64", 8, true);
    pub(crate) const BOOL: Number = Number::new("bool", "bool", 1, false);

    /// A return address.
    pub const FRAME: Number = Number::new("uint64_t", "u64", 8, false);

    const fn new(c_type: &'static str, rust_type: &'static str, size: u32, signed: bool) -> Number {
        Number { c_type, rust_type, size, signed, swapped: false }
    }

    /// An integer; one that is not recorded has no byte order.
    pub(crate) fn integer(integer: Integer, recorded: bool) -> Number {
        let number = match (integer.signed, integer.width) {
            (false, Width::W8) => Number::new("uint8_t", "u8", 1, false),
            (false, Width::W16) => Number::new("uint16_t", "u16", 2, false),
            (false, Width::W32) => Number::new("uint32_t", "u32", 4, false),
            (false, Width::W64) => Number::new("uint64_t", "u64", 8, false),
            (true, Width::W8) => Number::new("int8_t", "i8", 1, true),
            (true, Width::W16) => Number::new("int16_t", "i16", 2, true),
            (true, Width::W32) => Number::new("int32_t", "i32", 4, true),
            (true, Width::W64) => Number::new("int64_t", "i64", 8, true),
        };
        let swapped = recorded && integer.order == ByteOrder::Network && integer.width != Width::W8;
        Number { swapped, ..number }
    }

    /// The number that a length is recorded in.
    pub fn length(width: Width) -> Number {
        Number::integer(Integer::new(width, false), false)
    }

    /// Whether it is a `float` or a `double`, whose bits are passed where only integers are possible.
    pub fn is_float(self) -> bool {
        self == Number::FLOAT || self == Number::DOUBLE
    }
}
