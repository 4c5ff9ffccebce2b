//! The catalog, its rules and what writers read of it.

mod authorities;
mod c_macros;
mod cases;
mod clashes;
mod events_document;
mod mutations;
mod probes;
mod read;
mod readme;
mod schema;
mod valkey;
