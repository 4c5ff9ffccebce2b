//! The program `ltt-top`, run as its users run it.

mod archives;
mod bounds;
mod csv;
mod damage;
mod defaults;
mod events;
mod figures;
mod handwritten;
mod help;
mod hints;
mod hosts;
mod output;
mod recorded;
mod run;
#[path = "../../../ctf/tests/support/shared_trace.rs"]
mod shared_trace;
#[path = "../../../ctf/tests/support/tracee.rs"]
mod tracee;
mod usage;
mod valkey;
