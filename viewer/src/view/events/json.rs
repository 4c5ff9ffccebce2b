//! Events as JSON, one object a line.

use std::rc::Rc;
use std::sync::Arc;

use ctf_reader::{EventClass, Field, OrderedEvent, Scope, Trace, Value};

use super::clock::Clock;
use super::form::{ByClass, EventLine, Form, ShownField, put};
use super::stacks::{ClassStacks, Stacks};
use super::value;

/// Writes events as JSON lines.
pub(in crate::view) struct JsonForm {
    clock: Clock,
    /// The hosts of the traces.
    hosts: Vec<Option<String>>,
    stacks: Rc<Stacks>,
    classes: ByClass<JsonClass>,
}

/// How the events of a class are written.
struct JsonClass {
    /// What comes before the fields.
    begin: Vec<u8>,
    /// What comes before each field, and its value.
    fields: Vec<(Vec<u8>, Field)>,
    stacks: Option<ClassStacks>,
}

impl JsonForm {
    pub fn new(stacks: Rc<Stacks>) -> JsonForm {
        let (clock, hosts, classes) = (Clock::rfc_3339(), Vec::new(), ByClass::default());
        JsonForm { clock, hosts, stacks, classes }
    }

    fn frames(&self, stacks: &ClassStacks, event: &OrderedEvent<'_>, stack: Field) -> serde_json::Value {
        let frames = self.stacks.frames(stacks, event, stack);
        frames.iter().filter_map(|frame| serde_json::to_value(&**frame).ok()).collect()
    }
}

impl Form for JsonForm {
    fn trace(&mut self, number: usize, trace: &Trace) {
        put(&mut self.hosts, number, trace.environment("hostname").map(str::to_owned));
    }

    fn class(&mut self, class: &Arc<EventClass>, shown: &[ShownField]) {
        let mut begin = b"\"event\":".to_vec();
        text(class.name.as_bytes(), &mut begin);
        if let Some(Some(host)) = self.hosts.get(class.trace) {
            begin.extend_from_slice(b",\"host\":");
            text(host.as_bytes(), &mut begin);
        }
        begin.extend_from_slice(b",\"fields\":{");
        let mut fields: Vec<(Vec<u8>, Field)> = Vec::new();
        for &ShownField { index, value } in shown {
            let field = &class.fields[index];
            // Of the environment, only what identifies the process.
            if field.scope == Scope::Environment && !matches!(&*field.name, "vpid" | "procname") {
                continue;
            }
            let mut before = if fields.is_empty() { Vec::new() } else { vec![b','] };
            text(field.name.as_bytes(), &mut before);
            before.push(b':');
            fields.push((before, value));
        }
        let stacks = self.stacks.of_class(class, shown);
        self.classes.set(class.index, JsonClass { begin, fields, stacks });
    }

    fn body(&mut self, event: &OrderedEvent<'_>, out: &mut Vec<u8>) {
        let Some(pieces) = self.classes.of(event) else { return };
        out.extend_from_slice(&pieces.begin);
        for (before, field) in &pieces.fields {
            out.extend_from_slice(before);
            write(&event.value(*field), out);
        }
        out.push(b'}');
        if let Some(stacks) = &pieces.stacks {
            out.extend_from_slice(b",\"stacks\":");
            let frames = |(name, stack): &(String, Field)| (name.clone(), self.frames(stacks, event, *stack));
            let all = stacks.fields.iter().map(frames).collect::<serde_json::Map<_, _>>();
            out.extend(serde_json::Value::from(all).to_string().bytes());
        }
    }

    fn begin(&mut self, line: EventLine, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"timestamp_ns\":");
        value::signed(line.timestamp, out);
        out.extend_from_slice(b",\"timestamp\":\"");
        self.clock.write(line.timestamp, out);
        out.extend_from_slice(b"Z\"");
        if let Some(is_match) = line.is_match {
            out.extend_from_slice(if is_match { b",\"match\":true" } else { b",\"match\":false" });
        }
        out.push(b',');
    }

    fn end(&self, _: EventLine, out: &mut Vec<u8>) {
        out.extend_from_slice(b"}\n");
    }
}

/// Appends a value; numbers that JSON does not have become strings.
pub(super) fn write(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Unsigned(number) => value::unsigned(*number, out),
        Value::Signed(number) => value::signed(*number, out),
        Value::Float(number) if number.is_finite() => {
            out.extend(serde_json::Value::from(*number).to_string().bytes());
        }
        Value::Float(number) => text(number.to_string().as_bytes(), out),
        Value::Bool(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Value::Text(bytes) => text(bytes, out),
        Value::Enum(number, labels) => match labels.label(*number) {
            Some(label) => text(label.as_bytes(), out),
            None => out.extend(i128::from(*number).to_string().bytes()),
        },
        Value::List(list) => {
            out.push(b'[');
            for (position, element) in list.elements.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write(element, out);
            }
            let more = list.length - list.elements.len() as u64;
            if more > 0 {
                text(format!("… {more} more").as_bytes(), {
                    out.push(b',');
                    out
                });
            }
            out.push(b']');
        }
        Value::Struct(members) => {
            out.push(b'{');
            for (position, (name, member)) in members.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                text(name.as_bytes(), out);
                out.push(b':');
                write(member, out);
            }
            out.push(b'}');
        }
    }
}

/// Appends a text; bytes that are not UTF-8 are replaced.
fn text(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    if value::plain(bytes, out) {
        out.push(b'"');
    } else {
        out.pop();
        out.extend(serde_json::Value::from(String::from_utf8_lossy(bytes)).to_string().bytes());
    }
}
