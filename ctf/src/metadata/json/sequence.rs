//! Text to fragments.
//!
//! Before each fragment stands a record separator, which JSON itself cannot contain (RFC 7464). Where it is missing,
//! the end of one fragment tells the beginning of the next.

use serde_json::{Deserializer, Value};

/// What stands before each fragment.
const SEPARATOR: char = '\u{1e}';

/// A fragment, or why it is none.
pub struct Fragment {
    /// The line it begins on, or where it is wrong.
    pub line: usize,
    pub value: Result<Value, String>,
}

/// Whether metadata with this text is JSON.
pub fn is_sequence(text: &str) -> bool {
    text.trim_start().starts_with([SEPARATOR, '{', '['])
}

/// The fragments of a text. One that is no JSON ends what stands before the next separator.
pub fn fragments(text: &str) -> impl Iterator<Item = Fragment> {
    let mut line = 1;
    text.split(SEPARATOR).flat_map(move |part| {
        let first_line = line;
        line += lines(part);
        part_fragments(part, first_line)
    })
}

fn part_fragments(part: &str, first_line: usize) -> impl Iterator<Item = Fragment> {
    let mut values = Deserializer::from_str(part).into_iter::<Value>();
    let (mut line, mut counted) = (first_line, 0);
    let mut is_broken = false;
    std::iter::from_fn(move || {
        if is_broken {
            return None;
        }
        let begin = part.len() - part[values.byte_offset()..].trim_start().len();
        Some(match values.next()? {
            Ok(value) => {
                line += lines(&part[counted..begin]);
                counted = begin;
                Fragment { line, value: Ok(value) }
            }
            Err(error) => {
                is_broken = true;
                let line = (first_line + error.line()).saturating_sub(1);
                Fragment { line, value: Err(in_words(&error)) }
            }
        })
    })
}

fn in_words(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the JSON ends too early".into();
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    format!("this is no JSON: {}", error.to_string().trim_end_matches(&place))
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
            .map(|Fragment { line, value }| (line, value.map_or_else(|e| e, |v| v.to_string())))
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
    fn what_is_no_json_ends_at_the_next_separator() {
        let read = read("\u{1e}{\n\"a\": no}{}\n\u{1e}{}\u{1e}{\"b\"");
        assert_eq!(read[0], (2, "this is no JSON: expected ident".into()));
        assert_eq!(read[1..], [(3, "{}".into()), (3, "the JSON ends too early".into())]);
    }

    #[test]
    fn what_is_no_json_is_named_behind_blanks_too() {
        assert_eq!(read("\u{1e}\n {"), [(2, "the JSON ends too early".into())]);
        assert_eq!(read("{}\n\n }{}")[1], (3, "this is no JSON: expected value".into()));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = "[".repeat(100_000);
        assert_eq!(read(&deep), [(1, "this is no JSON: recursion limit exceeded".into())]);
    }
}
