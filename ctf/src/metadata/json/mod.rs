//! CTF 2's metadata: JSON texts, one after the other.
//!
//! ```text
//! text ──sequence──> fragments ──build──> drafts
//!                     └ object: properties    └ classes: field classes to types
//! ```
//!
//! What the specification lets a reader ignore is ignored: attributes (except for LTTng's log levels), names and
//! descriptions of classes, media types, precisions. Extensions may change the format itself, so a
//! trace that declares one is refused, as the specification demands.

mod build;
mod classes;
mod identity;
mod object;
mod sequence;

pub use build::read;
pub use identity::uuid_of_json;
pub use sequence::is_sequence;
