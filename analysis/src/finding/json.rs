//! Findings as JSON: what programs may rely on. `docs/findings.schema.json` is made from the types.

use serde_json::{Map, Value};

use crate::Finding;

/// The version of the JSON of all findings, its key `version`. It is raised when a key goes away or changes its name, type or
/// meaning; keys and kinds may be added without that.
pub const VERSION: u32 = 1;

/// The keys of times in nanoseconds since 1970, and of the same times in words.
pub(super) const TIMES: [(&str, &str); 4] =
    [("begin_ns", "begin"), ("end_ns", "end"), ("timestamp_ns", "timestamp"), ("time_ns", "time")];

impl Finding {
    /// The finding as one object: its `kind`, the `version` of all kinds, and its figures.
    ///
    /// # Errors
    ///
    /// An overview, a timeline and single events have no such form.
    pub fn to_json(&self) -> serde_json::Result<Value> {
        let mut value = with_times(serde_json::to_value(self)?);
        if let Value::Object(members) = &mut value {
            members.shift_insert(1, "version".into(), VERSION.into());
        }
        Ok(value)
    }
}

/// Adds each time as RFC 3339, in UTC, after its nanoseconds. What was recorded stays as it is.
pub fn with_times(value: Value) -> Value {
    match value {
        Value::Array(elements) => elements.into_iter().map(with_times).collect(),
        Value::Object(members) => {
            let mut all = Map::new();
            for (name, member) in members {
                let time = TIMES.iter().find(|(key, _)| *key == name);
                let time = time.and_then(|(_, known_as)| Some((known_as, rfc_3339(member.as_i64()?)?)));
                let is_recorded = matches!(&*name, "fields" | "key");
                all.insert(name, if is_recorded { member } else { with_times(member) });
                all.extend(time.map(|(known_as, time)| ((*known_as).to_owned(), Value::String(time))));
            }
            Value::Object(all)
        }
        other => other,
    }
}

fn rfc_3339(nanoseconds: i64) -> Option<String> {
    Some(format!("{:.9}", jiff::Timestamp::from_nanosecond(nanoseconds.into()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_written_as_rfc_3339_beside_nanoseconds_but_not_in_what_was_recorded() {
        let value = json!({
            "begin_ns": 1_700_000_000_000_000_001_i64,
            "length_ns": 5,
            "end_ns": null,
            "events": [{ "timestamp_ns": 0, "fields": { "begin_ns": 7 }, "key": { "end_ns": 8 } }],
        });
        let wanted = "{\"begin_ns\":1700000000000000001,\"begin\":\"2023-11-14T22:13:20.000000001Z\",\"length_ns\":5,\
                      \"end_ns\":null,\"events\":[{\"timestamp_ns\":0,\"timestamp\":\"1970-01-01T00:00:00.000000000Z\",\
                      \"fields\":{\"begin_ns\":7},\"key\":{\"end_ns\":8}}]}";
        assert_eq!(with_times(value).to_string(), wanted);
    }
}
