//! Values as Babeltrace writes them.

use std::rc::Rc;

use ctf_reader::{Base, Integer, List, Value};

use ltt_analysis::symbols::Frame;
use ltt_analysis::text::escape;

/// Appends a value; integers in it are written in this base.
pub fn write(value: &Value<'_>, base: Base, out: &mut Vec<u8>) {
    match value {
        Value::Unsigned(number) => integer(Integer::Unsigned(*number), base, out),
        Value::Signed(number) => integer(Integer::Signed(*number), base, out),
        Value::Float(number) => out.extend(number.to_string().bytes()),
        Value::Bool(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Value::Text(text) => quoted(text, out),
        Value::Enum(number, labels) => {
            out.extend_from_slice(b"( ");
            match labels.label(*number) {
                Some(label) => quoted(label.as_bytes(), out),
                None => out.extend_from_slice(b"<unknown>"),
            }
            out.extend_from_slice(b" : container = ");
            integer(*number, base, out);
            out.extend_from_slice(b" )");
        }
        Value::List(list) => self::list(list, base, out),
        Value::Struct(members) => {
            out.push(b'{');
            for (position, (name, member)) in members.iter().enumerate() {
                out.extend_from_slice(if position == 0 { b" " } else { b", " });
                out.extend(escape::text(name).bytes());
                out.extend_from_slice(b" = ");
                write(member, base, out);
            }
            out.extend_from_slice(b" }");
        }
    }
}

fn list(List { elements, length }: &List<'_>, base: Base, out: &mut Vec<u8>) {
    out.push(b'[');
    for (position, element) in elements.iter().enumerate() {
        out.extend_from_slice(if position == 0 { b" [" } else { b", [" });
        unsigned(position as u64, out);
        out.extend_from_slice(b"] = ");
        write(element, base, out);
    }
    let more = length - elements.len() as u64;
    if more > 0 {
        out.extend(format!(", … {more} more").bytes());
    }
    out.extend_from_slice(b" ]");
}

/// Appends a stack: a list, with names for the addresses that have any.
pub fn stack(frames: &[Rc<Frame>], out: &mut Vec<u8>) {
    out.push(b'[');
    for (position, frame) in frames.iter().enumerate() {
        let comma = if position == 0 { "" } else { "," };
        out.extend(format!("{comma} [{position}] = {frame}").bytes());
    }
    out.extend_from_slice(b" ]");
}

fn integer(number: Integer, base: Base, out: &mut Vec<u8>) {
    match (base, number) {
        (Base::Decimal, Integer::Unsigned(number)) => unsigned(number, out),
        (Base::Decimal, Integer::Signed(number)) => signed(number, out),
        (base, number) => {
            let bits = match number {
                Integer::Unsigned(number) => number,
                Integer::Signed(number) => number as u64,
            };
            let text = match base {
                Base::Binary => format!("{bits:#b}"),
                Base::Octal => format!("0{bits:o}"),
                _ => format!("0x{bits:X}"),
            };
            out.extend(text.bytes());
        }
    }
}

/// Appends a number in decimal.
pub fn unsigned(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a number in decimal.
pub fn signed(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a text in quotes, with characters escaped that a terminal acts on.
pub fn quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    if is_plain(text) {
        out.extend_from_slice(text);
    } else {
        out.extend(escape::bytes(text).replace('"', "\\\"").bytes());
    }
    out.push(b'"');
}

/// Whether a text is printable ASCII without quotes and backslashes, which needs no escapes.
pub fn is_plain(text: &[u8]) -> bool {
    // Eight bytes at a time, without a branch for each: nearly all texts are plain.
    match text.last_chunk() {
        None => text.iter().all(|&byte| is_plain_word(u64::from(byte) | 0x2020_2020_2020_2000)),
        // The last word may overlap the one before it.
        Some(last) => {
            text.as_chunks().0.iter().chain([last]).all(|word| is_plain_word(u64::from_le_bytes(*word)))
        }
    }
}

/// Whether all eight bytes of a word are plain.
#[inline]
fn is_plain_word(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    // The high bit of each byte that is 0 (with false positives above such a byte, which do no harm).
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let below_space = word.wrapping_sub(0x20 * ONES) & !word & HIGH;
    let special = [b'"', b'\\', 0x7F]
        .into_iter()
        .fold(0, |found, byte| found | has_zero(word ^ (u64::from(byte) * ONES)));
    (word & HIGH) | below_space | special == 0
}

#[cfg(test)]
mod tests {
    use ctf_reader::Enumeration;

    use super::*;

    fn written(value: &Value<'_>, base: Base) -> String {
        let mut out = Vec::new();
        write(value, base, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_written_as_babeltrace_writes_them() {
        let labels = Enumeration { labels: vec![("RED".into(), 1..=1)] };
        let cases = [
            (Value::Unsigned(0), "0"),
            (Value::Unsigned(u64::MAX), "18446744073709551615"),
            (Value::Signed(i64::MIN), "-9223372036854775808"),
            (Value::Text(b"a b"), "\"a b\""),
            (Value::Text(b"\x1b\"\n"), "\"\\u{1b}\\\"\\n\""),
            (Value::Enum(Integer::Signed(1), &labels), "( \"RED\" : container = 1 )"),
            (Value::Enum(Integer::Signed(-1), &labels), "( <unknown> : container = -1 )"),
            (Value::List(List::default()), "[ ]"),
            (Value::List(vec![Value::Unsigned(7), Value::Signed(-1)].into()), "[ [0] = 7, [1] = -1 ]"),
            (Value::List(List { elements: vec![Value::Unsigned(7)], length: 3 }), "[ [0] = 7, … 2 more ]"),
            (Value::Struct(vec![("x", Value::Bool(true))]), "{ x = true }"),
        ];
        for (value, expected) in cases {
            assert_eq!(written(&value, Base::Decimal), expected);
        }
    }

    #[test]
    fn plain_texts_are_told_from_others_whatever_their_length() {
        for length in 0..40 {
            let plain: Vec<u8> = (0..length).map(|place| b'#' + (place * 7 % 50) as u8).collect();
            assert!(is_plain(&plain), "{plain:?}");
            for place in 0..length {
                for byte in (0..=0xFF).filter(|byte| !(0x20..0x7F).contains(byte) || b"\"\\".contains(byte)) {
                    let mut text = plain.clone();
                    text[place] = byte;
                    assert!(!is_plain(&text), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn integers_are_written_in_the_base_that_the_metadata_asks_for() {
        assert_eq!(written(&Value::Unsigned(255), Base::Hexadecimal), "0xFF");
        assert_eq!(written(&Value::Unsigned(8), Base::Octal), "010");
        assert_eq!(written(&Value::List(vec![Value::Unsigned(5)].into()), Base::Binary), "[ [0] = 0b101 ]");
    }
}
