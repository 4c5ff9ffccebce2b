//! Hand-written traces, each a claim, for what LTTng-UST does not write here: other layouts, and damage.
//!
//! The files in `cases/` hold one case after another: `=== ` and its name, metadata, in which `␞` stands for a record separator, then `== stream`
//! with the bytes of a stream file, then `== events` with what is read from it, an event a line, its contexts before a
//! `|`, and what else is reported. Bytes are written as
//!
//! ```text
//! C1 1F       bytes, in hexadecimal
//! 00*12       a byte 12 times
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
use std::sync::Arc;

use ctf_reader::{
    Collect, Collected, EventClass, Events, Field, Progress, Reader, Report, Scope, Step, Wanted, Window,
    all_fields,
};
use lttng_testing::check_golden;

use crate::case::Case;
use crate::support::digests::AllValues;
use crate::support::value_text;

/// An event: its time, its class, and a text for each field that was wanted.
type EventText = (i64, usize, Vec<String>);

/// Keeps all events with some of their fields.
#[derive(Default)]
struct Keep {
    /// Only this field of each class, or all.
    only: Option<usize>,
    classes: Vec<Arc<EventClass>>,
    /// Of each class those that are wanted.
    fields: Vec<Vec<Field>>,
    events: Vec<EventText>,
}

impl Collect for Keep {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        assert_eq!(class.index, self.classes.len());
        self.classes.push(Arc::clone(class));
        let mut wanted = Wanted::of(class);
        let indexes = (0..class.fields.len()).filter(|&index| self.only.is_none_or(|only| only == index));
        self.fields.push(indexes.map(|index| wanted.value_at(index)).collect());
        Some(wanted)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        for event in events.iter() {
            let values = self.fields[events.class].iter().map(|&field| value_text::text(&event.value(field)));
            self.events.push((event.timestamp(), events.class, values.collect()));
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Keep {
        let (classes, fields) = (self.classes.clone(), self.fields.clone());
        Keep { only: self.only, classes, fields, events: Vec::new() }
    }

    fn absorb(&mut self, other: Keep) {
        self.events.extend(other.events);
    }
}

/// What is read, in the words of the case's last part.
fn read(name: &str, case: &Case) -> String {
    let streams = vec![("stream".into(), case.stream.as_slice().into())];
    let reader = match Reader::from_bytes(case.metadata.as_bytes(), streams) {
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
        assert_eq!(one_report, report, "{name}");
        for ((_, _, alone), (_, _, among)) in one.events.iter().zip(&all.events) {
            assert_eq!(alone.first(), among.get(field), "{name}, field {field}");
        }
    }
    let (in_order, ordered_report) = read_in_order(&reader);
    assert!(in_order.is_sorted_by_key(|(timestamp, ..)| *timestamp), "{name}: {in_order:?}");
    let sorted = |mut events: Vec<EventText>| {
        events.sort();
        events
    };
    assert_eq!(sorted(in_order), sorted(all.events.clone()), "{name} in the order of time");
    assert_eq!(ordered_report, report, "{name} in the order of time");
    describe(&all, &report)
}

/// Reads all events in the order of time.
fn read_in_order(reader: &Reader) -> (Vec<EventText>, Report) {
    let digester = AllValues::of(reader);
    let mut events = reader.in_order(Window::default(), all_fields).with_digester(digester.clone());
    let mut seen = Vec::new();
    while let Step::Event(event) = events.next_event() {
        digester.check(&event);
        let values = event.fields().map(|(_, value)| value_text::text(&value));
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

#[test]
fn hand_written_traces_are_read_as_their_cases_say() {
    let mut wrong = Vec::new();
    for path in Case::files() {
        let mut found = String::new();
        for (name, text) in Case::split(&std::fs::read_to_string(&path).unwrap()) {
            let (case, expected) = Case::parse(text);
            let input = text.strip_suffix(expected).unwrap();
            write!(found, "=== {name}\n{input}{}", read(name, &case)).unwrap();
        }
        wrong.extend(check_golden(path, &found).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn there_are_many_cases_and_a_third_is_malformed() {
    let (mut all, mut malformed) = (0, 0);
    for path in Case::files() {
        for (_, text) in Case::split(&std::fs::read_to_string(path).unwrap()) {
            let (_, expected) = Case::parse(text);
            all += 1;
            malformed += usize::from(expected.contains("damage: ") || expected.starts_with("error: "));
        }
    }
    assert!(all >= 140 && malformed * 3 >= all, "{malformed} of {all} are malformed");
}
