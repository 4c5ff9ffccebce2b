//! The macros.

/// Emits an event; its arguments are evaluated only if a session records it.
///
/// ```
/// # mod events { include!("../doc/events.rs"); }
/// use lttng_provider::emit;
///
/// fn name() -> String {
///     unreachable!("no session records the event")
/// }
///
/// emit!(events::shop::sold(&name(), 1));
/// ```
#[macro_export]
macro_rules! emit {
    ($($event:ident)::+ ($($argument:expr),* $(,)?)) => {
        if $($event)::+::enabled() {
            $($event)::+::record($($argument),*);
        }
    };
    (::$($event:ident)::+ ($($argument:expr),* $(,)?)) => {
        if ::$($event)::+::enabled() {
            ::$($event)::+::record($($argument),*);
        }
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "write the event and its arguments in the order of the catalog, as in `emit!(shop::sold(\"apples\", 3))`; \
             a struct that derives `Event` has a method `emit()`"
        )
    };
}

/// Brings in the events that `lttng_provider_build::compile` wrote in the crate's build script: a module
/// for each provider, a type for each event.
///
/// If the crate already has a module with the name of a provider, put them into another one:
/// `mod events { lttng_provider::include_events!(); }`.
#[macro_export]
macro_rules! include_events {
    () => {
        const _: &str = env!(
            "LTTNG_PROVIDER_CATALOGS",
            "this crate compiles no catalog: add a `build.rs` with \
             `fn main() { lttng_provider_build::compile(\"catalog.toml\"); }`, and `lttng-provider-build` to \
             `[build-dependencies]`"
        );
        include!(concat!(
            env!("OUT_DIR", "this crate has no build script: add a `build.rs` that compiles a catalog"),
            "/events.rs"
        ));
    };
}

/// One of the two forms of a function with `#[traced]`. With tracing off it is the plain function, with a check of the fields'
/// types in a branch that is never taken.
#[cfg(tracing)]
#[doc(hidden)]
#[macro_export]
macro_rules! __traced {
    ({ $($off:tt)* } { $($on:tt)* }) => { $($on)* };
}

#[cfg(not(tracing))]
#[doc(hidden)]
#[macro_export]
macro_rules! __traced {
    ({ $($off:tt)* } { $($on:tt)* }) => { $($off)* };
}
