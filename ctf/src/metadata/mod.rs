//! Metadata: the text that says how a trace's packets are laid out. CTF 1.8 has a language of its own for it, TSDL,
//! and CTF 2 has JSON.
//!
//! ```text
//!                 ┌─ tsdl ─> drafts ─┐
//! file ─packets─> text               ├─assemble─> Metadata
//!                 └─ json ─> drafts ─┘  └ link: lengths and variants to fields
//! ```
//!
//! The text comes from a file and is trusted no more than the packets: depth, sizes and the number of parts
//! are bounded. What cannot be understood is left out and named, and what stands before it is kept, so that
//! a file that was cut off still describes its first events.

mod assemble;
mod draft;
mod json;
mod link;
mod locate;
mod model;
mod packets;
mod tsdl;

pub use json::{is_json, uuid_of_json};
pub use model::*;

/// A problem with at most this many others before it is worth stating.
const MAX_PROBLEMS: usize = 16;

/// Something in metadata that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the text, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// What in metadata cannot be understood.
#[derive(Debug, Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, line: usize, reason: impl Into<String>) {
        if self.0.len() < MAX_PROBLEMS {
            self.0.push(Problem { line, reason: reason.into() });
        }
    }
}

/// In what metadata is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    /// CTF 1.8's.
    Tsdl,
    /// CTF 2's.
    Json,
}

/// Reads a metadata file: what it says, and what in it cannot be understood.
pub fn read(bytes: &[u8]) -> (Metadata, Vec<String>) {
    let (text, broken) = packets::text(bytes);
    let (metadata, Problems(found)) =
        if json::is_sequence(&text) { json::read(&text) } else { tsdl::read(&text) };
    let found = found.into_iter().map(|Problem { line, reason }| format!("line {line}: {reason}"));
    (metadata, broken.into_iter().chain(found).collect())
}
