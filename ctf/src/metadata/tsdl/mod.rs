//! TSDL, the language of CTF 1.8's metadata.
//!
//! ```text
//! text ──lex──> tokens ──parse──> statements ──build──> drafts
//!                                              └ types: names to types
//! ```

mod ast;
mod build;
mod lex;
mod parse;
mod roles;
mod skip;
mod types;

pub use build::{Tail, read};
