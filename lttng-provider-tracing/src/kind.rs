//! What the fields of a catalog record.

use lttng_provider::Unit;

/// What a field records.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An integer.
    Integer {
        /// The smallest one that fits.
        min: i128,
        /// The largest one that fits.
        max: i128,
        /// The unit of a time.
        unit: Option<Unit>,
    },
    /// An integer some of whose values have labels.
    Enumeration {
        /// The smallest one that fits.
        min: i128,
        /// The largest one that fits.
        max: i128,
        /// The labels, each with its first value.
        labels: &'static [(&'static str, i128)],
    },
    /// A floating-point number.
    Float,
    /// True or false.
    Bool,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A list of integers, which no value of `tracing` can be.
    List,
}

macro_rules! integers {
    ($($name:ident $type:ident)+) => {
        $(
            #[doc = concat!("The integer `", stringify!($type), "`.")]
            pub const $name: Kind = Kind::Integer { min: $type::MIN as i128, max: $type::MAX as i128, unit: None };
        )+
    };
}

integers!(U8 u8 U16 u16 U32 u32 U64 u64 I8 i8 I16 i16 I32 i32 I64 i64);

impl Kind {
    /// The integer as a number of this unit.
    pub const fn in_unit(self, unit: Unit) -> Kind {
        match self {
            Kind::Integer { min, max, .. } => Kind::Integer { min, max, unit: Some(unit) },
            other => other,
        }
    }

    /// The integer with labels.
    pub const fn labelled(self, labels: &'static [(&'static str, i128)]) -> Kind {
        match self {
            Kind::Integer { min, max, .. } => Kind::Enumeration { min, max, labels },
            other => other,
        }
    }
}
