//! The program `ltt-top`, run as its users run it.

mod run;
#[path = "../support/shared_trace.rs"]
mod shared_trace;
mod valkey;
