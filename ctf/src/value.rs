//! The values of fields.

use std::ops::RangeInclusive;

/// The value of a field, borrowed from the trace where it can be.
///
/// A consumer must know all kinds of values to lose none, so another kind will be a breaking change.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Value, Window, all_fields};
///
/// let reader = example();
/// let mut events = reader.in_order(Window::default(), all_fields);
/// let event = events.next_event().event().unwrap();
/// assert_eq!(event.field("name"), Some(Value::Text(b"Ada")));
/// assert_eq!(event.field("duration"), Some(Value::Unsigned(12)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A floating-point number.
    Float(f64),
    /// A boolean, which CTF 2 has.
    Bool(bool),
    /// Text up to its first NUL: strings, and arrays and sequences of characters. Not always UTF-8.
    Text(&'a [u8]),
    /// A value of an enumeration.
    Enum(Integer, &'a Enumeration),
    /// The elements of an array or a sequence, or what an optional field holds: one value or none.
    List(List<'a>),
    /// The members of a structure, or the chosen member of a variant.
    Struct(Vec<(&'a str, Value<'a>)>),
}

impl Value<'_> {
    /// An integer, signed or not, in two's complement.
    pub fn integer(&self) -> Option<u64> {
        match *self {
            Value::Unsigned(number) => Some(number),
            Value::Signed(number) => Some(number as u64),
            _ => None,
        }
    }
}

/// The elements of an array or a sequence.
///
/// At most 65,536 elements of an event are decoded, so that its size in memory is bounded.
///
/// ```
/// use ctf_reader::{List, Value};
///
/// let list = List::from(vec![Value::Unsigned(7), Value::Unsigned(8)]);
/// assert_eq!((list.elements.len(), list.length), (2, 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List<'a> {
    /// The elements, or the first of them.
    pub elements: Vec<Value<'a>>,
    /// The number of elements that were recorded.
    pub length: u64,
}

impl<'a> From<Vec<Value<'a>>> for List<'a> {
    fn from(elements: Vec<Value<'a>>) -> List<'a> {
        List { length: elements.len() as u64, elements }
    }
}

/// An integer, signed or not.
///
/// ```
/// use ctf_reader::Integer;
///
/// assert_eq!(i128::from(Integer::Signed(-1)), -1);
/// assert_eq!(i128::from(Integer::Unsigned(u64::MAX)), 18_446_744_073_709_551_615);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Integer {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
}

impl From<Integer> for i128 {
    fn from(integer: Integer) -> i128 {
        match integer {
            Integer::Unsigned(value) => value.into(),
            Integer::Signed(value) => value.into(),
        }
    }
}

/// The labels of an enumeration.
///
/// ```
/// use ctf_reader::{Enumeration, Integer};
///
/// let labels = Enumeration { labels: vec![("SOCKET".into(), 0..=0), ("UNIX".into(), 1..=9)] };
/// assert_eq!(labels.label(Integer::Signed(3)), Some("UNIX"));
/// assert_eq!(labels.label(Integer::Signed(-1)), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Enumeration {
    /// Each label with the values that carry it, in the order of the metadata.
    pub labels: Vec<(String, RangeInclusive<i128>)>,
}

impl Enumeration {
    /// The first label of the value, if it has one.
    pub fn label(&self, value: Integer) -> Option<&str> {
        let value = i128::from(value);
        let (label, _) = self.labels.iter().find(|(_, values)| values.contains(&value))?;
        Some(label)
    }
}
