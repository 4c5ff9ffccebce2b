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

/// Runs the body of an `async fn` with `#[traced(…, polling)]`; with tracing off, this is only the body.
#[cfg(tracing)]
#[doc(hidden)]
#[macro_export]
macro_rules! __polled {
    ($measurement:expr, $body:block) => {
        $measurement.polled(async move $body).await
    };
}

#[cfg(not(tracing))]
#[doc(hidden)]
#[macro_export]
macro_rules! __polled {
    ($measurement:expr, $body:block) => {{
        let _ = $measurement;
        $body
    }};
}

/// Runs the body of a function with `#[traced]` whose events have values from its result, and records them; with
/// tracing off, this is only the body. In a function that is not async the body is a closure either way, so that the
/// compiler accepts the same functions.
#[cfg(tracing)]
#[doc(hidden)]
#[macro_export]
macro_rules! __outcome {
    ($clock:ident, |$duration:ident, $ret:ident| $record:block, calling [$($output:tt)*] $body:tt) => {{
        let result = $crate::__private::call(move || $($output)* $body);
        $crate::__private::outcome!(@ $clock.elapsed(), $duration, $ret, $record, result)
    }};
    ($clock:ident, |$duration:ident, $ret:ident| $record:block, waiting $cancelled:block $body:tt) => {{
        let clock = $crate::__private::OrCancelled::new($clock, |$duration| $cancelled);
        let result = async move $body.await;
        $crate::__private::outcome!(@ clock.finish(), $duration, $ret, $record, result)
    }};
    ($clock:ident, |$duration:ident, $ret:ident| $record:block, polling $cancelled:block $body:tt) => {{
        let mut clock = $crate::__private::OrCancelled::new($clock, |$duration| $cancelled);
        let result = clock.polled(async move $body).await;
        $crate::__private::outcome!(@ clock.finish(), $duration, $ret, $record, result)
    }};
    (@ $elapsed:expr, $duration:ident, $ret:ident, $record:block, $result:ident) => {{
        if let ::core::option::Option::Some($duration) = $elapsed {
            #[allow(unused)]
            let $ret = &$result;
            $record
        }
        $result
    }};
}

#[cfg(not(tracing))]
#[doc(hidden)]
#[macro_export]
macro_rules! __outcome {
    ($clock:ident, |$duration:ident, $ret:ident| $record:block, calling [$($output:tt)*] $body:tt) => {{
        let _ = &mut $clock;
        $crate::__private::call(move || $($output)* $body)
    }};
    ($clock:ident, |$duration:ident, $ret:ident| $record:block, $way:ident $cancelled:block $body:tt) => {{
        let _ = &mut $clock;
        $body
    }};
}
