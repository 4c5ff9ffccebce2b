//! Findings as JSON. The forms are documented in the crate's README and are stable.

use std::io::{self, Write};

use serde_json::Value;

use super::events::{Form, JsonForm};
use super::output::{EventStream, Output};
use super::{Screen, notes};
use crate::analysis::Finding;

/// Writes a finding as one object on one line.
struct Json {
    screen: Screen,
}

pub(super) fn output(screen: &Screen) -> Box<dyn Output> {
    Box::new(Json { screen: screen.clone() })
}

/// The keys of times in nanoseconds since 1970, and of the same times in words.
const TIMES: [(&str, &str); 4] =
    [("begin_ns", "begin"), ("end_ns", "end"), ("timestamp_ns", "timestamp"), ("time_ns", "time")];

/// A finding as programs get it.
pub(super) fn with_times(mut value: Value) -> Value {
    add_times(&mut value);
    value
}

/// Adds each time as RFC 3339, in UTC, after its nanoseconds. What was recorded stays as it is.
fn add_times(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(add_times),
        Value::Object(members) => {
            for (name, member) in std::mem::take(members) {
                let time = TIMES.iter().find(|(key, _)| *key == name);
                let time = time.and_then(|(_, known_as)| Some((known_as, rfc_3339(member.as_i64()?)?)));
                let is_recorded = matches!(&*name, "fields" | "key");
                let member = members.entry(name).or_insert(member);
                if !is_recorded {
                    add_times(member);
                }
                if let Some((known_as, time)) = time {
                    members.insert((*known_as).to_owned(), Value::String(time));
                }
            }
        }
        _ => {}
    }
}

fn rfc_3339(nanoseconds: i64) -> Option<String> {
    Some(format!("{:.9}", jiff::Timestamp::from_nanosecond(nanoseconds.into()).ok()?))
}

impl Output for Json {
    fn write(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<Vec<String>> {
        // Each event was a line, and no program expects another object after them.
        if let Finding::Events(_) = finding {
            return Ok(notes::warnings(finding, &self.screen));
        }
        serde_json::to_writer(&mut *out, &with_times(serde_json::to_value(finding)?))?;
        writeln!(out)?;
        Ok(Vec::new())
    }

    fn events(&self, stream: EventStream) -> io::Result<Box<dyn Form>> {
        Ok(Box::new(JsonForm::new(stream.stacks)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_written_as_rfc_3339_beside_nanoseconds_but_not_in_what_was_recorded() {
        let mut value = json!({
            "begin_ns": 1_700_000_000_000_000_001_i64,
            "length_ns": 5,
            "end_ns": null,
            "events": [{ "timestamp_ns": 0, "fields": { "begin_ns": 7 }, "key": { "end_ns": 8 } }],
        });
        add_times(&mut value);
        let wanted = "{\"begin_ns\":1700000000000000001,\"begin\":\"2023-11-14T22:13:20.000000001Z\",\"length_ns\":5,\
                      \"end_ns\":null,\"events\":[{\"timestamp_ns\":0,\"timestamp\":\"1970-01-01T00:00:00.000000000Z\",\
                      \"fields\":{\"begin_ns\":7},\"key\":{\"end_ns\":8}}]}";
        assert_eq!(value.to_string(), wanted);
    }
}
