//! Names of events.

/// An event's name without its provider.
pub fn short_name(event: &str) -> &str {
    event.split_once(':').map_or(event, |(_, name)| name)
}
