//! What `lttng-provider-build` writes for a catalog: a table of its events, each with functions that record it.

use lttng_provider::Unit;

pub use crate::values::Values;

/// An event of a catalog.
#[derive(Debug)]
pub struct Event {
    /// The provider's name as tracers see it.
    pub provider: &'static str,
    /// The event's name.
    pub name: &'static str,
    /// The call sites that the catalog names; those of the event's name if there are none.
    pub callsites: Option<Callsites>,
    /// The fields that an application passes, in order.
    pub fields: &'static [Field],
    /// Which of the fields is the duration, and what it measures.
    pub duration: Option<(usize, Measured)>,
    /// Whether a session records the event right now.
    pub enabled: fn() -> bool,
    /// Tells USDT tracers that a measurement begins.
    pub begin: fn(),
    /// Records the event.
    pub record: fn(&Values<'_>),
}

/// A pattern for call sites; what is empty matches any.
#[derive(Debug)]
pub struct Callsites {
    /// The target, or a module around it.
    pub target: &'static str,
    /// The name.
    pub name: &'static str,
    /// Fields that the call site must have.
    pub fields: &'static [&'static str],
}

/// A field of an event.
#[derive(Debug)]
pub struct Field {
    /// The name of its argument.
    pub name: &'static str,
    /// What is recorded.
    pub kind: Kind,
}

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

/// What the duration of a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The time from the first entry to the close.
    Wall,
    /// The time in which the span was entered.
    Busy,
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
