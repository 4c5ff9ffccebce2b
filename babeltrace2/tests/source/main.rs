//! The sources on real traces, with each other and with Babeltrace 1 as oracles.

#[cfg(feature = "babeltrace2")]
mod babeltrace2;
mod ctf2;
mod damage;
mod native;
mod recorded;
#[path = "../support/mod.rs"]
mod support;
