//! TSDL, the language of CTF 1.8's metadata.
//!
//! ```text
//! text ──lex──> tokens ──parse──> statements with drafts of types ──build──> drafts of streams and events
//!                         └ types: names to types
//! ```

mod build;
mod lex;
mod parse;
mod roles;
mod skip;
mod types;

pub use build::{Tail, read};
