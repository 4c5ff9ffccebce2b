//! The two languages of metadata.

use super::json;

/// The languages of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// CTF 1.8's.
    Tsdl,
    /// CTF 2's.
    Json,
}

impl Language {
    /// The language of a text.
    pub fn of(text: &str) -> Language {
        if json::is_sequence(text) { Language::Json } else { Language::Tsdl }
    }
}
