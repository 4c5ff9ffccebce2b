//! Parameters of components, as values of JSON.

use serde_json::{Number, Value, json};

/// Reads `NAME=VALUE` as `babeltrace2 --params` spells it: `yes`, `-5`, `2.5`, `"text"`, `[1, 2]`. What is not a truth value, a number
/// or a list is text, with or without quotation marks.
///
/// ```
/// use ltt_babeltrace2::parameter;
/// use serde_json::json;
///
/// assert_eq!(parameter("limit=-5"), Ok(("limit".into(), json!(-5))));
/// assert_eq!(parameter("path=a b"), Ok(("path".into(), json!("a b"))));
/// assert_eq!(parameter("inputs=[\"x\", yes]"), Ok(("inputs".into(), json!(["x", true]))));
/// assert!(parameter("limit").is_err());
/// ```
pub fn parameter(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some((name, text)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value(text.trim()))),
        _ => Err(format!("`{text}` is not NAME=VALUE")),
    }
}

fn value(text: &str) -> Value {
    let between = |before: char, after: char| text.strip_prefix(before)?.strip_suffix(after);
    if let Some(list) = between('[', ']') {
        return list.split(',').map(str::trim).filter(|element| !element.is_empty()).map(value).collect();
    }
    match text {
        "yes" | "true" | "TRUE" => return json!(true),
        "no" | "false" | "FALSE" => return json!(false),
        _ => {}
    }
    let integer = text.parse::<i64>().ok().map(Number::from);
    let number = integer.or_else(|| Number::from_f64(text.parse().ok()?));
    number.map_or_else(|| json!(between('"', '"').unwrap_or(text)), Value::Number)
}

/// A value as an option of a program takes it.
pub fn spelled(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
