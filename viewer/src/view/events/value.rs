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

/// Appends the first bytes of an array. All of it is copied, which takes no call, and the rest is dropped again.
#[inline(always)]
pub fn first<const N: usize>(bytes: &[u8; N], length: usize, out: &mut Vec<u8>) {
    let end = out.len() + length;
    out.extend_from_slice(bytes);
    out.truncate(end);
}

/// Appends a number in decimal.
#[inline(always)]
pub fn unsigned(number: u64, out: &mut Vec<u8>) {
    if number < EIGHT_DIGITS {
        let digits = eight_digits(number);
        // The last digit is written even if it is 0.
        let zeros = (digits | 1 << 56).trailing_zeros() / 8;
        first(&((digits | ZEROS) >> (8 * zeros)).to_le_bytes(), 8 - zeros as usize, out);
    } else {
        out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

/// Appends a number in decimal.
#[inline(always)]
pub fn signed(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    unsigned(number.unsigned_abs(), out);
}

/// A number below 10^9 with leading zeros.
#[inline(always)]
pub fn nine_digits(number: u64) -> [u8; 9] {
    let (first, others) = (number / EIGHT_DIGITS, number % EIGHT_DIGITS);
    let mut text = [b'0' + first as u8; 9];
    text[1..].copy_from_slice(&(eight_digits(others) | ZEROS).to_le_bytes());
    text
}

const EIGHT_DIGITS: u64 = 100_000_000;

/// Eight times the character 0.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The decimal digits of a number below 10^8, the first in the lowest byte: all at once, without a branch.
#[inline(always)]
fn eight_digits(number: u64) -> u64 {
    // Divisions by 100 and by 10 as multiplications, in two and in four parts of the word.
    let fours = (number / 10_000) | (number % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | (twos - 10 * tens) << 8
}

/// Appends a text in quotes, with characters escaped that a terminal acts on.
#[inline(always)]
pub fn quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    between_quotes(text, out);
    out.push(b'"');
}

/// The same without the quotes.
#[inline(always)]
pub fn between_quotes(text: &[u8], out: &mut Vec<u8>) {
    if !plain(text, out) {
        escaped(text, out);
    }
}

#[cold]
fn escaped(text: &[u8], out: &mut Vec<u8>) {
    out.extend(escape::bytes(text).replace('"', "\\\"").bytes());
}

/// Appends a text if it is printable ASCII without quotes and backslashes, which needs no escapes; says whether it is.
#[inline(always)]
pub fn plain(text: &[u8], out: &mut Vec<u8>) -> bool {
    // Words of eight bytes, without a branch for each byte: nearly all texts are plain, and most are short.
    let Some(last) = text.last_chunk::<8>() else {
        let word = short_word(text);
        let is_plain = is_plain_word(word | SPACES << (8 * text.len()));
        first(&word.to_le_bytes(), if is_plain { text.len() } else { 0 }, out);
        return is_plain;
    };
    let (words, rest) = text.as_chunks::<8>();
    // The last word may overlap the one before it.
    if !words.iter().chain([last]).all(|word| is_plain_word(u64::from_le_bytes(*word))) {
        return false;
    }
    match words {
        [word] => {
            first(word, rest.len(), out);
            out.extend_from_slice(last);
        }
        _ => out.extend_from_slice(text),
    }
    true
}

/// Eight spaces, which are plain.
const SPACES: u64 = 0x2020_2020_2020_2020;

/// Fewer than eight bytes as a word, the first in the lowest byte.
#[inline(always)]
fn short_word(text: &[u8]) -> u64 {
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|half| u64::from(u32::from_le_bytes(*half)));
            first | last << (8 * (text.len() - 4))
        }
        _ => text.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// Whether all eight bytes of a word are plain.
#[inline(always)]
fn is_plain_word(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    // The high bit of each byte that is not below 0x7F; of each that is below a space; and of each that is 0 after it was
    // compared with one of the others. What a byte carries over to the next does no harm: its own high bit is set then.
    let compared = |byte: u8| (word ^ (u64::from(byte) * ONES)).wrapping_sub(ONES);
    let not_below = word | word.wrapping_add(ONES);
    let below = word.wrapping_sub(u64::from(b' ') * ONES);
    (not_below | below | compared(b'"') | compared(b'\\')) & HIGH == 0
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
    fn numbers_are_written_as_the_standard_library_writes_them() {
        let near = |power: u32| (0..3).map(move |more| 10_u64.pow(power) + more - 1);
        for number in (0..20).flat_map(near).chain([12_345_678, 90_807_060, u64::MAX]) {
            let mut out = Vec::new();
            unsigned(number, &mut out);
            signed(-(number as i64 / 2), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{number}{}", -(number as i64 / 2)));
        }
    }

    #[test]
    fn plain_texts_are_told_from_others_whatever_their_length() {
        let copied = |text: &[u8]| {
            let mut out = Vec::new();
            (plain(text, &mut out), out)
        };
        for length in 0..40 {
            let plain: Vec<u8> = (0..length).map(|place| b'#' + (place * 7 % 50) as u8).collect();
            assert_eq!(copied(&plain), (true, plain.clone()));
            for place in 0..length {
                for byte in (0..=0xFF).filter(|byte| !(0x20..0x7F).contains(byte) || b"\"\\".contains(byte)) {
                    let mut text = plain.clone();
                    text[place] = byte;
                    assert_eq!(copied(&text), (false, Vec::new()), "{text:?}");
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
