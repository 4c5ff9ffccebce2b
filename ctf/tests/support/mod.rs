//! Traces to read, and a collector that keeps every event as text.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use ctf_reader::{
    Collect, Collected, EventClass, Events, Progress, Reader, Report, Scope, Step, Wanted, Window, all_fields,
};
use lttng_testing::{Session, Trace};

mod columns;
pub mod digests;
mod recording;
mod shared_trace;
mod tracee;
pub mod value_text;

use digests::AllValues;
pub use recording::{PACKET, Recording, copy_folder};
pub use shared_trace::SharedTrace;
pub use tracee::Tracee;
use value_text::text;

/// Small buffers, so that events are lost or fill many packets.
pub const SMALL: &[&str] = &["--subbuf-size=4096", "--num-subbuf=2"];

/// Has a session record events into a channel with these options, with these contexts.
pub fn recording<'d>(
    session: Session<'d>,
    channel: &[&str],
    events: &[&str],
    contexts: &[&str],
) -> Session<'d> {
    session.lttng("enable-channel", [&["--userspace", "own"], channel].concat());
    events.iter().for_each(|events| session.enable_with(events, &["--channel=own"]));
    for context in contexts {
        session.lttng("add-context", ["--userspace", "--channel=own", "--type", context]);
    }
    session.start();
    session
}

/// An event as text, in the words of Babeltrace 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    pub timestamp: i64,
    pub name: String,
    pub contexts: Vec<(String, String)>,
    pub fields: Vec<(String, String)>,
}

impl Seen {
    /// A context or field.
    pub fn value(&self, name: &str) -> &str {
        let (_, value) = self
            .fields
            .iter()
            .chain(&self.contexts)
            .find(|(key, _)| key == name)
            .expect("the field is there");
        value
    }
}

impl From<lttng_testing::Event> for Seen {
    fn from(event: lttng_testing::Event) -> Self {
        Self { timestamp: event.timestamp, name: event.name, contexts: event.contexts, fields: event.fields }
    }
}

/// Of how many batches of events all ways of reading are compared: it takes as long as all else.
const CHECKED: usize = 16;

/// Keeps all events with all fields.
#[derive(Default)]
pub struct KeepAll {
    classes: BTreeMap<usize, Arc<EventClass>>,
    events: Vec<Seen>,
    /// The environment that came with the events of each trace, by the trace's index.
    environments: BTreeMap<usize, Vec<(String, String)>>,
    checked: usize,
}

impl KeepAll {
    /// The events in the order of time, once they agree with what the report says.
    pub fn into_events(self, report: &Report) -> Vec<Seen> {
        for (&trace, environment) in &self.environments {
            assert_eq!(*environment, report.traces[trace].environment);
        }
        let mut events = self.events;
        events.sort();
        assert_eq!(events.len() as u64, report.events);
        events
    }
}

impl Collect for KeepAll {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        assert!(self.classes.insert(class.index, Arc::clone(class)).is_none(), "asked about once");
        all_fields(class)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let class = &self.classes[&events.class];
        if self.checked < CHECKED {
            columns::check(class, events);
            self.checked += 1;
        }
        for event in events.iter() {
            let (mut contexts, mut fields) = (Vec::new(), Vec::new());
            for (field, handle) in class.fields.iter().zip(Wanted::all(class).fields()) {
                let value = || text(&event.value(handle));
                match field.scope {
                    Scope::Environment => {}
                    Scope::Payload => fields.push((field.name.to_string(), value())),
                    _ => contexts.push((field.name.to_string(), value())),
                }
            }
            let timestamp = event.timestamp();
            self.events.push(Seen { timestamp, name: class.name.clone(), contexts, fields });
        }
        // The same for all of them.
        let wanted = Wanted::all(class);
        let fields = class.fields.iter().zip(wanted.fields());
        let environment = fields.filter(|(field, _)| field.scope == Scope::Environment);
        let value = |handle| text(&events.get(0).value(handle)).trim_matches('"').to_owned();
        let environment = environment.map(|(field, handle)| (field.name.to_string(), value(handle)));
        self.environments.insert(class.trace, environment.collect());
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        Self { classes: self.classes.clone(), ..Self::default() }
    }

    fn absorb(&mut self, other: Self) {
        self.events.extend(other.events);
        self.environments.extend(other.environments);
    }
}

/// Reads all events in the order of time.
pub fn read(folder: &Path) -> (Vec<Seen>, Report) {
    crate::read_window(folder, Window::default())
}

/// Reads the events of a window in any order, and sorts them.
pub fn read_all(reader: &Reader, window: Window) -> (Vec<Seen>, Report) {
    let Collected { collector, report, .. } = reader.read(window, KeepAll::default(), &Progress::default());
    (collector.into_events(&report), report)
}

/// Reads the events of a window in any order and in the order of time, which must be the same events and report.
/// Returns also whether they were in the order of time.
pub fn read_both_ways(reader: &Reader, window: Window) -> (Vec<Seen>, Report, bool) {
    let (events, report) = read_all(reader, window);
    let mut kept = KeepAll::default();
    reader.classes().for_each(|class| drop(kept.want(class)));
    let digester = AllValues::of(reader);
    let mut ordered = reader.in_order(window, all_fields).with_digester(digester.clone());
    while let Step::Event(event) = ordered.next_event() {
        digester.check(&event);
        let ControlFlow::Continue(()) = kept.events(&event.events());
    }
    let is_sorted = kept.events.is_sorted_by_key(|event| event.timestamp);
    assert_eq!(ordered.report(), report);
    assert_same(&kept.into_events(&report), &events);
    (events, report, is_sorted)
}

/// Reads the events of a window in the order of time. Where the clock did not run backwards, that is the order in which
/// the reader hands them out.
pub fn read_in_order(reader: &Reader, window: Window) -> (Vec<Seen>, Report) {
    let (events, report, is_sorted) = read_both_ways(reader, window);
    assert!(is_sorted || report.clock_steps.count > 0, "not in the order of time");
    (events, report)
}

/// What Babeltrace 1 and 2 read from the folder or those below it, in the order of time. They must agree.
///
/// They read them one by one, because of several at once version 1 sets all clocks to the mean of their offsets.
pub fn oracle(trace: &Trace) -> Vec<Seen> {
    let mut events = Vec::new();
    for folder in trace.metadata_folders() {
        let [first, second] = ["babeltrace", "babeltrace2"].map(|program| {
            let events: Vec<Seen> =
                Trace::open(&folder).events_read_by(program).into_iter().map(Seen::from).collect();
            assert!(events.is_sorted_by_key(|event| event.timestamp), "{program} has another order");
            events
        });
        assert_agree(first.clone(), second);
        events.extend(first);
    }
    events.sort();
    events
}

/// Compares what the two versions read, except for empty strings, for which version 2.0.4 prints stale bytes. It also
/// escapes what version 1 does not.
#[track_caller]
fn assert_agree(mut first: Vec<Seen>, mut second: Vec<Seen>) {
    for (one, other) in first.iter().zip(&mut second) {
        let other = other.fields.iter_mut().chain(&mut other.contexts);
        for ((_, known), (_, value)) in one.fields.iter().chain(&one.contexts).zip(other) {
            match known == "\"\"" {
                true => value.clone_from(known),
                false => *value = value.replace("\\t", "\t").replace("\\\"", "\""),
            }
        }
    }
    // Events of one time come in any order.
    first.sort();
    second.sort();
    assert_same(&second, &first);
}

/// Compares events, and shows the first difference rather than all of them.
#[track_caller]
pub fn assert_same(read: &[Seen], expected: &[Seen]) {
    if let Some((read, expected)) = read.iter().zip(expected).find(|(read, expected)| read != expected) {
        panic!("read     {read:?}\nexpected {expected:?}");
    }
    assert_eq!(read.len(), expected.len());
}
