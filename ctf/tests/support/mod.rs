//! What the tests of both sources need: traces, and a collector that keeps every event as text.

use std::collections::BTreeMap;
#[cfg(feature = "babeltrace2")]
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "babeltrace2")]
use ltt_top::source::babeltrace2::Babeltrace2;
use ltt_top::source::discover::discover;
use ltt_top::source::native::Native;
use ltt_top::source::{Collect, EventClass, Events, Progress, Report, Scope, Source, Window};
use lttng_testing::Trace;

pub mod ctf2;
mod recording;
mod shared_trace;
mod tracee;
mod value_text;

pub use recording::{PACKET, Recording, copy_folder};
pub use shared_trace::SharedTrace;
pub use tracee::Tracee;
use value_text::text;

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

/// Keeps all events with all fields.
#[derive(Default)]
pub struct KeepAll {
    classes: BTreeMap<usize, Arc<EventClass>>,
    pub events: Vec<Seen>,
}

impl Collect for KeepAll {
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        assert!(self.classes.insert(class.index, Arc::clone(class)).is_none(), "asked about once");
        Some((0..class.fields.len()).collect())
    }

    fn events(&mut self, events: &Events<'_>) {
        let class = &self.classes[&events.class];
        for event in events.iter() {
            let (mut contexts, mut fields) = (Vec::new(), Vec::new());
            for (index, field) in class.fields.iter().enumerate() {
                let value = text(&event.value(index));
                match field.scope {
                    Scope::Environment => {}
                    Scope::Payload => fields.push((field.name.clone(), value)),
                    _ => contexts.push((field.name.clone(), value)),
                }
            }
            let timestamp = event.timestamp();
            self.events.push(Seen { timestamp, name: class.name.clone(), contexts, fields });
        }
    }

    fn split(&self) -> Self {
        Self { classes: self.classes.clone(), events: Vec::new() }
    }

    fn absorb(&mut self, other: Self) {
        self.events.extend(other.events);
    }
}

/// Reads all events with every source, in the order of time.
pub fn read(folder: &Path) -> (Vec<Seen>, Report) {
    read_window(folder, Window::default())
}

/// Reads the events of a window with every source, in the order of time. The sources must agree.
pub fn read_window(folder: &Path, window: Window) -> (Vec<Seen>, Report) {
    let discovery = discover(&[folder]).expect("there is a trace");
    let mut native = Native::open(discovery.clone()).expect("its metadata can be read");
    let (events, report) = read_source(&mut native, window);
    #[cfg(feature = "babeltrace2")]
    {
        let (others, other) = read_source(&mut Babeltrace2::new(discovery), window);
        assert_same(&others, &events);
        // They say it in other words, and one may know more places in a file.
        let places = |report: &Report| -> BTreeSet<_> {
            report.damage.iter().map(|damage| damage.path.clone()).collect()
        };
        assert_eq!(places(&other), places(&report));
        assert_eq!(Report { damage: report.damage.clone(), ..other }, report);
    }
    (events, report)
}

/// Reads the events of a window with one source, in the order of time.
pub fn read_source(source: &mut impl Source, window: Window) -> (Vec<Seen>, Report) {
    let (all, report) =
        source.read(window, KeepAll::default(), &Progress::default()).expect("it can be read");
    let mut events = all.events;
    events.sort();
    assert_eq!(events.len() as u64, report.events);
    (events, report)
}

/// What Babeltrace 1 reads from the folder or those below it, in the order of time.
///
/// It reads them one by one, because of several at once it sets all clocks to the mean of their offsets.
pub fn oracle(trace: &Trace) -> Vec<Seen> {
    let folders = trace.metadata_folders();
    let mut events: Vec<Seen> =
        folders.iter().flat_map(|folder| Trace::open(folder).events()).map(Seen::from).collect();
    events.sort();
    events
}

/// Compares events, and shows the first difference rather than all of them.
#[track_caller]
pub fn assert_same(read: &[Seen], expected: &[Seen]) {
    if let Some((read, expected)) = read.iter().zip(expected).find(|(read, expected)| read != expected) {
        panic!("read     {read:?}\nexpected {expected:?}");
    }
    assert_eq!(read.len(), expected.len());
}
