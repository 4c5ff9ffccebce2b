//! The module in a stock server, recorded by a session daemon of the test's own.

mod commands;
mod events;
mod harmless;
mod preloaded;
mod support;
mod valkey;
