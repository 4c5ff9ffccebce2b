//! A pointer followed by a length is one text in a catalog.
//!
//! Such text need not end in a NUL, so it cannot be a `string`. A USDT probe of the catalog passes pointer and
//! length again, in the same places.

use super::draft::{DraftEvent, DraftField};
use super::problem::Problem;

/// Joins each `char *key` with the `keylen` after it.
pub fn join(event: &mut DraftEvent, notes: &mut Vec<Problem>) {
    let mut fields: Vec<DraftField> = Vec::with_capacity(event.fields.len());
    for field in std::mem::take(&mut event.fields) {
        match fields.last_mut() {
            Some(text) if text.kind == "string" && is_length_of(&field, &text.name) => {
                "text".clone_into(&mut text.kind);
                if field.kind.ends_with("64") {
                    text.length = Some("u64".to_owned());
                }
                let message =
                    format!("`{}` and `{}` are the one text `{}`", text.name, field.name, text.name);
                notes.push(Problem::new(field.line, message));
            }
            _ => fields.push(field),
        }
    }
    event.fields = fields;
}

fn is_length_of(field: &DraftField, text: &str) -> bool {
    let is_integer = ["i32", "u32", "i64", "u64", "u16", "i16", "u8"].contains(&field.kind.as_str());
    let name = field.name.as_str();
    let after = name.strip_prefix(text).map(|rest| rest.strip_prefix('_').unwrap_or(rest));
    let is_named_so =
        matches!(after, Some("len" | "length" | "size")) || name.strip_prefix('n') == Some(text);
    is_integer && is_named_so
}
