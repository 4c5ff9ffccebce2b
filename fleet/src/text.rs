//! Values as texts.

use ctf_reader::{List, Value};
use ltt_analysis::datum::Datum;

/// A value that outlives its event. An enumeration's value is its label, where it has one.
pub fn datum(value: &Value<'_>) -> Datum {
    match value {
        Value::Unsigned(number) => Datum::Integer((*number).into()),
        Value::Signed(number) => Datum::Integer((*number).into()),
        Value::Float(number) => Datum::Float(*number),
        Value::Bool(truth) => Datum::Bool(*truth),
        Value::Text(text) => Datum::Text(text.to_vec()),
        Value::Enum(number, labels) => match labels.label(*number) {
            Some(label) => Datum::Text(label.as_bytes().to_vec()),
            None => Datum::Integer((*number).into()),
        },
        Value::List(List { elements, length }) => Datum::List {
            elements: elements.iter().map(datum).collect(),
            more: length.saturating_sub(elements.len() as u64),
        },
        Value::Struct(members) => {
            Datum::Struct(members.iter().map(|(name, member)| ((*name).to_owned(), datum(member))).collect())
        }
    }
}

/// The text of a value: itself if it is one, and JSON if it has parts.
pub fn text(value: &Datum) -> String {
    match value {
        Datum::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Datum::Integer(number) => number.to_string(),
        other => json(other),
    }
}

/// The text of a group: that of its only key, or of several keys a JSON array.
pub fn group<'k>(keys: impl ExactSizeIterator<Item = &'k Datum>) -> Option<String> {
    let mut keys = keys;
    match keys.len() {
        0 => None,
        1 => keys.next().map(text),
        _ => Some(json(&Datum::List { elements: keys.cloned().collect(), more: 0 })),
    }
}

fn json(value: &Datum) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_several_keys_is_an_array_and_one_of_none_has_no_text() {
        let keys = [Datum::Text(b"get".to_vec()), Datum::Integer(7)];
        assert_eq!(group(keys[..1].iter()).as_deref(), Some("get"));
        assert_eq!(group(keys[1..].iter()).as_deref(), Some("7"));
        assert_eq!(group(keys.iter()).as_deref(), Some(r#"["get",7]"#));
        assert_eq!(group([].iter()), None);
    }
}
