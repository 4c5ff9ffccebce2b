//! The macros, which refer to what `lttng_provider_build::compile` wrote for the crate that calls them.

/// The layer that records what the crate's catalogs name; see the [documentation of the crate](crate).
///
/// Where `include_events!()` is in a module, the path of that module is given: `layer!(crate::events)`.
#[macro_export]
macro_rules! layer {
    ($($events:tt)*) => {
        $crate::Bridge::new($crate::events!($($events)*)).layer()
    };
}

/// The events of the crate's catalogs, for a [`Bridge`](crate::Bridge).
///
/// Where `include_events!()` is in a module, the path of that module is given: `events!(crate::events)`.
#[macro_export]
macro_rules! events {
    () => {
        include!(concat!(env!("OUT_DIR"), "/tracing.rs"))
    };
    ($events:path) => {{
        use $events::*;
        include!(concat!(env!("OUT_DIR"), "/tracing.rs"))
    }};
}
