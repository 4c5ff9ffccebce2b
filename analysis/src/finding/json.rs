//! Findings as JSON: what programs may rely on. `docs/findings.schema.json` is made from the types.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::Error;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use crate::Finding;

/// The version of the JSON of all findings, its key `version`. It is raised when a key goes away or changes its name, type or
/// meaning; keys and kinds may be added without that.
pub const VERSION: u32 = 1;

/// The keys of times in nanoseconds since 1970, and of the same times in words.
pub(super) const TIMES: [(&str, &str); 4] =
    [("begin_ns", "begin"), ("end_ns", "end"), ("timestamp_ns", "timestamp"), ("time_ns", "time")];

/// The keys of what was recorded, which stays as it is.
const RECORDED: [&str; 2] = ["fields", "key"];

impl Finding {
    /// The finding as one object: its `kind`, the `version` of all kinds, and its figures.
    ///
    /// # Errors
    ///
    /// An overview, a timeline and single events have no such form.
    pub fn to_json(&self) -> serde_json::Result<String> {
        written(self, WithTimes { version: Some(VERSION), ..WithTimes::default() })
    }
}

/// A part of a finding as JSON, with each time as RFC 3339, in UTC, after its nanoseconds.
///
/// # Errors
///
/// The part has no such form.
pub fn with_times(part: &impl Serialize) -> serde_json::Result<String> {
    written(part, WithTimes::default())
}

fn written(value: &impl Serialize, form: WithTimes) -> serde_json::Result<String> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, form))?;
    String::from_utf8(text).map_err(serde_json::Error::custom)
}

/// Adds each time in words as it is written, so that a finding of thousands of incidents is written as fast as without.
#[derive(Default)]
struct WithTimes {
    /// To be added after the first member, which is the kind.
    version: Option<u32>,
    /// The number of objects that are open.
    depth: usize,
    /// The last key, and whether it is being written.
    key: String,
    is_key: bool,
    /// The number of objects that were open where what was recorded began.
    recorded: Option<usize>,
    /// How the member that is being written is known in words, if it is a time, and the time.
    known_as: Option<&'static str>,
    time: Option<i64>,
    clock: Clock,
}

/// Tells times in words. Most are in the second of the last one, which takes far longer to tell than its nanoseconds.
#[derive(Default)]
struct Clock {
    second: Option<i64>,
    /// Without what is less than a second.
    told: String,
}

impl Clock {
    /// A time as RFC 3339, in UTC, if it has such a form.
    fn rfc_3339(&mut self, nanoseconds: i64) -> Option<(&str, i64)> {
        let second = nanoseconds.div_euclid(SECOND);
        if self.second != Some(second) {
            self.second = None;
            let told = jiff::Timestamp::from_second(second).ok()?.to_string();
            self.told = told.trim_end_matches('Z').to_owned();
            self.second = Some(second);
        }
        Some((&self.told, nanoseconds.rem_euclid(SECOND)))
    }
}

const SECOND: i64 = 1_000_000_000;

impl Formatter for WithTimes {
    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        self.key.clear();
        self.is_key = true;
        CompactFormatter.begin_object_key(out, is_first)
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_key = false;
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        if self.is_key {
            self.key.push_str(fragment);
        }
        out.write_all(fragment.as_bytes())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.recorded.is_none() {
            let time = TIMES.iter().find(|(key, _)| *key == self.key);
            (self.known_as, self.time) = (time.map(|(_, known_as)| *known_as), None);
            self.recorded = RECORDED.contains(&&*self.key).then_some(self.depth);
        }
        CompactFormatter.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.recorded == Some(self.depth) {
            self.recorded = None;
        }
        if let (Some(known_as), Some(time)) = (self.known_as.take(), self.time.take())
            && let Some((told, nanoseconds)) = self.clock.rfc_3339(time)
        {
            write!(out, ",\"{known_as}\":\"{told}.{nanoseconds:09}Z\"")?;
        }
        match self.version.take() {
            Some(version) if self.depth == 1 => write!(out, ",\"version\":{version}"),
            version => {
                self.version = version;
                Ok(())
            }
        }
    }

    fn write_i64<W: ?Sized + Write>(&mut self, out: &mut W, value: i64) -> io::Result<()> {
        self.time = Some(value);
        CompactFormatter.write_i64(out, value)
    }

    fn write_u64<W: ?Sized + Write>(&mut self, out: &mut W, value: u64) -> io::Result<()> {
        self.time = i64::try_from(value).ok();
        CompactFormatter.write_u64(out, value)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.known_as = None;
        CompactFormatter.begin_array(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.known_as = None;
        self.depth += 1;
        CompactFormatter.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        CompactFormatter.end_object(out)
    }
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
        assert_eq!(with_times(&value).expect("JSON"), wanted);
    }

    #[test]
    fn times_are_told_as_jiff_does() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut clock = Clock::default();
        let near = random.i64(..);
        let any = (0..2000).map(|_| random.i64(..)).collect::<Vec<_>>();
        let near = any.iter().map(|time| near.saturating_add(time % (3 * SECOND)));
        for time in any.iter().copied().chain(near).chain([i64::MIN, -1, 0, 1, i64::MAX]) {
            let (told, nanoseconds) = clock.rfc_3339(time).expect("it has such a form");
            let wanted = format!("{:.9}", jiff::Timestamp::from_nanosecond(time.into()).expect("it is one"));
            assert_eq!(format!("{told}.{nanoseconds:09}Z"), wanted, "seed {seed}");
        }
    }
}
