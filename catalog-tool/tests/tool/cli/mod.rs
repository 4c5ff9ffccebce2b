//! The program `lttng-catalog`, run as its users run it.

mod c;
mod check;
mod diff;
mod doc;
mod help;
mod import;
mod probes;
pub mod run;
mod usage;
