//! Metadata: the text that says how a trace's packets are laid out, in CTF 1.8's own language, TSDL.
//!
//! ```text
//! file ──packets──> text ──lex──> tokens ──parse──> statements ──build──> Metadata
//!                                                                 ├ draft: names to types
//!                                                                 └ link: lengths and tags to fields
//! ```
//!
//! The text comes from a file and is trusted no more than the packets: depth, sizes and the number of parts
//! are bounded. What cannot be understood is left out and named, and what stands before it is kept, so that
//! a file that was cut off still describes its first events.

mod ast;
mod build;
mod draft;
mod lex;
mod link;
mod model;
mod packets;
mod parse;

pub use model::*;

/// Something in metadata that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the text, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// Reads a metadata file: what it says, and what in it cannot be understood.
pub fn read(bytes: &[u8]) -> (Metadata, Vec<String>) {
    let (text, broken) = packets::text(bytes);
    let mut problems: Vec<String> = broken.into_iter().collect();
    if text.trim_start_matches('\u{1e}').trim_start().starts_with('{') {
        problems
            .push("this is CTF 2 metadata (JSON); only CTF 1.8 can be read, so record with CTF 1.8".into());
        return (Metadata::default(), problems);
    }
    let (metadata, found) = parse(&text);
    problems.extend(found.into_iter().map(|Problem { line, reason }| format!("line {line}: {reason}")));
    (metadata, problems)
}

/// Reads the text of metadata.
fn parse(text: &str) -> (Metadata, Vec<Problem>) {
    let (tokens, unlexed) = lex::tokens(text);
    let (statements, unparsed) = parse::statements(&tokens);
    let (metadata, mut problems) = build::build(&statements);
    // The parser stumbles over the end of the tokens that the lexer could read.
    problems.extend(unlexed.or(unparsed));
    (metadata, problems)
}
