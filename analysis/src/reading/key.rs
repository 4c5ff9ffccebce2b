//! Field values as bytes that can be hashed, compared and kept, and back again.
//!
//! Equal bytes mean equal values: an enumeration value with a label is encoded as the label, so that traces with
//! different numbers for it agree, and an integer is the same whether its field is signed or not.

use ctf_reader::{Integer, Value};

use crate::datum::{Datum, ellipsis};

const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const FLOAT: u8 = 2;
const TEXT: u8 = 3;
const LIST: u8 = 4;
const STRUCT: u8 = 5;
const BOOL: u8 = 6;

/// Marks a length that does not fit a byte and follows in eight.
const LONG: u8 = u8::MAX;

/// Appends a value.
#[inline]
pub fn encode(value: &Value<'_>, bytes: &mut Vec<u8>) {
    match value {
        Value::Text(text) => encode_text(text, bytes),
        Value::Unsigned(number) => encode_integer(Integer::Unsigned(*number), bytes),
        Value::Signed(number) => encode_integer(Integer::Signed(*number), bytes),
        Value::Enum(number, labels) => match labels.label(*number) {
            Some(label) => encode_text(label.as_bytes(), bytes),
            None => encode_integer(*number, bytes),
        },
        Value::Bool(truth) => bytes.extend_from_slice(&[BOOL, (*truth).into()]),
        Value::Float(number) => {
            bytes.push(FLOAT);
            bytes.extend(number.to_le_bytes());
        }
        Value::List(_) | Value::Struct(_) => encode_within(value, bytes, usize::MAX),
    }
}

/// Appends a value of which about `room` bytes are kept: a text is cut, and of a list the first elements are
/// kept; both say how much is missing.
pub fn encode_within(value: &Value<'_>, bytes: &mut Vec<u8>, room: usize) {
    let end = bytes.len().saturating_add(room);
    match value {
        Value::Text(text) if text.len() > room => {
            let mut kept = text[..floor_boundary(text, room)].to_vec();
            kept.extend(ellipsis((text.len() - kept.len()) as u64).bytes());
            encode_text(&kept, bytes);
        }
        Value::List(list) => {
            // The counts are filled in afterwards.
            bytes.push(LIST);
            let counts = bytes.len();
            bytes.extend([0; 16]);
            let mut kept: u64 = 0;
            for element in &list.elements {
                if bytes.len() >= end {
                    break;
                }
                encode_within(element, bytes, end - bytes.len());
                kept += 1;
            }
            let more = list.length.saturating_sub(kept);
            bytes[counts..counts + 8].copy_from_slice(&kept.to_le_bytes());
            bytes[counts + 8..counts + 16].copy_from_slice(&more.to_le_bytes());
        }
        Value::Struct(members) => {
            encode_length(STRUCT, members.len(), bytes);
            for (name, member) in members {
                encode_text(name.as_bytes(), bytes);
                encode_within(member, bytes, end.saturating_sub(bytes.len()));
            }
        }
        value => encode(value, bytes),
    }
}

/// Where to cut a text without splitting a UTF-8 character.
fn floor_boundary(text: &[u8], at: usize) -> usize {
    let is_boundary = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
    (at.saturating_sub(3)..=at).rev().find(is_boundary).unwrap_or(at)
}

#[inline]
fn encode_text(text: &[u8], bytes: &mut Vec<u8>) {
    encode_length(TEXT, text.len(), bytes);
    bytes.extend_from_slice(text);
}

/// A length takes one byte where it can, because short keys hash and compare faster.
#[inline]
fn encode_length(tag: u8, length: usize, bytes: &mut Vec<u8>) {
    match u8::try_from(length) {
        Ok(short) if short < LONG => bytes.extend_from_slice(&[tag, short]),
        _ => {
            bytes.extend_from_slice(&[tag, LONG]);
            bytes.extend_from_slice(&(length as u64).to_le_bytes());
        }
    }
}

#[inline]
fn encode_integer(number: Integer, bytes: &mut Vec<u8>) {
    let (tag, number) = match number {
        Integer::Signed(number) if number < 0 => (NEGATIVE, number as u64),
        Integer::Signed(number) => (UNSIGNED, number as u64),
        Integer::Unsigned(number) => (UNSIGNED, number),
    };
    bytes.push(tag);
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// The values that were appended, in order. Of bytes that were cut off, what is left.
pub fn decode(bytes: &[u8]) -> Vec<Datum> {
    values(bytes).collect()
}

/// Like [`decode`], one by one.
pub fn values(mut bytes: &[u8]) -> impl Iterator<Item = Datum> {
    std::iter::from_fn(move || decode_one(&mut bytes))
}

fn decode_one(bytes: &mut &[u8]) -> Option<Datum> {
    let tag = *bytes.split_off_first()?;
    let value = match tag {
        UNSIGNED => Datum::Integer(u64::from_le_bytes(decode_array(bytes)?).into()),
        NEGATIVE => Datum::Integer(i64::from_le_bytes(decode_array(bytes)?).into()),
        FLOAT => Datum::Float(f64::from_le_bytes(decode_array(bytes)?)),
        BOOL => Datum::Bool(*bytes.split_off_first()? != 0),
        TEXT => {
            let length = decode_length(bytes)?;
            Datum::Text(bytes.split_off(..length.min(bytes.len()))?.to_vec())
        }
        LIST => {
            let kept = u64::from_le_bytes(decode_array(bytes)?);
            let more = u64::from_le_bytes(decode_array(bytes)?);
            Datum::List { elements: (0..kept).map_while(|_| decode_one(bytes)).collect(), more }
        }
        _ => {
            let length = decode_length(bytes)?;
            let member = |_| match decode_one(bytes)? {
                Datum::Text(name) => Some((String::from_utf8_lossy(&name).into_owned(), decode_one(bytes)?)),
                _ => None,
            };
            Datum::Struct((0..length).map_while(member).collect())
        }
    };
    Some(value)
}

fn decode_array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    bytes.split_off(..N)?.try_into().ok()
}

fn decode_length(bytes: &mut &[u8]) -> Option<usize> {
    match *bytes.split_off_first()? {
        LONG => usize::try_from(u64::from_le_bytes(decode_array(bytes)?)).ok(),
        short => Some(short.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctf_reader::{Brief, Enumeration, List};

    fn encoded(value: &Value<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(value, &mut bytes);
        bytes
    }

    fn list(elements: Vec<Datum>) -> Datum {
        Datum::List { elements, more: 0 }
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let numbers = List { elements: vec![Value::Unsigned(7); 1000], length: 1_000_000 };
        let mut bytes = Vec::new();
        encode_within(&Value::List(numbers), &mut bytes, 100);
        assert!(bytes.len() <= 120, "{}", bytes.len());
        let [Datum::List { elements, more }] = &decode(&bytes)[..] else { panic!("it is a list") };
        assert_eq!(elements.len() as u64 + more, 1_000_000);
        bytes.clear();
        encode_within(&Value::Text("é".repeat(100).as_bytes()), &mut bytes, 7);
        assert_eq!(decode(&bytes), [Datum::Text("ééé… 194 more".into())]);
        bytes.clear();
        encode_within(&Value::Text(b"short"), &mut bytes, 7);
        assert_eq!(decode(&bytes), [Datum::Text(b"short".to_vec())]);
    }

    #[test]
    fn values_come_back_as_they_were() {
        let values = [
            (Value::Unsigned(u64::MAX), Datum::Integer(u64::MAX.into())),
            (Value::Signed(-5), Datum::Integer(-5)),
            (Value::Float(0.5), Datum::Float(0.5)),
            (Value::Text(b"a\xffb"), Datum::Text(b"a\xffb".to_vec())),
            (Value::Text(b""), Datum::Text(Vec::new())),
            (
                Value::List(vec![Value::Unsigned(1), Value::List(List::default())].into()),
                list(vec![Datum::Integer(1), list(vec![])]),
            ),
            (
                Value::Struct(vec![("x", Value::Text(b"y"))]),
                Datum::Struct(vec![("x".into(), Datum::Text(b"y".to_vec()))]),
            ),
        ];
        let mut bytes = Vec::new();
        values.iter().for_each(|(value, _)| encode(value, &mut bytes));
        assert_eq!(decode(&bytes), values.map(|(_, datum)| datum));
    }

    #[test]
    fn texts_of_any_length_come_back() {
        for length in [0, 1, 254, 255, 256, 70_000] {
            let text = vec![b'x'; length];
            assert_eq!(decode(&encoded(&Value::Text(&text))), [Datum::Text(text.clone())]);
        }
    }

    #[test]
    fn what_is_left_of_a_text_that_was_cut_off_comes_back() {
        let mut bytes = encoded(&Value::Text(b"abcdef"));
        bytes.truncate(5);
        assert_eq!(decode(&bytes), [Datum::Text(b"abc".to_vec())]);
    }

    #[test]
    fn an_integer_is_the_same_signed_or_not() {
        assert_eq!(encoded(&Value::Signed(7)), encoded(&Value::Unsigned(7)));
        assert_ne!(encoded(&Value::Signed(-1)), encoded(&Value::Unsigned(u64::MAX)));
    }

    #[test]
    fn brief_keys_are_equal_when_their_bytes_are() {
        let texts: Vec<Vec<u8>> = (0..16_usize)
            .flat_map(|length| {
                let changed = (0..length).map(move |place| {
                    let mut text = vec![0; length];
                    text[place] = 1;
                    text
                });
                changed.chain([vec![0; length]])
            })
            .collect();
        let mut values: Vec<Value<'_>> = texts.iter().map(|text| Value::Text(text)).collect();
        values.extend([0, 1, -1, i64::MIN, i64::MAX].map(Value::Signed));
        values.extend([0, 1, u64::MAX, 1 << 63].map(Value::Unsigned));
        for one in &values {
            for other in &values {
                let (brief, bytes) = (Brief::from(one) == Brief::from(other), encoded(one) == encoded(other));
                assert_ne!(Brief::from(one), Brief::OTHER);
                assert_eq!(brief, bytes, "{one:?} and {other:?}");
            }
        }
        assert_eq!(Brief::from(&Value::Text(&[b'x'; 16])), Brief::OTHER);
    }

    #[test]
    fn a_label_counts_and_not_its_number() {
        let early = Enumeration { labels: vec![("UNIX".into(), 2..=2)] };
        let late = Enumeration { labels: vec![("UNIX".into(), 1..=1)] };
        let by_label = encoded(&Value::Enum(Integer::Signed(1), &late));
        assert_eq!(by_label, encoded(&Value::Enum(Integer::Unsigned(2), &early)));
        assert_eq!(decode(&by_label), [Datum::Text(b"UNIX".to_vec())]);
        assert_eq!(decode(&encoded(&Value::Enum(Integer::Signed(-1), &late))), [Datum::Integer(-1)]);
    }
}
