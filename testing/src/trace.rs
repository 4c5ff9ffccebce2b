//! Reading a trace back with Babeltrace.
//!
//! With `--names all` and `--no-delta` both of its versions print an event a line, every part of it named:
//!
//! ```text
//! timestamp = 17.000000001, trace:hostname = vm, name = a:b, stream.event.context = { vpid = 7 }, event.fields = { x = 1 }
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::CommandInTime as _;
use crate::not_run::missing;

/// A recorded trace.
#[derive(Debug)]
pub struct Trace {
    folder: PathBuf,
}

/// An event as Babeltrace prints it.
///
/// Values are kept as the text that Babeltrace prints: `"text"` for a string, `( "UNIX" : container = 1 )`
/// for an enumeration, `[ [0] = 1, [1] = 2 ]` for an array. Bytes that are not UTF-8 show as U+FFFD there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When: nanoseconds since 1970.
    pub timestamp: i64,
    /// The full name, e.g. `valkey_db:expire_del`.
    pub name: String,
    /// The contexts by name: `cpu_id` and those that the session added.
    pub contexts: Vec<(String, String)>,
    /// The fields by name, in the order of the trace.
    pub fields: Vec<(String, String)>,
    /// The line that Babeltrace printed, byte for byte.
    pub line: Vec<u8>,
}

impl Trace {
    /// The trace in this folder or the folders below it.
    pub fn open(folder: &Path) -> Trace {
        Trace { folder: folder.to_owned() }
    }

    /// The folder of the trace.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All events, in the order of their times.
    pub fn events(&self) -> Vec<Event> {
        self.events_read_by("babeltrace")
    }

    /// The events that `babeltrace` or `babeltrace2` reads. The latter, in version 2.0.4, prints stale bytes for strings of
    /// length 0.
    pub fn events_read_by(&self, program: &str) -> Vec<Event> {
        self.events_of_lines(program, "")
    }

    /// The events of those lines that have a text in them.
    fn events_of_lines(&self, program: &str, text: &str) -> Vec<Event> {
        // Babeltrace takes a folder without any trace in it for an error.
        if self.metadata_folders().is_empty() {
            return Vec::new();
        }
        let printed = run(program, &["--names=all", "--no-delta", "--clock-seconds"], &self.folder);
        let lines = printed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.filter(|line| String::from_utf8_lossy(line).contains(text)).map(Event::parse).collect()
    }

    /// The events with this name.
    pub fn events_named(&self, name: &str) -> Vec<Event> {
        // To take a line apart takes much longer than to search it.
        let events = self.events_of_lines("babeltrace", &format!("name = {name}"));
        events.into_iter().filter(|event| event.name == name).collect()
    }

    /// The text of the metadata of the first trace.
    pub fn metadata(&self) -> String {
        let folders = self.metadata_folders();
        let folder = folders.first().expect("the session has recorded something");
        String::from_utf8(run("babeltrace", &["--output-format=ctf-metadata"], folder))
            .expect("metadata is UTF-8")
    }

    /// The declarations of events in the metadata by name, without the numbers that differ between traces.
    pub fn declarations(&self) -> BTreeMap<String, String> {
        declarations(&self.metadata())
    }

    /// The folders that hold a `metadata` file, in order.
    pub fn metadata_folders(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.folder.clone()];
        while let Some(folder) = open.pop() {
            if folder.join("metadata").exists() {
                found.push(folder.clone());
            }
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            open.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir()));
        }
        found.sort();
        found
    }
}

/// The declarations of events in the text of a metadata file, as [`Trace::declarations`] has them.
pub fn declarations(metadata: &str) -> BTreeMap<String, String> {
    let bodies = metadata.split("\nevent {\n").skip(1).filter_map(|rest| rest.split_once("\n};"));
    bodies
        .map(|(body, _)| {
            let numbered = |line: &&str| line.starts_with("\tid = ") || line.starts_with("\tstream_id = ");
            let lines: Vec<_> = body.lines().filter(|line| !numbered(line)).collect();
            let name = lines.first().and_then(|line| line.split('"').nth(1)).expect("the name comes first");
            (name.to_owned(), lines[1..].join("\n"))
        })
        .collect()
}

impl Event {
    /// A field's value as Babeltrace prints it.
    pub fn field(&self, name: &str) -> &str {
        value(&self.fields, name).unwrap_or_else(|| panic!("no field {name} in {self:?}"))
    }

    /// A context's value as Babeltrace prints it.
    pub fn context(&self, name: &str) -> &str {
        value(&self.contexts, name).unwrap_or_else(|| panic!("no context {name} in {self:?}"))
    }

    fn parse(line: &[u8]) -> Event {
        let text = String::from_utf8_lossy(line);
        let parts = members(&text);
        let part = |name| value(&parts, name).unwrap_or_else(|| panic!("no {name} in: {text}"));
        let scope = |name| value(&parts, name).map(|part| members(inside(part))).unwrap_or_default();
        let contexts = ["stream.packet.context", "stream.event.context", "event.context"];
        Event {
            timestamp: part("timestamp").replace('.', "").parse().expect("seconds.nanoseconds"),
            name: part("name").to_owned(),
            contexts: contexts.into_iter().flat_map(scope).collect(),
            fields: scope("event.fields"),
            line: line.to_owned(),
        }
    }
}

fn value<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// `{ x = 1 }` → ` x = 1 `
fn inside(braced: &str) -> &str {
    braced.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(braced)
}

/// `x = 1, y = [ [0] = 2, [1] = 3 ]` → x and y with their values: splits at commas outside of brackets and
/// quotes. A quoted text ends at a quote before a comma, a closing bracket or the colon of an enumeration.
fn members(text: &str) -> Vec<(String, String)> {
    let mut members = Vec::new();
    let mut depth = 0;
    let mut quoted = false;
    let mut start = 0;
    for (index, character) in text.char_indices() {
        match character {
            '"' if quoted => {
                let rest = text[index + 1..].trim_start();
                quoted = !(rest.is_empty() || rest.starts_with([',', '}', ']', ')', ':']));
            }
            '"' => quoted = true,
            _ if quoted => {}
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                members.extend(pair(&text[start..index]));
                start = index + 1;
            }
            _ => {}
        }
    }
    members.extend(pair(&text[start..]));
    members
}

fn pair(member: &str) -> Option<(String, String)> {
    let (name, value) = member.split_once(" = ")?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}

fn run(program: &str, options: &[&str], folder: &Path) -> Vec<u8> {
    let mut command = Command::new(program);
    command.args(options).arg(folder);
    let output = command.output_in_time().unwrap_or_else(|error| panic!("{}", missing(program, &error)));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    output.stdout
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_babeltrace_comes_apart() {
        let event = Event::parse(
            br#"timestamp = 17.000000001, trace:hostname = vm, name = a:b, stream.packet.context = { cpu_id = 0 }, stream.event.context = { vpid = 7, procname = "x y" }, event.fields = { e = ( "UNIX" : container = 1 ), s = "a, "b" { c", l = [ [0] = 1, [1] = 2 ], n = 0 }"#,
        );
        assert_eq!(event.timestamp, 17_000_000_001);
        assert_eq!(event.name, "a:b");
        assert_eq!(event.context("cpu_id"), "0");
        assert_eq!(event.context("procname"), r#""x y""#);
        assert_eq!(event.field("e"), r#"( "UNIX" : container = 1 )"#);
        assert_eq!(event.field("s"), r#""a, "b" { c""#);
        assert_eq!(event.field("l"), "[ [0] = 1, [1] = 2 ]");
        assert_eq!(event.field("n"), "0");
    }
}
