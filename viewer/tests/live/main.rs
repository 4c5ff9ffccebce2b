//! `ltt-top live`, `events --follow` and `record`, on real relays and session daemons.

mod figures;
mod server;
mod support;
#[path = "../../../ctf/tests/support/tracee.rs"]
mod tracee;
