//! Hand-written traces, one file a claim, for what LTTng-UST does not write here: other layouts, and damage.
//!
//! A case is a text file in `cases/`: metadata, in which `␞` stands for a record separator, then `== stream`
//! with the bytes of a stream file, then `== events` with what is read from it, an event a line, its contexts before a
//! `|`, and what is reported besides. Bytes are written as
//!
//! ```text
//! C1 1F       bytes, in hexadecimal
//! 00*12       a byte so many times
//! le32:7      a number of 8, 16, 32 or 64 bits in little-endian order; be32:7 in big-endian order
//! "text"      text and a NUL
//! # …         a comment up to the end of the line
//! ```
//!
//! `OVERWRITE=1` rewrites what is expected. Each case is also read one field at a time, which must not change
//! any value: what is not wanted is stepped over by other code than what is.

use std::convert::Infallible;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ctf_reader::{Collect, Collected, EventClass, Events, Progress, Reader, Report, Scope, Window, all_fields};

#[path = "support/value_text.rs"]
mod value_text;

/// An event: its time, its class, and a text for each field that was wanted.
type Seen = (i64, usize, Vec<String>);

/// Keeps all events with some of their fields.
#[derive(Default)]
struct Keep {
    /// Only this field of each class, twice, or all.
    only: Option<usize>,
    classes: Vec<Arc<EventClass>>,
    events: Vec<Seen>,
}

impl Collect for Keep {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        assert_eq!(class.index, self.classes.len());
        self.classes.push(Arc::clone(class));
        let fields = 0..class.fields.len();
        Some(match self.only {
            Some(only) => fields.filter(|&field| only == field).flat_map(|field| [field, field]).collect(),
            None => fields.collect(),
        })
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let fields = self.classes[events.class].fields.len();
        let fields = if self.only.is_none() { fields } else { 2 * usize::from(self.only < Some(fields)) };
        for event in events.iter() {
            let values = (0..fields).map(|field| value_text::text(&event.value(field)));
            self.events.push((event.timestamp(), events.class, values.collect()));
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Keep {
        Keep { only: self.only, classes: self.classes.clone(), events: Vec::new() }
    }

    fn absorb(&mut self, other: Keep) {
        self.events.extend(other.events);
    }
}

struct Case {
    metadata: String,
    stream: String,
    expected: String,
}

impl Case {
    fn parse(text: &str) -> Case {
        let (metadata, rest) = text.split_once("== stream\n").expect("a case has `== stream`");
        let (stream, expected) = rest.split_once("== events\n").expect("a case has `== events`");
        let metadata = metadata.replace('␞', "\x1e");
        Case { metadata, stream: stream.into(), expected: expected.into() }
    }

    /// What is read, in the words of the case's last part.
    fn read(&self) -> String {
        let stream: Arc<[u8]> = bytes(&self.stream).into();
        let open =
            || Reader::from_bytes(self.metadata.as_bytes(), vec![("stream".into(), Arc::clone(&stream))]);
        let reader = match open() {
            Ok(reader) => reader,
            Err(error) => return format!("error: {error}\n"),
        };
        let read = |only: Option<usize>| -> (Keep, Report) {
            let collector = Keep { only, ..Keep::default() };
            let Collected { collector: mut kept, report, .. } =
                reader.read(Window::default(), collector, &Progress::default());
            // Only events of the same class are sure to come in their order.
            kept.events.sort_by_key(|(timestamp, ..)| *timestamp);
            (kept, report)
        };
        let (all, report) = read(None);
        let fields = all.classes.iter().map(|class| class.fields.len()).max().unwrap_or(0);
        for field in 0..=fields {
            let (one, one_report) = read(Some(field));
            assert_eq!(one_report, report);
            for ((_, _, alone), (_, _, among)) in one.events.iter().zip(&all.events) {
                assert_eq!(alone.first(), among.get(field), "field {field}");
                assert_eq!(alone.first(), alone.last(), "field {field}, the second time");
            }
        }
        let (in_order, ordered_report) = read_in_order(&reader);
        assert!(in_order.is_sorted_by_key(|(timestamp, ..)| *timestamp), "{in_order:?}");
        let sorted = |mut events: Vec<Seen>| {
            events.sort();
            events
        };
        assert_eq!(sorted(in_order), sorted(all.events.clone()), "in the order of time");
        assert_eq!(ordered_report, report, "in the order of time");
        describe(&all, &report)
    }
}

/// Reads all events in the order of time.
fn read_in_order(reader: &Reader) -> (Vec<Seen>, Report) {
    let mut events = reader.in_order(Window::default(), all_fields);
    let mut seen = Vec::new();
    while let Some(event) = events.next_event() {
        let values = (0..event.class().fields.len()).map(|field| value_text::text(&event.value(field)));
        seen.push((event.timestamp(), event.class().index, values.collect()));
    }
    (seen, events.report())
}

fn describe(kept: &Keep, report: &Report) -> String {
    let mut text = String::new();
    for (timestamp, class, values) in &kept.events {
        let class = &kept.classes[*class];
        let mut line = format!("{timestamp} {}", class.name);
        let fields: Vec<_> = class.fields.iter().zip(values).collect();
        for (field, value) in fields.iter().filter(|(field, _)| field.scope != Scope::Payload) {
            write!(line, " {}={value}", field.name).unwrap();
        }
        line += " |";
        for (field, value) in fields.iter().filter(|(field, _)| field.scope == Scope::Payload) {
            write!(line, " {}={value}", field.name).unwrap();
        }
        writeln!(text, "{line}").unwrap();
    }
    if report.discarded_events > 0 || report.lost_packets > 0 {
        writeln!(text, "discarded {} events, lost {} packets", report.discarded_events, report.lost_packets)
            .unwrap();
    }
    let steps = report.clock_steps;
    if steps.count > 0 {
        writeln!(text, "clock ran backwards: {} times, {} ns at most", steps.count, steps.largest_ns)
            .unwrap();
    }
    for damage in &report.damage {
        writeln!(text, "damage: {damage}").unwrap();
    }
    text
}

/// The bytes that the stream part of a case stands for.
fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text.lines() {
        let mut rest = line.split('#').next().unwrap().trim();
        while !rest.is_empty() {
            if let Some(quoted) = rest.strip_prefix('"') {
                let (string, after) = quoted.split_once('"').expect("a string ends on its line");
                bytes.extend_from_slice(string.as_bytes());
                bytes.push(0);
                rest = after.trim_start();
                continue;
            }
            let (token, after) = rest.split_once(' ').unwrap_or((rest, ""));
            number(token, &mut bytes);
            rest = after.trim_start();
        }
    }
    bytes
}

fn number(token: &str, bytes: &mut Vec<u8>) {
    let byte =
        |digits: &str| u8::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("`{token}` is no byte"));
    if let Some((digits, times)) = token.split_once('*') {
        bytes.resize(bytes.len() + times.parse::<usize>().unwrap(), byte(digits));
    } else if let Some((form, value)) = token.split_once(':') {
        let value = value.parse::<i128>().unwrap() as u64;
        let (order, size) = form.split_at(2);
        let size = size.parse::<usize>().unwrap() / 8;
        match order {
            "le" => bytes.extend_from_slice(&value.to_le_bytes()[..size]),
            _ => bytes.extend_from_slice(&value.to_be_bytes()[8 - size..]),
        }
    } else {
        bytes.push(byte(token));
    }
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut cases: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

#[test]
fn hand_written_traces_are_read_as_their_cases_say() {
    let overwrite = std::env::var_os("OVERWRITE").is_some();
    let mut wrong = Vec::new();
    for path in cases() {
        let text = std::fs::read_to_string(&path).unwrap();
        let case = Case::parse(&text);
        let read = case.read();
        if read != case.expected {
            wrong.push(format!("{}:\nread\n{read}expected\n{}", path.display(), case.expected));
            if overwrite {
                let input = &text[..text.len() - case.expected.len()];
                std::fs::write(&path, format!("{input}{read}")).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn there_are_many_cases_and_a_third_is_malformed() {
    let cases = cases();
    let malformed = cases.iter().filter(|path| {
        let case = Case::parse(&std::fs::read_to_string(path).unwrap());
        case.expected.contains("damage: ") || case.expected.starts_with("error: ")
    });
    let (all, malformed) = (cases.len(), malformed.count());
    assert!(all >= 40 && malformed * 3 >= all, "{malformed} of {all} are malformed");
}
