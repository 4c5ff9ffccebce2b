//! What all events have in common, for code that is generic over them.

use std::time::Duration;

use crate::switch::Switch;
use crate::unit::Unit;

/// An event of a catalog.
///
/// The generated type has methods of the same meaning, so that calling them needs no import, and
/// `emit(…)`, whose arguments are the event's own.
pub trait Event {
    /// The provider's name as LTTng shows it, e.g. `valkey_commands`.
    const PROVIDER: &'static str;

    /// The event's name as LTTng shows it, e.g. `command_call`.
    const NAME: &'static str;

    /// Whether a session records the event right now.
    ///
    /// On: one load, no call. Off: a constant `false`.
    fn enabled() -> bool;

    /// The event's run-time switch.
    fn switch() -> &'static Switch;
}

/// An event that says how long something took.
///
/// Its fields are the duration and, for some events, further ones: the [details](DurationEvent::Details).
/// They are a struct with a field for each argument, so generic code can fill them by name through an
/// alias:
///
/// ```
/// # mod events { include!("../doc/events.rs"); }
/// use lttng_provider::{DurationEvent, Text};
/// use std::time::Duration;
///
/// type Details<'a> = <events::shop::delivered as DurationEvent>::Details<'a>;
/// let details = Details { city: Text::from("Bremen"), parcels: 2 };
/// events::shop::delivered::record_duration(Duration::from_millis(5), details);
/// ```
pub trait DurationEvent: Event {
    /// The unit that the duration is recorded in.
    const UNIT: Unit;

    /// The fields besides the duration; [`NoDetails`](crate::NoDetails) for an event without any.
    type Details<'a>;

    /// Tells USDT tracers that a measurement begins, where the catalog has `entry = true`; for code that has checked
    /// whether the event is enabled.
    #[inline(always)]
    fn begin() {}

    /// Records the event without checking whether it is enabled, for code that has checked already.
    fn record_duration(duration: Duration, details: Self::Details<'_>);
}
