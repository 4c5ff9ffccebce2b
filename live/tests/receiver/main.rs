//! Receiving: from real relays, and from a malicious one.

#[path = "../support/honest_relay.rs"]
mod honest_relay;
mod hostile;
mod relay;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../../ctf/tests/support/tracee.rs"]
mod tracee;
