//! Valkey's six LTTng-UST providers, ready to call.
//!
//! A program that emits these events is traced, filtered and read like a `valkey-server` built with
//! `USE_LTTNG=yes`: the names, fields and types are the same. They come from the catalog `lttng_catalog::VALKEY`; a
//! module is a provider, and a type in it is an event.
//!
//! ```
//! use lttng_provider::emit;
//! use valkey_trace::valkey_commands::{Protocol, command_call};
//! use valkey_trace::{valkey_aof, valkey_server};
//!
//! // An event with all its fields; none of them is evaluated unless a session records the event.
//! let client = String::from("127.0.0.1:50112");
//! emit!(command_call(Protocol::Socket, &client, "127.0.0.1:6379", "get", 12));
//!
//! // The duration of a piece of work; the clock is read only if a session records the event.
//! let keys = valkey_server::eventloop::timed(|| 16 * 1024);
//! assert_eq!(keys, 16384);
//!
//! // The same for what does not fit in a closure: until the guard goes, and with fields to fill in.
//! {
//!     let _guard = valkey_aof::aof_flush::guard();
//! }
//! let watch = command_call::start();
//! watch.finish(|| command_call::details(Protocol::Unlabelled(-1), "", "", "eval"));
//! ```
//!
//! All of it does nothing unless tracing is on: by the feature `lttng`, or by `USE_LTTNG=yes` in the environment of
//! the build. Then record with a stock LTTng, here the example `emit-all`:
//!
//! ```text
//! lttng create demo && lttng enable-event --userspace 'valkey_*' && lttng start
//! USE_LTTNG=yes cargo run --example emit-all
//! lttng stop && lttng view
//! ```
//!
//! The feature `usdt`, or `USE_USDT=yes`, makes a USDT probe of each event, for bpftrace and others; it needs neither LTTng nor
//! a C compiler, and can be on together with `lttng`.

lttng_provider::include_events!();
