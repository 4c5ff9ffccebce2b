//! The metadata of a trace: CTF 2, whose field classes are those of Babeltrace.

use serde_json::{Value, json};

use super::encode::bytes_of;
use crate::shape::{
    Clock, Constant, EventShape, Integer, Location, Member, Ranges, Scope, Shape, StreamShape, TraceShape,
};

/// The namespace of log levels and URIs, which LTTng's reader and ours know.
const LTTNG: &str = "lttng.org,2009";

/// The text of the metadata.
pub fn text(trace: &TraceShape) -> String {
    let mut preamble = json!({"type": "preamble", "version": 2});
    if let Some(uuid) = trace.uuid {
        preamble["uuid"] = json!(uuid);
    }
    let environment = trace.environment.iter().map(|(name, value)| {
        let value = match value {
            Constant::Integer(number) => json!(number),
            Constant::Text(text) => json!(text),
        };
        (name.clone(), value)
    });
    let environment: serde_json::Map<String, Value> = environment.collect();
    let mut fragments = vec![
        preamble,
        json!({
            "type": "trace-class",
            "environment": environment,
            "packet-header-field-class": structure(packet_header(trace.uuid.is_some())),
        }),
    ];
    for (stream, index) in trace.streams.iter().zip(0..) {
        let clock_id = stream.clock.as_ref().map(|clock| clock_id(clock, index));
        fragments.extend(stream.clock.as_ref().zip(clock_id.as_deref()).map(|(class, id)| clock(class, id)));
        fragments.push(stream_class(stream, clock_id.as_deref()));
        fragments.extend(stream.events.iter().map(|event| event_class(event, stream)));
    }
    fragments.iter().map(|fragment| format!("\u{1e}{fragment}\n")).collect()
}

fn clock_id(clock: &Clock, index: usize) -> String {
    match (clock.name.as_str(), index) {
        ("", _) => format!("clock-{index}"),
        (name, 0) => name.to_owned(),
        (name, _) => format!("{name}-{index}"),
    }
}

fn clock(clock: &Clock, id: &str) -> Value {
    // CTF 2 wants less than a second of cycles.
    let seconds = clock.offset_cycles / clock.frequency.max(1);
    json!({
        "type": "clock-class",
        "id": id,
        "name": clock.name,
        "frequency": clock.frequency,
        "origin": if clock.is_unix_time { "unix-epoch" } else { "unknown" },
        "offset-from-origin": {
            "seconds": clock.offset_seconds.saturating_add_unsigned(seconds),
            "cycles": clock.offset_cycles % clock.frequency.max(1),
        },
    })
}

fn packet_header(has_uuid: bool) -> Vec<Value> {
    let mut members = vec![member("magic", unsigned(32, &["packet-magic-number"]))];
    if has_uuid {
        let uuid = json!({"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]});
        members.push(member("uuid", uuid));
    }
    members.push(member("stream_id", unsigned(64, &["data-stream-class-id"])));
    members.push(member("stream_instance_id", unsigned(64, &["data-stream-id"])));
    members
}

fn stream_class(stream: &StreamShape, clock: Option<&str>) -> Value {
    let times = [
        ("timestamp_begin", unsigned(64, &["default-clock-timestamp"])),
        ("timestamp_end", unsigned(64, &["packet-end-default-clock-timestamp"])),
    ];
    let others = [
        ("content_size", unsigned(64, &["packet-content-length"])),
        ("packet_size", unsigned(64, &["packet-total-length"])),
        ("packet_seq_num", unsigned(64, &["packet-sequence-number"])),
        ("events_discarded", unsigned(64, &["discarded-event-record-counter-snapshot"])),
    ];
    let scopes = Scopes { stream, event: None };
    let own = match &stream.packet_context {
        Some(Shape::Structure(members)) => members.as_slice(),
        _ => &[],
    };
    let is_free = |name: &str| own.iter().all(|member| member.name != name);
    let ours = times.into_iter().filter(|_| clock.is_some()).chain(others);
    // A trace that has a field of this name keeps it.
    let ours = ours.map(|(name, class)| match is_free(name) {
        true => member(name, class),
        false => member(&format!("babeltrace2_{name}"), class),
    });
    let packet_context: Vec<Value> = ours.chain(members(own, &scopes)).collect();
    let mut header = vec![member("id", unsigned(64, &["event-record-class-id"]))];
    if clock.is_some() {
        header.push(member("timestamp", unsigned(64, &["default-clock-timestamp"])));
    }
    let mut class = json!({
        "type": "data-stream-class",
        "id": stream.id,
        "packet-context-field-class": structure(packet_context),
        "event-record-header-field-class": structure(header),
    });
    if let Some(clock) = clock {
        class["default-clock-class-id"] = json!(clock);
    }
    if let Some(context) = &stream.common_context {
        class["event-record-common-context-field-class"] = field_class(context, &scopes);
    }
    class
}

fn event_class(event: &EventShape, stream: &StreamShape) -> Value {
    let scopes = Scopes { stream, event: Some(event) };
    let mut class = json!({
        "type": "event-record-class",
        "id": event.id,
        "data-stream-class-id": stream.id,
        "name": event.name,
    });
    let mut attributes = serde_json::Map::new();
    attributes.extend(event.log_level.map(|level| ("log-level".to_owned(), json!(level))));
    attributes.extend(event.emf_uri.as_ref().map(|uri| ("emf-uri".to_owned(), json!(uri))));
    if !attributes.is_empty() {
        class["attributes"] = json!({LTTNG: attributes});
    }
    let fields =
        [("specific-context-field-class", &event.specific_context), ("payload-field-class", &event.payload)];
    for (key, shape) in fields {
        if let Some(shape) = shape {
            class[key] = field_class(shape, &scopes);
        }
    }
    class
}

/// What locations of fields lead through.
struct Scopes<'s> {
    stream: &'s StreamShape,
    event: Option<&'s EventShape>,
}

impl Scopes<'_> {
    /// A location by names.
    fn location(&self, location: &Location) -> Value {
        let (origin, shape) = match location.scope {
            Scope::PacketContext => ("packet-context", self.stream.packet_context.as_ref()),
            Scope::CommonContext => ("event-record-common-context", self.stream.common_context.as_ref()),
            Scope::SpecificContext => (
                "event-record-specific-context",
                self.event.and_then(|event| event.specific_context.as_ref()),
            ),
            Scope::Payload => ("event-record-payload", self.event.and_then(|event| event.payload.as_ref())),
        };
        let (mut shape, mut names) = (shape, Vec::new());
        for &index in &location.path {
            let Some(Shape::Structure(members)) = shape else { break };
            let Some(member) = usize::try_from(index).ok().and_then(|index| members.get(index)) else {
                break;
            };
            names.push(&member.name);
            shape = Some(&member.shape);
        }
        json!({"origin": origin, "path": names})
    }
}

fn field_class(shape: &Shape, scopes: &Scopes<'_>) -> Value {
    match shape {
        Shape::Boolean => {
            json!({"type": "fixed-length-boolean", "length": 8, "byte-order": "little-endian", "alignment": 8})
        }
        Shape::Unsigned(class) => integer("fixed-length-unsigned-integer", class),
        Shape::Signed(class) => integer("fixed-length-signed-integer", class),
        Shape::Single => float(32),
        Shape::Double => float(64),
        Shape::Text => json!({"type": "null-terminated-string"}),
        Shape::Structure(list) => structure(members(list, scopes).collect()),
        Shape::Array { length, element } => {
            json!({"type": "static-length-array", "length": length, "element-field-class": inner(element, scopes)})
        }
        Shape::Sequence { length, element } => json!({
            "type": "dynamic-length-array",
            "length-field-location": length.as_ref().map_or(json!(null), |length| scopes.location(length)),
            "element-field-class": inner(element, scopes),
        }),
        Shape::Optional { selector, content } => {
            let mut class = json!({"type": "optional", "field-class": inner(content, scopes)});
            if let Some((location, values)) = selector {
                class["selector-field-location"] = scopes.location(location);
                class["selector-field-ranges"] = ranges(values);
            }
            class
        }
        Shape::Variant { selector, options } => {
            let option = |(option, values): &(Member, Ranges)| {
                let class = inner(&option.shape, scopes);
                json!({"name": option.name, "field-class": class, "selector-field-ranges": ranges(values)})
            };
            json!({
                "type": "variant",
                "selector-field-location": selector.as_ref().map_or(json!(null), |field| scopes.location(field)),
                "options": options.iter().map(option).collect::<Vec<_>>(),
            })
        }
    }
}

/// The class of what is not a member of a structure: where a field before it is needed, it becomes one.
fn inner(shape: &Shape, scopes: &Scopes<'_>) -> Value {
    match before(shape) {
        None => field_class(shape, scopes),
        Some(_) => structure(one_member("value", shape, scopes)),
    }
}

fn members<'m>(members: &'m [Member], scopes: &'m Scopes<'_>) -> impl Iterator<Item = Value> + 'm {
    members.iter().flat_map(|member| one_member(&member.name, &member.shape, scopes))
}

/// A member, after the length or the selector that it needs where Babeltrace has no field for that.
fn one_member(name: &str, shape: &Shape, scopes: &Scopes<'_>) -> Vec<Value> {
    let mut class = field_class(shape, scopes);
    let Some((suffix, property, before)) = before(shape) else { return vec![member(name, class)] };
    let before_name = format!("{name}_{suffix}");
    class[property] = json!({"path": [before_name]});
    vec![member(&before_name, before), member(name, class)]
}

/// What must precede a field of this shape: the end of its name, the property that refers to it, and its class.
fn before(shape: &Shape) -> Option<(&'static str, &'static str, Value)> {
    match shape {
        Shape::Sequence { length: None, .. } => Some(("length", "length-field-location", unsigned(64, &[]))),
        Shape::Optional { selector: None, .. } => {
            Some(("present", "selector-field-location", field_class_of_boolean()))
        }
        Shape::Variant { selector: None, .. } => {
            Some(("option", "selector-field-location", unsigned(64, &[])))
        }
        _ => None,
    }
}

fn field_class_of_boolean() -> Value {
    json!({"type": "fixed-length-boolean", "length": 8, "byte-order": "little-endian", "alignment": 8})
}

fn member(name: &str, class: Value) -> Value {
    json!({"name": name, "field-class": class})
}

fn structure(members: Vec<Value>) -> Value {
    json!({"type": "structure", "member-classes": members})
}

fn unsigned(bits: u64, roles: &[&str]) -> Value {
    let mut class = integer("fixed-length-unsigned-integer", &Integer { bits, base: 10, labels: Vec::new() });
    if !roles.is_empty() {
        class["roles"] = json!(roles);
    }
    class
}

fn integer(kind: &str, class: &Integer) -> Value {
    let mut value = json!({
        "type": kind,
        "length": bytes_of(class) * 8,
        "byte-order": "little-endian",
        "alignment": 8,
        "preferred-display-base": class.base,
    });
    if !class.labels.is_empty() {
        let labels = class.labels.iter().map(|(label, values)| (label.clone(), ranges(values)));
        value["mappings"] = Value::Object(labels.collect());
    }
    value
}

fn float(bits: u64) -> Value {
    json!({
        "type": "fixed-length-floating-point-number",
        "length": bits,
        "byte-order": "little-endian",
        "alignment": 8,
    })
}

fn ranges(ranges: &Ranges) -> Value {
    let number =
        |value: i128| i64::try_from(value).map_or_else(|_| json!(value as u64), |value| json!(value));
    ranges.iter().map(|&(first, last)| json!([number(first), number(last)])).collect()
}
