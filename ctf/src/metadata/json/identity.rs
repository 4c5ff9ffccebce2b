//! The UUIDs in CTF 2's metadata.

use serde_json::Value;

use super::sequence::fragments;
use crate::Uuid;

/// The UUID in a text that is JSON: the metadata's, or else the trace's.
pub fn uuid_of_json(text: &str) -> Option<Uuid> {
    for fragment in fragments(text) {
        let fragment = fragment.value.ok()?;
        let numbers = || fragment.get("uuid").and_then(|found| uuid(found).ok());
        let text = || fragment.get("uid").and_then(Value::as_str).and_then(Uuid::parse);
        match fragment.get("type").and_then(Value::as_str) {
            Some("preamble") if fragment.get("uuid").is_some() => return numbers(),
            // Drafts of the specification had numbers here too.
            Some("trace-class") => return text().or_else(numbers),
            _ => {}
        }
    }
    None
}

/// A UUID as CTF 2 writes it: the numbers of its bytes.
pub fn uuid(value: &Value) -> Result<Uuid, String> {
    let bytes = value.as_array().and_then(|bytes| {
        let bytes = bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok());
        bytes.collect::<Option<Vec<u8>>>()?.try_into().ok()
    });
    bytes.map(Uuid).ok_or_else(|| "`uuid` must be 16 numbers from 0 to 255".into())
}
