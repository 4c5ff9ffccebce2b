//! The processes that offer events.

use std::fs;

use super::lttng::lttng;
use super::proc::Stat;
use crate::outcome::Trouble;

/// A process that offers events.
#[derive(Debug, PartialEq, Eq)]
pub struct OfferingProcess {
    pub pid: u32,
    /// Its command, as LTTng knows it.
    pub name: String,
    pub events: Vec<OfferedEvent>,
}

/// An event that a process offers.
#[derive(Debug, PartialEq, Eq)]
pub struct OfferedEvent {
    /// With its provider: `valkey_db:expire_del`.
    pub name: String,
    pub log_level: String,
    /// Its fields, with their types.
    pub fields: Vec<(String, String)>,
}

impl OfferingProcess {
    /// A process that is known from `/proc` alone.
    pub fn unknown(pid: u32, stat: &Stat) -> OfferingProcess {
        // LTTng, too, takes the first argument for the command.
        let command = fs::read(format!("/proc/{}/cmdline", stat.pid)).unwrap_or_default();
        let title = command.split(|byte| *byte == 0).next().filter(|title| !title.is_empty());
        let name = title.map_or(stat.name.clone(), |title| String::from_utf8_lossy(title).into_owned());
        OfferingProcess { pid, name, events: Vec::new() }
    }

    /// The program: the first word of its title, without its folder.
    pub fn program(&self) -> &str {
        let first = self.name.split_whitespace().next().unwrap_or(&self.name);
        first.rsplit('/').next().unwrap_or(first).trim_end_matches(':')
    }

    /// Whether a user means this process by a name. Servers change their title to, e.g., `valkey-server *:6379`.
    pub fn is_called(&self, name: &str) -> bool {
        let file = |file: &str| format!("/proc/{}/{file}", self.pid);
        let executable = fs::read_link(file("exe")).ok();
        let executable = executable.as_ref().and_then(|path| path.file_name()?.to_str());
        self.name == name
            || self.program() == name
            || self.name.rsplit('/').next() == Some(name)
            || executable == Some(name)
            || fs::read_to_string(file("comm")).is_ok_and(|comm| comm.trim_end() == name)
    }
}

/// Asks the session daemon which processes offer events.
pub fn offering() -> Result<Vec<OfferingProcess>, Trouble> {
    parse(&lttng(["--mi", "xml", "list", "--userspace", "--fields"])?)
        .ok_or_else(|| Trouble::Failed("unexpected output of `lttng list`".into()))
}

/// Reads what `lttng` lists.
fn parse(xml: &str) -> Option<Vec<OfferingProcess>> {
    type Element<'a> = roxmltree::Node<'a, 'a>;
    fn children<'a>(node: Element<'a>, name: &'static str) -> impl Iterator<Item = Element<'a>> {
        node.descendants()
            .filter(move |child| child.has_tag_name(("https://lttng.org/xml/ns/lttng-mi", name)))
    }
    // Only direct children: nested elements may have the same name.
    fn text<'a>(node: Element<'a>, name: &str) -> &'a str {
        let own = node.children().find(|child| child.tag_name().name() == name);
        own.and_then(|child| child.text()).unwrap_or_default()
    }
    let document = roxmltree::Document::parse(xml).ok()?;
    let process = |node: Element<'_>| {
        let event = |node| OfferedEvent {
            name: text(node, "name").to_owned(),
            log_level: text(node, "loglevel").to_owned(),
            fields: children(node, "event_field")
                .map(|field| (text(field, "name").to_owned(), text(field, "type").to_lowercase()))
                .collect(),
        };
        let events = children(node, "event").map(event).collect();
        Some(OfferingProcess {
            pid: text(node, "id").parse().ok()?,
            name: text(node, "name").to_owned(),
            events,
        })
    };
    Some(children(document.root_element(), "pid").filter_map(process).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_called_as_users_call_them() {
        let process = |title: &str| OfferingProcess { pid: 0, name: title.into(), events: Vec::new() };
        for (title, name, is_it) in [
            ("/usr/bin/valkey-server *:6379", "valkey-server", true),
            ("valkey-server *:6379", "valkey-server", true),
            ("./a b", "./a b", true),
            ("./a b", "a b", true),
            ("nginx: worker process", "nginx", true),
            ("valkey-server *:6379", "valkey", false),
            ("sh -c valkey-server", "valkey-server", false),
            ("", "valkey-server", false),
        ] {
            assert_eq!(process(title).is_called(name), is_it, "{title}: {name}");
        }
    }

    #[test]
    fn list_of_lttng_is_read() {
        let xml = r#"<?xml version="1.0"?>
            <command xmlns="https://lttng.org/xml/ns/lttng-mi"><output><domains><domain><pids>
            <pid><id>7</id><name>./a b</name><events><event><name>p:e</name><loglevel>TRACE_INFO</loglevel>
            <event_fields><event_field><name>duration</name><type>INTEGER</type></event_field></event_fields>
            </event></events></pid><pid><id>8</id><name>c</name><events/></pid>
            </pids></domain></domains></output></command>"#;
        let fields = vec![("duration".into(), "integer".into())];
        let event = OfferedEvent { name: "p:e".into(), log_level: "TRACE_INFO".into(), fields };
        let expected = [
            OfferingProcess { pid: 7, name: "./a b".into(), events: vec![event] },
            OfferingProcess { pid: 8, name: "c".into(), events: Vec::new() },
        ];
        assert_eq!(parse(xml).unwrap(), expected);
        assert_eq!(parse("not XML"), None);
    }
}
