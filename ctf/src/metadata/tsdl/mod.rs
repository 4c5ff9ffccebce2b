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
mod types;

use super::{Metadata, Problems};

/// Reads the text of metadata.
pub fn read(text: &str) -> (Metadata, Problems) {
    let (tokens, unlexed) = lex::tokens(text);
    let (statements, unparsed) = parse::statements(&tokens);
    let (metadata, mut problems) = build::build(&statements);
    // The parser stumbles over the end of the tokens that the lexer could read.
    problems.0.extend(unlexed.or(unparsed));
    (metadata, problems)
}
