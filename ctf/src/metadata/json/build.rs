//! Fragments to metadata.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::super::assemble::{Assembler, EventDraft, StreamDraft};
use super::super::draft::{Draft, Language};
use super::super::model::{Clock, EnvironmentValue, Metadata};
use super::super::problem::Problems;
use super::classes::Classes;
use super::identity::uuid;
use super::object::{Object, integer, missing};
use super::sequence::{Fragment, Unreadable, fragments};
use crate::Uuid;

/// The namespace of what LTTng adds.
const LTTNG: &str = "lttng.org,2009";

/// The types of fragments.
const FRAGMENTS: [&str; 6] = [
    "preamble",
    "field-class-alias",
    "trace-class",
    "clock-class",
    "data-stream-class",
    "event-record-class",
];

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
pub fn read(text: &str, problems: &mut Problems) -> Metadata {
    let mut builder = Builder {
        classes: Classes::new(),
        clocks: HashMap::new(),
        assembler: Assembler::new(Language::Json, text.len()),
        has_trace: false,
        has_stream: false,
        may_have_lost_trace: false,
    };
    match builder.fragments(text, problems) {
        Ok(()) => builder.assembler.finish(problems).0,
        Err((line, reason)) => {
            problems.add(line, reason);
            Metadata::default()
        }
    }
}

struct Builder {
    classes: Classes,
    clocks: HashMap<String, Arc<Clock>>,
    assembler: Assembler,
    has_trace: bool,
    has_stream: bool,
    /// Whether a fragment that was not understood may have been the trace class.
    may_have_lost_trace: bool,
}

impl Builder {
    /// Adds all fragments. An error, with its line, means that no packet of the trace can be read.
    fn fragments(&mut self, text: &str, problems: &mut Problems) -> Result<(), (usize, String)> {
        for (position, Fragment { line, value }) in fragments(text).enumerate() {
            let value = match value {
                Ok(value) => value,
                Err(Unreadable { reason, is_cut }) => {
                    self.may_have_lost_trace |= position > 0 && !is_cut && !self.has_stream;
                    match is_cut {
                        true => problems.cut_statement(line, reason),
                        false => problems.add(line, reason),
                    }
                    continue;
                }
            };
            let kind = value.get("type").and_then(Value::as_str).unwrap_or("fragment");
            if position == 0 {
                match self.preamble(&value) {
                    Ok(()) => continue,
                    Err(reason) if kind == "preamble" => return Err((line, format!("preamble: {reason}"))),
                    Err(reason) => problems.add(line, format!("preamble: {reason}")),
                }
            }
            match (kind, self.fragment(kind, &value, line, problems)) {
                (_, Ok(())) => {}
                // Every packet begins with what this describes.
                ("trace-class", Err(reason)) => return Err((line, format!("{kind}: {reason}"))),
                (_, Err(reason)) => {
                    let is_known = FRAGMENTS.contains(&kind);
                    self.may_have_lost_trace |= position > 0 && !is_known && !self.has_stream;
                    problems.add(line, format!("{kind}: {reason}"));
                }
            }
        }
        match self.may_have_lost_trace && !self.has_trace {
            true => {
                Err((1, "the trace class is missing or damaged; no packet can be read without it".into()))
            }
            false => Ok(()),
        }
    }

    fn preamble(&mut self, value: &Value) -> Result<(), String> {
        let fragment = Object::preamble(value)?;
        if fragment.text("type")? != Some("preamble") {
            return Err("CTF 2 metadata must begin with a preamble".into());
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
        self.assembler.metadata.uuid = fragment.get("uuid").map(uuid).transpose()?;
        Ok(())
    }

    fn fragment(
        &mut self,
        kind: &str,
        value: &Value,
        line: usize,
        problems: &mut Problems,
    ) -> Result<(), String> {
        let fragment = Object::of(value)?;
        match kind {
            "preamble" => Err("duplicate fragment".into()),
            "field-class-alias" => {
                let name = fragment.text("name")?.ok_or_else(|| missing("name"))?;
                let class = fragment.required("field-class")?;
                self.classes.name(name, class).map_err(|reason| format!("`{name}`: {reason}"))
            }
            "trace-class" => self.trace(fragment),
            "clock-class" => self.clock(fragment),
            "data-stream-class" => self.stream(fragment, line, problems),
            "event-record-class" => self.event(fragment, line, problems),
            _ => Err("unknown type of fragment".into()),
        }
    }

    fn trace(&mut self, fragment: Object<'_>) -> Result<(), String> {
        if std::mem::replace(&mut self.has_trace, true) {
            return Err("duplicate fragment".into());
        }
        for (name, value) in fragment.map("environment")?.into_iter().flatten() {
            let value = match (integer(value), value.as_str()) {
                (Some(number), _) => EnvironmentValue::Integer(number),
                (_, Some(text)) => EnvironmentValue::Text(text.to_owned()),
                _ => return Err(format!("`environment`: `{name}` must be an integer or a string")),
            };
            self.assembler.environment(name.clone(), value);
        }
        let header = self.scope(fragment, "packet-header-field-class")?;
        self.assembler.packet_header(header)
    }

    /// Adds a clock class. Release candidates of the specification gave it no id but a unique name, and some called
    /// the offset just that.
    fn clock(&mut self, fragment: Object<'_>) -> Result<(), String> {
        let name = match fragment.text("id")? {
            Some(id) => id,
            None => fragment.text("name")?.ok_or_else(|| missing("id"))?,
        };
        let frequency = fragment.unsigned("frequency")?.ok_or_else(|| missing("frequency"))?;
        if frequency == 0 {
            return Err("a clock's frequency must be above 0".into());
        }
        let (mut offset_seconds, mut offset) = (0, 0);
        let found =
            ["offset-from-origin", "offset"].into_iter().find_map(|key| Some((key, fragment.get(key)?)));
        if let Some((key, value)) = found {
            let value = Object::of(value).map_err(|reason| format!("`{key}`: {reason}"))?;
            let seconds = value.integer("seconds")?.unwrap_or(0);
            offset_seconds = i64::try_from(seconds).map_err(|_| "the clock's `seconds` are out of range")?;
            let cycles = value.unsigned("cycles")?.filter(|&cycles| cycles < frequency);
            let cycles = cycles.or(value.get("cycles").is_none().then_some(0));
            let cycles = cycles.ok_or("the clock's `cycles` make a second or more")?;
            offset = i64::try_from(cycles).map_err(|_| "the clock's `cycles` are out of range")?;
        }
        // Where an origin other than 1970 lies is not known; times are then counted from that origin.
        let uuid = fragment.text("uid")?.and_then(Uuid::parse);
        let clock = Arc::new(Clock { name: name.to_owned(), frequency, offset_seconds, offset, uuid });
        match self.clocks.insert(name.to_owned(), clock) {
            Some(other) => Err(format!("duplicate clock id `{}`", other.name)),
            None => Ok(()),
        }
    }

    fn stream(&mut self, fragment: Object<'_>, line: usize, problems: &mut Problems) -> Result<(), String> {
        self.has_stream = true;
        let id = fragment.unsigned("id")?.unwrap_or(0);
        let clock = match fragment.text("default-clock-class-id")? {
            Some(id) => Some(id),
            // Release candidates of the specification.
            None => fragment.text("default-clock-class-name")?,
        };
        let clock = clock.map(|id| {
            let found = self.clocks.get(id).cloned();
            found.ok_or_else(|| format!("no earlier clock has the id `{id}`"))
        });
        let stream = StreamDraft {
            id,
            clock: clock.transpose()?,
            packet_context: self.scope(fragment, "packet-context-field-class")?,
            event_header: self.scope(fragment, "event-record-header-field-class")?,
            event_context: self.scope(fragment, "event-record-common-context-field-class")?,
            line,
        };
        self.assembler.stream(stream, problems)
    }

    fn event(&mut self, fragment: Object<'_>, line: usize, problems: &mut Problems) -> Result<(), String> {
        let name = fragment.text("name")?.unwrap_or_default();
        let named = |reason| format!("`{name}`: {reason}");
        let event = EventDraft {
            id: Some(fragment.unsigned("id")?.unwrap_or(0)),
            stream_id: Some(fragment.unsigned("data-stream-class-id")?.unwrap_or(0)),
            name: name.to_owned(),
            log_level: log_level(fragment),
            model_uri: attribute(fragment, "emf-uri").and_then(|uri| Some(uri.as_str()?.to_owned())),
            context: self.scope(fragment, "specific-context-field-class").map_err(named)?,
            payload: self.scope(fragment, "payload-field-class").map_err(named)?,
            line,
        };
        self.assembler.event(event, problems);
        Ok(())
    }

    fn scope(&mut self, fragment: Object<'_>, property: &str) -> Result<Option<Rc<Draft>>, String> {
        let draft = fragment.get(property).map(|class| self.classes.draft(class));
        draft.transpose().map_err(|reason| format!("`{property}`: {reason}"))
    }
}

/// What LTTng adds as an attribute. An attribute never makes a trace unreadable.
fn attribute<'j>(fragment: Object<'j>, name: &str) -> Option<&'j Value> {
    fragment.get("attributes")?.get(LTTNG)?.get(name)
}

/// The log level, by its number or its name.
fn log_level(fragment: Object<'_>) -> Option<i64> {
    let level = attribute(fragment, "log-level")?;
    let named =
        |name| LOG_LEVELS.iter().zip(0..).find(|(level, _)| **level == name).map(|(_, number)| number);
    level.as_i64().or_else(|| level.as_str().and_then(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREAMBLE: &str = "{\"type\": \"preamble\", \"version\": 2}\n";

    fn read_text(text: &str) -> (Metadata, Vec<String>) {
        let mut problems = Problems::default();
        let metadata = read(text, &mut problems);
        (metadata, problems.finish().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn log_levels_are_lttngs() {
        let event = |level: &str| {
            let attributes = format!("{{\"lttng.org,2009\": {{\"log-level\": {level}}}}}");
            let event = format!("{{\"type\": \"event-record-class\", \"attributes\": {attributes}}}");
            let (metadata, problems) =
                read_text(&format!("{PREAMBLE}{{\"type\": \"data-stream-class\"}}{event}"));
            assert_eq!(problems, [""; 0]);
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
        let (metadata, problems) = read_text(&format!("{PREAMBLE}{stream}{events}"));
        assert!((100..500).contains(&metadata.streams[0].events.len()));
        assert_eq!(problems[0], "line 2: event ``: all events together have too many context fields");
    }
}
