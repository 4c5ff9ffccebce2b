//! Metadata: the text that describes the layout of a trace's packets. CTF 1.8 has a language for it, TSDL, and CTF 2
//! uses JSON.
//!
//! ```text
//!                 ┌─ tsdl ─> drafts ─┐
//! file ─packets─> text               ├─assemble─> Metadata
//!                 └─ json ─> drafts ─┘  └ link: lengths and variants to fields
//! ```
//!
//! The text comes from a file and is trusted no more than the packets: nesting is bounded, and the memory for types is
//! bounded by the size of the text. Statements are read one after the other, and each is dropped as soon as its
//! event class is assembled, so that time and memory are linear in the number of event classes. A statement
//! that cannot be understood is reported and skipped, and the others are used.

mod assemble;
mod draft;
mod growing;
mod identity;
mod json;
mod link;
mod locate;
mod model;
mod packets;
mod problem;
mod surroundings;
mod tsdl;

use draft::Language;
pub(crate) use growing::{GrowingMetadata, Growth};
pub(crate) use identity::is_json;
pub use model::*;
pub use problem::Problem;

/// Reads a metadata file: what it says, and what in it cannot be used.
pub fn read(bytes: &[u8]) -> (Metadata, Vec<Problem>) {
    let (text, mut problems) = packets::text(bytes);
    let metadata = match Language::of(&text) {
        Language::Json => json::read(&text, &mut problems),
        Language::Tsdl => tsdl::read(&text, &mut problems).0,
    };
    (metadata, problems.finish())
}

#[cfg(test)]
mod tests;
