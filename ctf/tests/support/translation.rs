//! The metadata of an LTTng trace in CTF 2, translated from CTF 1.8.
//!
//! LTTng 2.15 writes either, with the same packets; an older one writes TSDL alone. It writes it line by line and
//! always in the same way, so each line can be recognised. The properties are those that LTTng 2.15 writes.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

/// What a metadata packet begins with.
const MAGIC: [u8; 4] = 0x75D1_1D57_u32.to_le_bytes();

/// How long the header of a metadata packet is, in bytes.
const HEADER: usize = 37;

const LOG_LEVELS: [(&str, &str); 3] = [("6", "info"), ("13", "debug:line"), ("14", "debug")];

/// Replaces the metadata in a trace's folder.
pub fn translate(folder: &Path) {
    let path = folder.join("metadata");
    let text: String = fragments(&tsdl(&path)).iter().map(|fragment| format!("\x1e{fragment:#}\n")).collect();
    fs::write(path, text).unwrap();
}

/// Puts the metadata in a trace's folder into a packet.
pub fn wrap(folder: &Path) {
    let path = folder.join("metadata");
    let text = fs::read(&path).unwrap();
    let size = u32::try_from((HEADER + text.len()) * 8).unwrap().to_le_bytes();
    let uuid = ctf_reader::Uuid::of_metadata(&text).expect("it has a UUID").0;
    let packet = [&MAGIC[..], &uuid, &[0; 4], &size, &size, &[0, 0, 0, 2, 0], &text].concat();
    fs::write(path, packet).unwrap();
}

/// The text in metadata packets.
fn tsdl(path: &Path) -> String {
    let bytes = fs::read(path).unwrap();
    let mut rest = bytes.as_slice();
    let mut text = Vec::new();
    while !rest.is_empty() {
        assert_eq!(rest[..4], MAGIC);
        let size = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap()) as usize / 8;
        text.extend_from_slice(&rest[HEADER..size(24)]);
        rest = &rest[size(28)..];
    }
    String::from_utf8(text).unwrap()
}

fn fragments(text: &str) -> Vec<Value> {
    let trace = block(text, "trace").next().unwrap();
    let uuid = trace.iter().find_map(|line| assigned(line, "uuid")).unwrap().trim_matches('"');
    let digits = uuid.replace('-', "");
    let numbers = (0..16).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap());
    let environment = block(text, "env").flatten().filter_map(|line| {
        let (name, value) = line.split_once(" = ")?;
        Some((name.to_owned(), serde_json::from_str(value.trim_end_matches(';')).unwrap()))
    });
    let mut fragments = vec![
        json!({"type": "preamble", "version": 2, "uuid": numbers.collect::<Vec<_>>()}),
        json!({"type": "trace-class", "namespace": "lttng.org,2009", "name": "", "uid": uuid,
            "environment": environment.collect::<Map<_, _>>(), "packet-header-field-class": packet_header()}),
    ];
    fragments.extend(block(text, "clock").map(|lines| clock(&lines)));
    fragments.extend(block(text, "stream").map(|lines| stream(&lines)));
    fragments.extend(block(text, "event").map(|lines| event(&lines)));
    fragments
}

/// The lines of each block with a keyword.
fn block<'t>(text: &'t str, keyword: &str) -> impl Iterator<Item = Vec<&'t str>> {
    let begin = format!("{keyword} {{");
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        lines.by_ref().find(|line| *line == begin)?;
        Some(lines.by_ref().take_while(|line| *line != "};").map(str::trim).collect())
    })
}

/// The value that a line gives a name.
fn assigned<'t>(line: &'t str, name: &str) -> Option<&'t str> {
    let (value, _) = line.strip_prefix(name)?.strip_prefix(" = ")?.split_once(';')?;
    Some(value)
}

fn number(lines: &[&str], name: &str) -> u64 {
    lines.iter().find_map(|line| assigned(line, name)).unwrap().parse().unwrap()
}

fn clock(lines: &[&str]) -> Value {
    let (frequency, offset) = (number(lines, "freq"), number(lines, "offset"));
    // LTTng names the clock by the machine's boot ID.
    let uid = lines.iter().find_map(|line| assigned(line, "uuid")).unwrap().trim_matches('"');
    json!({"type": "clock-class", "id": "monotonic", "name": "monotonic", "description": "Monotonic Clock",
        "uid": uid, "frequency": frequency, "origin": "unix-epoch",
        "offset-from-origin": {"seconds": offset / frequency, "cycles": offset % frequency}})
}

fn stream(lines: &[&str]) -> Value {
    let is_large = lines.contains(&"event.header := struct event_header_large;");
    let mut fragment = json!({"type": "data-stream-class", "id": number(lines, "id"),
        "default-clock-class-id": "monotonic", "packet-context-field-class": packet_context(),
        "event-record-header-field-class": if is_large { header(16, 32, 8) } else { header(5, 27, 1) }});
    if let Some(context) = fields(lines, "event.context := struct {", "event-record-common-context") {
        fragment["event-record-common-context-field-class"] = context;
    }
    fragment
}

fn event(lines: &[&str]) -> Value {
    let name = lines.iter().find_map(|line| assigned(line, "name")).unwrap().trim_matches('"');
    let mut fragment = json!({"type": "event-record-class", "id": number(lines, "id"),
        "data-stream-class-id": number(lines, "stream_id"), "name": name,
        "payload-field-class": fields(lines, "fields := struct {", "event-record-payload").unwrap()});
    if let Some(level) = lines.iter().find_map(|line| assigned(line, "loglevel")) {
        let (_, level) = LOG_LEVELS.iter().find(|(number, _)| *number == level).unwrap();
        fragment["attributes"] = json!({"lttng.org,2009": {"log-level": level}});
    }
    fragment
}

/// The structure that begins with a line.
fn fields(lines: &[&str], begin: &str, origin: &str) -> Option<Value> {
    let begin = lines.iter().position(|line| *line == begin)?;
    let mut lines = lines[begin + 1..].iter().take_while(|line| **line != "};");
    let mut members = Vec::new();
    while let Some(line) = lines.next() {
        let (class, declared) = if let Some(container) = line.strip_prefix("enum : ") {
            let mut mappings = Map::new();
            let end = lines.find(|line| match line.strip_prefix('"') {
                Some(label) => {
                    let (label, values) = label.trim_end_matches(',').split_once("\" = ").unwrap();
                    let (first, last) = values.split_once(" ... ").unwrap_or((values, values));
                    let [first, last] = [first, last].map(|value| value.trim().parse::<i64>().unwrap());
                    mappings.insert(label.into(), json!([[first, last]]));
                    false
                }
                None => true,
            });
            let mut class = integer(container);
            class["mappings"] = mappings.into();
            (class, end.unwrap().trim_start_matches("} "))
        } else if let Some(declared) = line.strip_prefix("string ") {
            (json!({"type": "null-terminated-string"}), declared)
        } else if line.starts_with("floating_point ") {
            let length = if line.contains("mant_dig = 24;") { 32 } else { 64 };
            let class = json!({"type": "fixed-length-floating-point-number", "length": length,
                "byte-order": "little-endian", "alignment": 8});
            (class, line.split_once("} ").unwrap().1)
        } else {
            (integer(line), line.split_once("} ").unwrap().1)
        };
        let declared = declared.trim_end_matches(';');
        let (name, length) = declared.split_once('[').unwrap_or((declared, ""));
        let class =
            array(class, line.contains("encoding = UTF8;"), length.trim_end_matches(']').trim(), origin);
        members.push(member(name.strip_prefix('_').unwrap(), class));
    }
    Some(json!({"type": "structure", "member-classes": members}))
}

/// `integer { size = 8; align = 8; signed = 1; … }`
fn integer(line: &str) -> Value {
    let attribute = |name: &str| {
        let (_, rest) = line.split_once(&format!("{name} = ")).unwrap();
        rest.split_once(';').unwrap().0.parse::<u64>().unwrap()
    };
    let sign = if attribute("signed") == 1 { "signed" } else { "unsigned" };
    json!({"type": format!("fixed-length-{sign}-integer"), "length": attribute("size"),
        "alignment": attribute("align"), "byte-order": "little-endian", "preferred-display-base": attribute("base")})
}

/// A class, or an array of it if there is a length, which may be the name of a field.
fn array(element: Value, is_text: bool, length: &str, origin: &str) -> Value {
    let mut class = match (length, is_text) {
        ("", _) => return element,
        (_, true) => json!({"type": "string"}),
        (_, false) => json!({"type": "array", "element-field-class": element}),
    };
    let kind = class["type"].as_str().unwrap().to_owned();
    if let Ok(length) = length.parse::<u64>() {
        class["length"] = length.into();
        class["type"] = format!("static-length-{kind}").into();
    } else {
        let name = length.strip_prefix('_').unwrap();
        class["length-field-location"] = json!({"origin": origin, "path": [name]});
        class["type"] = format!("dynamic-length-{kind}").into();
    }
    class
}

fn member(name: &str, class: Value) -> Value {
    json!({"name": name, "field-class": class})
}

fn unsigned(length: u32, alignment: u32, roles: &[&str]) -> Value {
    json!({"type": "fixed-length-unsigned-integer", "length": length, "alignment": alignment,
        "byte-order": "little-endian", "roles": roles})
}

fn packet_header() -> Value {
    json!({"type": "structure", "minimum-alignment": 8, "member-classes": [
        member("magic", unsigned(32, 8, &["packet-magic-number"])),
        member("uuid", json!({"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]})),
        member("stream_id", unsigned(32, 8, &["data-stream-class-id"])),
        member("stream_instance_id", unsigned(64, 8, &["data-stream-id"])),
    ]})
}

fn packet_context() -> Value {
    json!({"type": "structure", "member-classes": [
        member("timestamp_begin", unsigned(64, 8, &["default-clock-timestamp"])),
        member("timestamp_end", unsigned(64, 8, &["packet-end-default-clock-timestamp"])),
        member("content_size", unsigned(64, 8, &["packet-content-length"])),
        member("packet_size", unsigned(64, 8, &["packet-total-length"])),
        member("packet_seq_num", unsigned(64, 8, &["packet-sequence-number"])),
        member("events_discarded", unsigned(64, 8, &["discarded-event-record-counter-snapshot"])),
        member("cpu_id", unsigned(32, 8, &[])),
    ]})
}

fn header(id_bits: u32, timestamp_bits: u32, align: u32) -> Value {
    let (id_role, clock_role) = (["event-record-class-id"], ["default-clock-timestamp"]);
    let last = (1 << id_bits) - 1;
    let mut id = unsigned(id_bits, align, &id_role);
    id["mappings"] = json!({"compact": [[0, last - 1]], "extended": [[last, last]]});
    let compact = [member("timestamp", unsigned(timestamp_bits, align, &clock_role))];
    let extended =
        [member("id", unsigned(32, 8, &id_role)), member("timestamp", unsigned(64, 8, &clock_role))];
    json!({"type": "structure", "minimum-alignment": 8, "member-classes": [
        member("id", id),
        member("v", json!({"type": "variant",
            "selector-field-location": {"origin": "event-record-header", "path": ["id"]},
            "options": [
                {"name": "compact", "selector-field-ranges": [[0, last - 1]],
                    "field-class": {"type": "structure", "member-classes": compact}},
                {"name": "extended", "selector-field-ranges": [[last, last]],
                    "field-class": {"type": "structure", "member-classes": extended}},
            ]})),
    ]})
}
