//! The names that a catalog's parts take in generated Rust, where they differ from the catalog's.
//!
//! They are defined here so that the checker refuses what would clash and generators agree with it.

use crate::field_type::{Extent, Integer};
use crate::model::{Enumeration, Event, Field, Label};

impl Enumeration {
    /// The name of the Rust type: `client_kind` becomes `ClientKind`.
    pub fn rust_name(&self) -> String {
        camel_case(&self.name)
    }
}

impl Label {
    /// The Rust variant for values without a label; no label can have this name.
    pub const UNLABELLED: &str = "Unlabelled";

    /// The name of the Rust variant: `IN_PROGRESS` becomes `InProgress`.
    pub fn rust_name(&self) -> String {
        camel_case(&self.name)
    }
}

impl Event {
    /// The name of the Rust struct of what is recorded besides the duration: `command_call` becomes
    /// `CommandCallDetails`.
    pub fn details_name(&self) -> String {
        format!("{}Details", camel_case(&self.name))
    }

    /// The names that programs in C may have for the event of this provider: of functions and macros that are always
    /// there, of those that an option of the generator adds, and in `dtrace -h`'s spelling.
    pub fn c_names(&self, provider: &str) -> Vec<String> {
        let mut endings = vec!["", "_enabled"];
        if self.entry || self.meaning.duration.is_some() {
            endings.extend(["_start", "_stopwatch", "_stop"]);
        }
        let names = endings.iter().map(|ending| format!("trace_{provider}_{}{ending}", self.name));
        let macro_name = dtrace_macro(provider, &self.name);
        names.chain([macro_name.clone(), format!("{macro_name}_ENABLED")]).collect()
    }
}

impl Field {
    /// The name of the C argument that carries the length, if the type has one.
    pub fn length_argument(&self) -> Option<String> {
        self.has_length().then(|| format!("{}_length", self.argument))
    }

    /// The name under which LTTng records the length, if the type has one.
    pub fn length_name(&self) -> Option<String> {
        self.has_length().then(|| format!("_{}_length", self.name))
    }

    /// The integer that callers have the length in, if the type has one; a trace has an unsigned one of its width.
    pub fn length_type(&self) -> Option<Integer> {
        match self.kind.extent() {
            Extent::Counted(width) => Some(Integer::new(width, self.signed_length)),
            _ => None,
        }
    }

    fn has_length(&self) -> bool {
        self.length_type().is_some()
    }
}

/// The macro that `dtrace -h` makes of a probe: in capitals, and two underscores, which DTrace shows as `-`, are one.
pub fn dtrace_macro(provider: &str, event: &str) -> String {
    format!("{provider}_{event}").to_ascii_uppercase().replace("__", "_")
}

/// Rust's keywords that a catalog may use.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// The name as a Rust identifier: keywords become raw identifiers, or get an underscore where Rust does not
/// allow that.
pub fn identifier(name: &str) -> String {
    match name {
        "crate" | "self" | "super" | "Self" => format!("{name}_"),
        _ if KEYWORDS.contains(&name) => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

/// Joins words in camel case. A word ends before anything but a letter or a digit, and before a capital
/// that follows a small letter or begins a word in small letters.
pub(crate) fn camel_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut joined = String::new();
    for (index, letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            continue;
        }
        let before = index.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(index + 1);
        let begins = match before {
            Some(before) if before.is_ascii_alphanumeric() => {
                letter.is_ascii_uppercase()
                    && (!before.is_ascii_uppercase() || after.is_some_and(char::is_ascii_lowercase))
            }
            _ => true,
        };
        joined.push(if begins { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() });
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_with_capitals() {
        let cases = [
            ("SOCKET", "Socket"),
            ("IN_PROGRESS", "InProgress"),
            ("readWrite", "ReadWrite"),
            ("HTTPServer", "HttpServer"),
            ("client_kind", "ClientKind"),
            ("not found", "NotFound"),
            ("v2", "V2"),
            ("???", ""),
        ];
        for (name, joined) in cases {
            assert_eq!(camel_case(name), joined);
        }
    }

    #[test]
    fn keywords_become_raw_identifiers() {
        assert_eq!(identifier("fork"), "fork");
        assert_eq!(identifier("type"), "r#type");
        assert_eq!(identifier("self"), "self_");
    }
}
