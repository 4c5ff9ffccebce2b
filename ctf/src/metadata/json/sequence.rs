//! Text to fragments.
//!
//! Each fragment begins with a record separator, which JSON itself cannot contain (RFC 7464). Where separators are
//! missing, each fragment begins where the one before ends. What is not JSON ends at the next separator, or before a line
//! that begins with a brace, as all writers of CTF 2 begin a fragment.

use memchr::memmem;
use serde_json::{Deserializer, Value};

/// What each fragment begins with.
const SEPARATOR: char = '\u{1e}';

/// A fragment, or why it cannot be read.
pub struct Fragment {
    /// The line where it begins, or of what is wrong in it.
    pub line: usize,
    pub value: Result<Value, Unreadable>,
}

/// Why a fragment cannot be read.
pub struct Unreadable {
    pub reason: String,
    /// Whether the text ends in it.
    pub is_cut: bool,
}

/// Whether metadata with this text is JSON.
pub fn is_sequence(text: &str) -> bool {
    text.trim_start().starts_with([SEPARATOR, '{', '['])
}

pub fn fragments(text: &str) -> impl Iterator<Item = Fragment> {
    let mut line = 1;
    let last = text.rfind(SEPARATOR).map_or(0, |separator| separator + SEPARATOR.len_utf8());
    let mut at = 0;
    text.split(SEPARATOR).flat_map(move |text| {
        let segment = Segment { text, line, is_last: at == last };
        line += lines(text);
        at += text.len() + SEPARATOR.len_utf8();
        segment.fragments()
    })
}

/// The text between two separators.
#[derive(Clone, Copy)]
struct Segment<'a> {
    text: &'a str,
    /// The line it begins on.
    line: usize,
    is_last: bool,
}

impl<'a> Segment<'a> {
    fn fragments(self) -> impl Iterator<Item = Fragment> {
        let Segment { text, mut line, is_last } = self;
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = text[at..].trim_start();
            let begin = text.len() - rest.len();
            line += lines(&text[at..begin]);
            at = begin;
            let mut values = Deserializer::from_str(rest).into_iter::<Value>();
            let value = values.next()?;
            let (end, fragment) = match value {
                Ok(value) => (values.byte_offset(), Fragment { line, value: Ok(value) }),
                Err(error) => {
                    let next = (!error.is_eof()).then(|| memmem::find(rest.as_bytes(), b"\n{"));
                    let end = next.flatten().map_or(rest.len(), |newline| newline + 1);
                    let value =
                        Err(Unreadable { reason: in_words(&error), is_cut: is_last && error.is_eof() });
                    (end, Fragment { line: line + error.line().saturating_sub(1), value })
                }
            };
            line += lines(&rest[..end]);
            at += end;
            Some(fragment)
        })
    }
}

fn in_words(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the JSON is cut off".into();
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    format!("invalid JSON: {}", error.to_string().trim_end_matches(&place))
}

fn lines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(usize, String)> {
        let fragments = fragments(text);
        fragments
            .map(|Fragment { line, value }| (line, value.map_or_else(|e| e.reason, |v| v.to_string())))
            .collect()
    }

    #[test]
    fn fragments_begin_at_separators_or_where_others_end() {
        let expected = [(1, "1".to_owned()), (2, "{}".into()), (3, "[2]".into())];
        assert_eq!(read("\u{1e}1\n\u{1e}{}\n\u{1e}[2]\n"), expected);
        assert_eq!(read("1\n{}\n[2]"), expected);
        assert_eq!(read("\n\u{1e}{\n}{}\n\n{}"), [(2, "{}".into()), (3, "{}".into()), (5, "{}".into())]);
        assert_eq!(read(""), []);
        assert_eq!(read("\u{1e}\u{1e}\n"), []);
    }

    #[test]
    fn what_is_not_json_ends_at_the_next_separator() {
        let read = read("\u{1e}{\n\"a\": no}{}\n\u{1e}{}\u{1e}{\"b\"");
        assert_eq!(read[0], (2, "invalid JSON: expected ident".into()));
        assert_eq!(read[1..], [(3, "{}".into()), (3, "the JSON is cut off".into())]);
    }

    #[test]
    fn what_is_not_json_is_named_after_blanks_too() {
        assert_eq!(read("\u{1e}\n {"), [(2, "the JSON is cut off".into())]);
        assert_eq!(read("{}\n\n }{}")[1], (3, "invalid JSON: expected value".into()));
    }

    #[test]
    fn without_separators_what_is_not_json_ends_before_a_line_that_begins_with_a_brace() {
        let read = read("{}\n{\"a\": no\n }\n{}\n{\"b\": [\n{}\n");
        let expected = [
            (1, "{}".to_owned()),
            (2, "invalid JSON: expected ident".into()),
            (4, "{}".into()),
            (7, "the JSON is cut off".into()),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = "[".repeat(100_000);
        assert_eq!(read(&deep), [(1, "invalid JSON: recursion limit exceeded".into())]);
    }
}
