//! Texts from traces, made safe to show: nothing in them can move a cursor or reverse a line.

use std::fmt::Write;

use crate::datum::{Datum, ellipsis};

/// Shows bytes: UTF-8 as it is, and everything that is not, or that a terminal would act on, escaped.
pub fn bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push_text(&mut shown, chunk.valid());
        for byte in chunk.invalid() {
            _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// Shows a text.
pub fn text(text: &str) -> String {
    bytes(text.as_bytes())
}

fn push_text(shown: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\\' | '\n' | '\r' | '\t' => shown.extend(c.escape_default()),
            c if c.is_control() || is_direction(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
}

/// Invisible characters that change how their neighbours are shown.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Shows a value; what is empty as `-`.
pub fn datum(value: &Datum) -> String {
    match value {
        Datum::Integer(number) => number.to_string(),
        Datum::Float(number) => number.to_string(),
        Datum::Bool(truth) => truth.to_string(),
        Datum::Text(text) if text.is_empty() => "-".into(),
        Datum::Text(text) => bytes(text),
        Datum::List { elements, more } => {
            let ellipsis = (*more > 0).then(|| ellipsis(*more));
            format!("[{}]", elements.iter().map(datum).chain(ellipsis).collect::<Vec<_>>().join(", "))
        }
        Datum::Struct(members) => {
            let members = members.iter().map(|(name, member)| format!("{}: {}", text(name), datum(member)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_acts_on_gets_through() {
        assert_eq!(bytes(b"\x1b[31mred\x07"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(bytes(b"a\nb\tc\\"), "a\\nb\\tc\\\\");
        assert_eq!(bytes(b"\xff\xc3\xa9"), "\\xffé");
        assert_eq!(text("\u{9b}1m \u{202e}txt"), "\\u{9b}1m \\u{202e}txt");
    }
}
