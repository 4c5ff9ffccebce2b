//! JSON values that borrow from the text.
//!
//! Metadata may have millions of them, of which almost all are short strings without escapes in small objects, so an
//! object is a list of its properties and a string is a part of the text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Debug, PartialEq)]
pub enum Json<'t> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Negative(i64),
    Float(f64),
    Text(Cow<'t, str>),
    List(Vec<Json<'t>>),
    Map(Properties<'t>),
}

/// The properties of an object, in their order.
pub type Properties<'t> = Vec<(Cow<'t, str>, Json<'t>)>;

impl<'t> Json<'t> {
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Json::Unsigned(number) => Some(*number),
            _ => None,
        }
    }

    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Json::Unsigned(number) => Some((*number).into()),
            Json::Negative(number) => Some((*number).into()),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Json<'t>]> {
        match self {
            Json::List(list) => Some(list),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&Properties<'t>> {
        match self {
            Json::Map(map) => Some(map),
            _ => None,
        }
    }

    /// A property of an object.
    pub fn get(&self, name: &str) -> Option<&Json<'t>> {
        get(self.as_map()?, name)
    }
}

/// The last property with this name.
pub fn get<'v, 't>(properties: &'v Properties<'t>, name: &str) -> Option<&'v Json<'t>> {
    properties.iter().rfind(|(found, _)| found == name).map(|(_, value)| value)
}

/// As JSON, except for escapes.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(truth) => write!(f, "{truth}"),
            Json::Unsigned(number) => write!(f, "{number}"),
            Json::Negative(number) => write!(f, "{number}"),
            Json::Float(number) => write!(f, "{number}"),
            Json::Text(text) => write!(f, "{text:?}"),
            Json::List(list) => {
                for (position, value) in list.iter().enumerate() {
                    write!(f, "{}{value}", if position == 0 { "[" } else { "," })?;
                }
                f.write_str(if list.is_empty() { "[]" } else { "]" })
            }
            Json::Map(map) => {
                for (position, (name, value)) in map.iter().enumerate() {
                    write!(f, "{}{name:?}:{value}", if position == 0 { "{" } else { "," })?;
                }
                f.write_str(if map.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

impl<'t> Deserialize<'t> for Json<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Json<'t>, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'t> Visitor<'t> for AnyValue {
    type Value = Json<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'t>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Json<'t>, E> {
        Ok(Json::Bool(truth))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json<'t>, E> {
        Ok(Json::Unsigned(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json<'t>, E> {
        Ok(u64::try_from(number).map_or(Json::Negative(number), Json::Unsigned))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json<'t>, E> {
        Ok(Json::Float(number))
    }

    fn visit_borrowed_str<E>(self, text: &'t str) -> Result<Json<'t>, E> {
        Ok(Json::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'t>, E> {
        Ok(Json::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut elements: A) -> Result<Json<'t>, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = elements.next_element()? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'t>>(self, mut entries: A) -> Result<Json<'t>, A::Error> {
        let mut map = Vec::new();
        while let Some((Name(name), value)) = entries.next_entry()? {
            map.push((name, value));
        }
        Ok(Json::Map(map))
    }
}

/// The name of a property.
struct Name<'t>(Cow<'t, str>);

impl<'t> Deserialize<'t> for Name<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Name<'t>, D::Error> {
        deserializer.deserialize_str(AnyName)
    }
}

struct AnyName;

impl<'t> Visitor<'t> for AnyName {
    type Value = Name<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, text: &'t str) -> Result<Name<'t>, E> {
        Ok(Name(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Name<'t>, E> {
        Ok(Name(Cow::Owned(text.to_owned())))
    }
}
