//! Valkey's LTTng-UST events from a Redis or Valkey server that was not built for tracing.
//!
//! The server loads this library as a module (`--loadmodule`). It then records commands, turns of the event loop and forks
//! under the names of `catalog/valkey.toml`, so that LTTng and `ltt-top` need not know the difference. Preloaded as well
//! (`LD_PRELOAD`), it also times what the server does through libc. `docs/stock-servers.md` says which events are
//! exact, which are derived, and which no module can see.
//!
//! ```text
//!  server ── ffi: module API, callbacks, libc calls
//!              │
//!              ├─ commands   which names are commands, and what each may do
//!              ├─ sequence   when a command ends: the next one begins, or the loop sleeps
//!              ├─ turns      when a turn of the event loop begins and ends
//!              ├─ clients    addresses by client
//!              ├─ files      which file a path is
//!              └─ record     the events
//! ```

mod clients;
mod commands;
mod ffi;
mod files;
#[cfg_attr(test, allow(dead_code, reason = "tests of the crate do not call libc through it"))]
mod record;
mod sequence;
mod turns;

mod events {
    lttng_provider::include_events!();
}
