//! The two languages of metadata.

/// The languages of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// CTF 1.8's.
    Tsdl,
    /// CTF 2's.
    Json,
}
