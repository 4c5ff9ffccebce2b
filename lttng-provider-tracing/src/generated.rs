//! What `lttng-provider-build` writes for a catalog: a table of its events, each with functions that record it.

pub use crate::kind::*;
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

/// What the duration of a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The time from the first entry to the close.
    Wall,
    /// The time in which the span was entered.
    Busy,
}
