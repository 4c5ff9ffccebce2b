//! The program `ltt-top`: run as its users run it, while something is recorded, and as packagers take it.

mod cli;
mod live;
mod package;
#[path = "../../ctf/tests/support/tracee.rs"]
mod tracee;
