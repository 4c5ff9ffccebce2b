//! Values from the text that `Debug` makes of them: strings without their quotes, durations.
//!
//! `#[instrument]` records a parameter of the type `String` by its `Debug`, and so with quotes around it, and a `Duration`
//! as `1.5ms`.

use crate::value::Buffer;

/// Replaces a literal of a string or a byte string by what it stands for; leaves other text as it is.
pub(crate) fn unquote(text: &mut Buffer) {
    if let Some(length) = unquoted(text) {
        text.truncate(length);
    }
}

/// Unescapes a literal in place, and returns the new length. Nothing is changed if the text is not one literal.
fn unquoted(text: &mut [u8]) -> Option<usize> {
    let start = 1 + usize::from(text.first() == Some(&b'b'));
    let is_quoted = text.len() > start && text[start - 1] == b'"' && text.last() == Some(&b'"');
    if !is_quoted || !is_one_literal(&text[start..text.len() - 1]) {
        return None;
    }
    let (mut from, end, mut to) = (start, text.len() - 1, 0);
    while from < end {
        let mut encoded = [0; 4];
        let (taken, bytes): (usize, &[u8]) = match text[from] {
            b'\\' => escape(&text[from..end], &mut encoded)?,
            byte => {
                encoded[0] = byte;
                (1, &encoded[..1])
            }
        };
        // What an escape stands for is never longer than itself.
        text[to..to + bytes.len()].copy_from_slice(bytes);
        from += taken;
        to += bytes.len();
    }
    Some(to)
}

/// Whether this, without the quotes around it, has no further quote and only escapes that are known.
fn is_one_literal(inside: &[u8]) -> bool {
    let mut at = 0;
    while let Some(byte) = inside.get(at) {
        at += match byte {
            b'"' => return false,
            b'\\' => match escape(&inside[at..], &mut [0; 4]) {
                Some((taken, _)) => taken,
                None => return false,
            },
            _ => 1,
        };
    }
    true
}

/// The length of the escape at the start, and what it stands for.
fn escape<'e>(text: &[u8], encoded: &'e mut [u8; 4]) -> Option<(usize, &'e [u8])> {
    let hexadecimal = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let single = match text.get(1)? {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'0' => 0,
        byte @ (b'\\' | b'\'' | b'"') => *byte,
        b'x' => {
            encoded[0] = u8::try_from(hexadecimal(text.get(2..4)?)?).ok()?;
            return Some((4, &encoded[..1]));
        }
        b'u' => {
            let end = text.iter().position(|byte| *byte == b'}')?;
            let character = char::from_u32(hexadecimal(text.get(3..end)?)?)?;
            return Some((end + 1, character.encode_utf8(encoded).as_bytes()));
        }
        _ => return None,
    };
    encoded[0] = single;
    Some((2, &encoded[..1]))
}

/// The nanoseconds of a duration as `Debug` writes it, e.g. `1.5ms`.
pub(crate) fn nanoseconds(text: &str) -> Option<i128> {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit);
    let digits: usize = match unit {
        "ns" => 0,
        "\u{b5}s" | "us" => 3,
        "ms" => 6,
        "s" => 9,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() {
        return None;
    }
    let fraction: String = fraction.chars().chain(std::iter::repeat('0')).take(digits).collect();
    format!("{whole}{fraction}").parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn unquoted(text: &str) -> Vec<u8> {
        let mut buffer = Buffer::from_slice(text.as_bytes());
        unquote(&mut buffer);
        buffer.to_vec()
    }

    #[test]
    fn debug_of_any_string_becomes_the_string() {
        let mut random = fastrand::Rng::with_seed(14);
        for _ in 0..2_000 {
            let length = random.usize(..20);
            let text: String = (0..length)
                .map(|_| if random.bool() { random.char('\0'..='\u{7f}') } else { random.char(..) })
                .collect();
            assert_eq!(unquoted(&format!("{text:?}")), text.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn debug_of_bytes_becomes_the_bytes() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unquoted(&format!("b\"{}\"", all.escape_ascii())), all);
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "",
            "\"",
            "b\"",
            "a\"b\"",
            "\"a\" or \"b\"",
            "\"a\\\"",
            "\"\\q\"",
            "Some(\"a\")",
            "\"\\u{110000}\"",
        ] {
            assert_eq!(unquoted(text), text.as_bytes(), "{text}");
        }
    }

    #[test]
    fn debug_of_any_duration_becomes_its_nanoseconds() {
        let mut random = fastrand::Rng::with_seed(14);
        for _ in 0..2_000 {
            let nanoseconds_of_it = random.u64(..) >> random.u32(..64);
            let duration = Duration::from_nanos(nanoseconds_of_it);
            assert_eq!(nanoseconds(&format!("{duration:?}")), Some(nanoseconds_of_it.into()), "{duration:?}");
        }
        for text in ["", "s", "1", "1.5", "1.5h", "1..5s", "-1s", "1ms2"] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }
}
