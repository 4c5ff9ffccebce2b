//! Values that are decoded once and kept: those of a packet's context, while the packet is read.

use crate::{Enumeration, Integer, List, Value};

/// A value that owns what it is made of.
#[derive(Clone, Debug)]
pub enum Frozen {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(Box<[u8]>),
    Enum(Integer, Box<Enumeration>),
    List(Vec<Frozen>, u64),
    Struct(Vec<(Box<str>, Frozen)>),
}

impl Frozen {
    /// The value, borrowed.
    #[inline]
    pub fn value(&self) -> Value<'_> {
        match self {
            Frozen::Unsigned(number) => Value::Unsigned(*number),
            Frozen::Signed(number) => Value::Signed(*number),
            Frozen::Float(number) => Value::Float(*number),
            Frozen::Bool(truth) => Value::Bool(*truth),
            Frozen::Text(text) => Value::Text(text),
            Frozen::Enum(number, labels) => Value::Enum(*number, labels),
            Frozen::List(elements, length) => {
                let elements = elements.iter().map(Frozen::value).collect();
                Value::List(List { elements, length: *length })
            }
            Frozen::Struct(members) => {
                Value::Struct(members.iter().map(|(name, member)| (&**name, member.value())).collect())
            }
        }
    }
}

impl From<Value<'_>> for Frozen {
    fn from(value: Value<'_>) -> Frozen {
        match value {
            Value::Unsigned(number) => Frozen::Unsigned(number),
            Value::Signed(number) => Frozen::Signed(number),
            Value::Float(number) => Frozen::Float(number),
            Value::Bool(truth) => Frozen::Bool(truth),
            Value::Text(text) => Frozen::Text(text.into()),
            Value::Enum(number, labels) => Frozen::Enum(number, Box::new(labels.clone())),
            Value::List(List { elements, length }) => {
                Frozen::List(elements.into_iter().map(Frozen::from).collect(), length)
            }
            Value::Struct(members) => {
                let members = members.into_iter().map(|(name, member)| (name.into(), member.into()));
                Frozen::Struct(members.collect())
            }
        }
    }
}
