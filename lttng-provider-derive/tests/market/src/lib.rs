//! The events of a shop and its warehouse, for the tests of the derive macros.

lttng_provider::include_events!();

/// Runs the examples in the documentation of the macros: they need a crate with a catalog.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../../../doc/event.md")]
    struct Event;

    #[doc = include_str!("../../../doc/event_enum.md")]
    struct EventEnum;

    #[doc = include_str!("../../../doc/event_value.md")]
    struct EventValue;

    #[doc = include_str!("../../../doc/traced.md")]
    struct Traced;
}
