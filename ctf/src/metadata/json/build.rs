//! Fragments to metadata.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::super::assemble::{Drafts, EventDraft, StreamDraft};
use super::super::draft::Draft;
use super::super::model::{Clock, EnvironmentValue, Metadata};
use super::super::{Language, Problems};
use super::classes::Classes;
use super::identity::uuid;
use super::object::{self, Object, missing};
use super::sequence::{Fragment, fragments};

/// The namespace of what LTTng adds.
const LTTNG: &str = "lttng.org,2009";

/// The names of LTTng's log levels, from 0 on.
const LOG_LEVELS: [&str; 15] = [
    "emergency",
    "alert",
    "critical",
    "error",
    "warning",
    "notice",
    "info",
    "debug:system",
    "debug:program",
    "debug:process",
    "debug:module",
    "debug:unit",
    "debug:function",
    "debug:line",
    "debug",
];

/// Reads the text of metadata. What does not fit is left out and named.
pub fn read(text: &str) -> (Metadata, Problems) {
    let mut problems = Problems::default();
    match Builder::new().fragments(text, &mut problems) {
        Ok(drafts) => (drafts.assemble(Language::Json, &mut problems), problems),
        Err((line, reason)) => {
            problems.add(line, reason);
            (Metadata::default(), problems)
        }
    }
}

struct Builder {
    classes: Classes,
    clocks: HashMap<String, Arc<Clock>>,
    drafts: Drafts,
    stream_ids: HashSet<u64>,
    has_trace: bool,
}

impl Builder {
    fn new() -> Builder {
        Builder {
            classes: Classes::new(),
            clocks: HashMap::new(),
            drafts: Drafts::default(),
            stream_ids: HashSet::new(),
            has_trace: false,
        }
    }

    /// Takes all fragments in. An error is what leaves none of the trace's packets readable, with its line.
    fn fragments(mut self, text: &str, problems: &mut Problems) -> Result<Drafts, (usize, String)> {
        for (position, Fragment { line, value }) in fragments(text).enumerate() {
            let value = match value {
                Ok(value) => value,
                Err(reason) if position == 0 => return Err((line, reason)),
                Err(reason) => {
                    problems.add(line, reason);
                    continue;
                }
            };
            if position == 0 {
                self.preamble(&value).map_err(|reason| (line, format!("preamble: {reason}")))?;
                continue;
            }
            let kind = value.get("type").and_then(Value::as_str).unwrap_or("fragment");
            match (kind, self.fragment(kind, &value, line)) {
                (_, Ok(())) => {}
                // Every packet begins with what this describes.
                ("trace-class", Err(reason)) => return Err((line, format!("{kind}: {reason}"))),
                (_, Err(reason)) => problems.add(line, format!("{kind}: {reason}")),
            }
        }
        Ok(self.drafts)
    }

    fn preamble(&mut self, value: &Value) -> Result<(), String> {
        let fragment = Object::preamble(value)?;
        if fragment.text("type")? != Some("preamble") {
            return Err("CTF 2 metadata must begin with one".into());
        }
        match fragment.integer("version")?.ok_or_else(|| missing("version"))? {
            2 => {}
            other => return Err(format!("this is CTF {other}; only CTF 1.8 and CTF 2 can be read")),
        }
        if let Some(name) = fragment.extension()? {
            return Err(format!(
                "the trace needs the CTF 2 extension {name}, which is not supported: record without it"
            ));
        }
        self.drafts.uuid = fragment.get("uuid").map(uuid).transpose()?;
        Ok(())
    }

    fn fragment(&mut self, kind: &str, value: &Value, line: usize) -> Result<(), String> {
        let fragment = Object::of(value)?;
        match kind {
            "preamble" => Err("there is another one before".into()),
            "field-class-alias" => {
                let name = fragment.text("name")?.ok_or_else(|| missing("name"))?;
                let class = fragment.required("field-class")?;
                self.classes.name(name, class).map_err(|reason| format!("`{name}`: {reason}"))
            }
            "trace-class" => self.trace(fragment, line),
            "clock-class" => self.clock(fragment),
            "data-stream-class" => self.stream(fragment, line),
            "event-record-class" => self.event(fragment, line),
            _ => Err("this is no fragment of CTF 2".into()),
        }
    }

    fn trace(&mut self, fragment: Object<'_>, line: usize) -> Result<(), String> {
        if std::mem::replace(&mut self.has_trace, true) {
            return Err("there is another one before".into());
        }
        for (name, value) in fragment.map("environment")?.into_iter().flatten() {
            let value = match (object::integer(value), value.as_str()) {
                (Some(number), _) => EnvironmentValue::Integer(number),
                (_, Some(text)) => EnvironmentValue::Text(text.to_owned()),
                _ => return Err(format!("`environment`: `{name}` must be an integer or a string")),
            };
            self.drafts.environment.push((name.clone(), value));
        }
        let header = self.scope(fragment, "packet-header-field-class")?;
        self.drafts.packet_header = header.map(|header| (header, line));
        Ok(())
    }

    fn clock(&mut self, fragment: Object<'_>) -> Result<(), String> {
        let name = fragment.text("id")?.ok_or_else(|| missing("id"))?.to_owned();
        let frequency = fragment.unsigned("frequency")?.ok_or_else(|| missing("frequency"))?;
        if frequency == 0 {
            return Err("a clock's frequency must be above 0".into());
        }
        let (mut offset_seconds, mut offset) = (0, 0);
        if let Some(value) = fragment.get("offset-from-origin") {
            let value = Object::of(value).map_err(|reason| format!("`offset-from-origin`: {reason}"))?;
            let seconds = value.integer("seconds")?.unwrap_or(0);
            offset_seconds = i64::try_from(seconds).map_err(|_| "the clock's `seconds` are out of range")?;
            let cycles = value.unsigned("cycles")?.filter(|&cycles| cycles < frequency);
            let cycles = cycles.or(value.get("cycles").is_none().then_some(0));
            let cycles = cycles.ok_or("the clock's `cycles` make a second or more")?;
            offset = i64::try_from(cycles).map_err(|_| "the clock's `cycles` are out of range")?;
        }
        // Where the origin is not 1970 it is not known, and times are told from it all the same.
        let clock = Arc::new(Clock { name: name.clone(), frequency, offset_seconds, offset });
        match self.clocks.insert(name, clock) {
            Some(other) => Err(format!("another clock has the id `{}`", other.name)),
            None => Ok(()),
        }
    }

    fn stream(&mut self, fragment: Object<'_>, line: usize) -> Result<(), String> {
        let id = fragment.unsigned("id")?.unwrap_or(0);
        if !self.stream_ids.insert(id) {
            return Err(format!("there is another stream with id {id}"));
        }
        let clock = fragment.text("default-clock-class-id")?.map(|id| {
            let found = self.clocks.get(id).cloned();
            found.ok_or_else(|| format!("no clock before this has the id `{id}`"))
        });
        self.drafts.streams.push(StreamDraft {
            id,
            clock: clock.transpose()?,
            packet_context: self.scope(fragment, "packet-context-field-class")?,
            event_header: self.scope(fragment, "event-record-header-field-class")?,
            event_context: self.scope(fragment, "event-record-common-context-field-class")?,
            line,
        });
        Ok(())
    }

    fn event(&mut self, fragment: Object<'_>, line: usize) -> Result<(), String> {
        let name = fragment.text("name")?.unwrap_or_default();
        let named = |reason| format!("`{name}`: {reason}");
        self.drafts.events.push(EventDraft {
            id: Some(fragment.unsigned("id")?.unwrap_or(0)),
            stream_id: Some(fragment.unsigned("data-stream-class-id")?.unwrap_or(0)),
            name: name.to_owned(),
            log_level: log_level(fragment),
            context: self.scope(fragment, "specific-context-field-class").map_err(named)?,
            payload: self.scope(fragment, "payload-field-class").map_err(named)?,
            line,
        });
        Ok(())
    }

    fn scope(&self, fragment: Object<'_>, property: &str) -> Result<Option<Rc<Draft>>, String> {
        let draft = fragment.get(property).map(|class| self.classes.draft(class));
        draft.transpose().map_err(|reason| format!("`{property}`: {reason}"))
    }
}

/// The log level that LTTng adds as an attribute. An attribute never makes a trace unreadable.
fn log_level(fragment: Object<'_>) -> Option<i64> {
    let level = fragment.get("attributes")?.get(LTTNG)?.get("log-level")?;
    let named =
        |name| LOG_LEVELS.iter().zip(0..).find(|(level, _)| **level == name).map(|(_, number)| number);
    level.as_i64().or_else(|| level.as_str().and_then(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREAMBLE: &str = "{\"type\": \"preamble\", \"version\": 2}\n";

    #[test]
    fn log_levels_are_lttngs() {
        let event = |level: &str| {
            let attributes = format!("{{\"lttng.org,2009\": {{\"log-level\": {level}}}}}");
            let event = format!("{{\"type\": \"event-record-class\", \"attributes\": {attributes}}}");
            let (metadata, problems) = read(&format!("{PREAMBLE}{{\"type\": \"data-stream-class\"}}{event}"));
            assert!(problems.0.is_empty(), "{problems:?}");
            metadata.streams[0].events[0].log_level
        };
        let levels = ["\"emergency\"", "\"debug:line\"", "\"debug\"", "13", "\"loud\"", "null"].map(event);
        assert_eq!(levels, [Some(0), Some(13), Some(14), Some(13), None, None]);
    }

    #[test]
    fn fields_that_all_events_share_do_not_explode() {
        let member =
            |i| format!("{{\"name\": \"m{i}\", \"field-class\": {{\"type\": \"null-terminated-string\"}}}}");
        let members = (0..5000).map(member).collect::<Vec<_>>().join(",");
        let context = format!("{{\"type\": \"structure\", \"member-classes\": [{members}]}}");
        let stream = format!(
            "{{\"type\": \"data-stream-class\", \"event-record-common-context-field-class\": {context}}}"
        );
        let event = |i| format!("{{\"type\": \"event-record-class\", \"id\": {i}}}");
        let events: String = (0..5000).map(event).collect();
        let (metadata, problems) = read(&format!("{PREAMBLE}{stream}{events}"));
        assert!((100..5000).contains(&metadata.streams[0].events.len()));
        assert_eq!(problems.0[0].reason, "event ``: all events together have too many fields");
    }
}
