//! Names with wildcards, as in `lttng enable-event`.

use crate::text::short_name;

/// A pattern in which `*` stands for any text, `?` for one byte, and `\` takes the next byte as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    given: String,
    pieces: Vec<Token>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Byte(u8),
    AnyByte,
    AnyText,
}

impl Glob {
    /// Parses a pattern; every text is valid.
    pub fn new(pattern: &str) -> Self {
        let mut bytes = pattern.bytes();
        let mut pieces = Vec::new();
        while let Some(byte) = bytes.next() {
            pieces.push(match byte {
                b'*' => Token::AnyText,
                b'?' => Token::AnyByte,
                b'\\' => Token::Byte(bytes.next().unwrap_or(b'\\')),
                byte => Token::Byte(byte),
            });
        }
        Glob { given: pattern.to_owned(), pieces }
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        let (mut piece, mut at) = (0, 0);
        // Where to go on after a mismatch: the last `*` then matches one byte more.
        let mut retry = None;
        loop {
            match (self.pieces.get(piece), text.get(at)) {
                (None, None) => return true,
                (Some(Token::AnyText), _) => {
                    retry = Some((piece + 1, at + 1));
                    piece += 1;
                }
                (Some(Token::AnyByte), Some(_)) => (piece, at) = (piece + 1, at + 1),
                (Some(Token::Byte(wanted)), Some(found)) if wanted == found => {
                    (piece, at) = (piece + 1, at + 1);
                }
                _ => match retry {
                    Some((after, from)) if from <= text.len() => {
                        (piece, at) = (after, from);
                        retry = Some((after, from + 1));
                    }
                    _ => return false,
                },
            }
        }
    }

    /// Whether an event's full name matches, or the part after the provider if the pattern has no colon.
    pub fn matches_event(&self, full_name: &str) -> bool {
        let event = short_name(full_name);
        let names_provider = self.pieces.contains(&Token::Byte(b':'));
        self.matches(full_name.as_bytes()) || (!names_provider && self.matches(event.as_bytes()))
    }
}

impl std::fmt::Display for Glob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, fits) in [
            ("get", "get", true),
            ("get", "gett", false),
            ("*", "", true),
            ("a*b*c", "aXbXbc", true),
            ("a*b*c", "aXcXb", false),
            ("*set", "hset", true),
            ("?et", "get", true),
            ("?et", "et", false),
            (r"\*", "*", true),
            (r"\*", "x", false),
            ("127.0.0.1:*", "127.0.0.1:4242", true),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(Glob::new(pattern).matches(text.as_bytes()), fits, "{pattern} on {text}");
        }
    }

    #[test]
    fn a_hostile_pattern_does_not_take_forever() {
        let text = vec![b'a'; 20_000];
        assert!(!Glob::new(&("a*".repeat(50) + "b")).matches(&text));
    }

    #[test]
    fn an_event_may_be_named_without_its_provider() {
        assert!(Glob::new("fork").matches_event("valkey_rdb:fork"));
        assert!(Glob::new("valkey_rdb:*").matches_event("valkey_rdb:fork"));
        assert!(!Glob::new("valkey_aof:fork").matches_event("valkey_rdb:fork"));
    }
}
