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
                // `u32` is the default.
                text.length = Some(field.kind.clone()).filter(|kind| kind != "u32");
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
    let is_integer = field.kind.starts_with(['i', 'u']) && !field.kind.contains(' ');
    let name = field.name.as_str();
    let after = name.strip_prefix(text).map(|rest| rest.strip_prefix('_').unwrap_or(rest));
    let is_named_so = matches!(after, Some("len" | "length" | "size"))
        || name.strip_prefix('n') == Some(text)
        || ["len", "length"].contains(&name);
    is_integer && is_named_so
}
