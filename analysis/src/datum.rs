//! Values of fields that outlive the trace.

use std::hash::Hash;

use hashbrown::HashMap;
use serde::{Serialize, Serializer};

/// A value of a field that outlives the trace.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// A text, or the label of an enumeration's value. Not always UTF-8.
    Text(Vec<u8>),
    /// The elements of an array or a sequence.
    List {
        /// The elements, or the first of them.
        elements: Vec<Datum>,
        /// The number of elements that were recorded but not kept.
        more: u64,
    },
    /// The members of a structure.
    Struct(Vec<(String, Datum)>),
}

/// What replaces elements or bytes that were not kept.
pub fn ellipsis(more: u64) -> String {
    format!("… {more} more")
}

/// Invalid UTF-8 is replaced, numbers that JSON does not have become strings, and a list that was cut ends in a
/// string that says how much is missing.
impl Serialize for Datum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Datum::Integer(number) => match (u64::try_from(*number), i64::try_from(*number)) {
                (Ok(number), _) => serializer.serialize_u64(number),
                (_, Ok(number)) => serializer.serialize_i64(number),
                _ => serializer.collect_str(number),
            },
            Datum::Float(number) if number.is_finite() => serializer.serialize_f64(*number),
            Datum::Float(number) => serializer.collect_str(number),
            Datum::Bool(truth) => serializer.serialize_bool(*truth),
            Datum::Text(text) => serializer.serialize_str(&String::from_utf8_lossy(text)),
            Datum::List { elements, more } => {
                let ellipsis = (*more > 0).then(|| Datum::Text(ellipsis(*more).into_bytes()));
                serializer.collect_seq(elements.iter().chain(&ellipsis))
            }
            Datum::Struct(members) => pairs(members.iter().map(|(name, member)| (name, member)), serializer),
        }
    }
}

/// Names and values in their order; serialised as a map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs(pub Vec<(String, Datum)>);

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        pairs(self.0.iter().map(|(name, value)| (name, value)), serializer)
    }
}

/// Serialises names and values as a map. Of several with one name, as a trace may have, the last value is in the first's place.
pub(crate) fn pairs<S: Serializer, N: Serialize + Clone + Eq + Hash, V: Serialize>(
    pairs: impl Iterator<Item = (N, V)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let (mut places, mut members) = (HashMap::new(), Vec::new());
    for (name, value) in pairs {
        let place = *places.entry(name.clone()).or_insert(members.len());
        match members.get_mut(place) {
            Some((_, known)) => *known = value,
            None => members.push((name, value)),
        }
    }
    serializer.collect_map(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_json_does_not_know_is_a_text() {
        let value = |datum: &Datum| serde_json::to_value(datum).unwrap();
        assert_eq!(value(&Datum::Float(f64::NAN)), json!("NaN"));
        assert_eq!(value(&Datum::Text(b"a\xff".to_vec())), json!("a\u{fffd}"));
        assert_eq!(value(&Datum::Integer(-1)), json!(-1));
        assert_eq!(value(&Datum::Integer(u64::MAX.into())), json!(u64::MAX));
        assert_eq!(value(&Datum::Integer(i128::MAX)), json!(i128::MAX.to_string()));
    }

    #[test]
    fn names_are_written_once() {
        let pair = |name: &str, number| (name.to_owned(), Datum::Integer(number));
        let twice = Pairs(vec![pair("a", 1), pair("b", 2), pair("a", 3)]);
        assert_eq!(serde_json::to_string(&twice).unwrap(), r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn a_list_that_was_cut_says_so() {
        let cut = Datum::List { elements: vec![Datum::Integer(1)], more: 7 };
        assert_eq!(serde_json::to_value(&cut).unwrap(), json!([1, "… 7 more"]));
    }
}
