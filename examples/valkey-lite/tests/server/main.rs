//! The server as clients, `lttng` and `ltt-top` see it.

mod incidents;
mod persistence;
mod protocol;
mod support;
mod traced;
