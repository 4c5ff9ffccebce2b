//! Values as text.

use ctf_reader::{Integer, Value};

/// A value as Babeltrace 1 prints it.
pub fn text(value: &Value<'_>) -> String {
    let elements = |elements: Vec<String>| format!("[ {} ]", elements.join(", "));
    match value {
        Value::Unsigned(value) => value.to_string(),
        Value::Signed(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Text(text) => format!("\"{}\"", String::from_utf8_lossy(text)),
        Value::Enum(value, labels) => {
            let number = match value {
                Integer::Unsigned(value) => value.to_string(),
                Integer::Signed(value) => value.to_string(),
            };
            let label = labels.label(*value).map_or("<unknown>".to_owned(), |label| format!("\"{label}\""));
            format!("( {label} : container = {number} )")
        }
        Value::Bool(truth) => truth.to_string(),
        Value::List(list) if list.elements.is_empty() => "[ ]".to_owned(),
        Value::List(list) => elements(
            list.elements.iter().enumerate().map(|(i, value)| format!("[{i}] = {}", text(value))).collect(),
        ),
        Value::Struct(members) => {
            let members = members.iter().map(|(name, value)| format!("{name} = {}", text(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
    }
}
