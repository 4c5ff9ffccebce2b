//! Gathers from a trace what LTTng-UST recorded of the binaries of processes.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{Collect, EventClass, Events, Field, Scope, Trace, Value, Wanted};

use super::mappings::{Mappings, MemoryChange, ProcessKey};

/// The most changes that are kept, so that a trace full of them does not fill the memory.
const CHANGES: usize = 1 << 20;

/// The longest path, as in Linux.
const PATH_LENGTH: usize = 4096;

/// The longest build ID; those of linkers have 8 to 32 bytes.
const BUILD_ID_LENGTH: usize = 64;

/// What the events of a class report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    DumpStarts,
    Loaded { is_new: bool },
    Build,
    Unloaded,
}

impl Topic {
    fn of(event: &str) -> Option<Topic> {
        Some(match event {
            "lttng_ust_statedump:start" => Topic::DumpStarts,
            "lttng_ust_statedump:bin_info" => Topic::Loaded { is_new: false },
            "lttng_ust_lib:load" | "lttng_ust_dl:dlopen" | "lttng_ust_dl:dlmopen" => {
                Topic::Loaded { is_new: true }
            }
            "lttng_ust_statedump:build_id" | "lttng_ust_lib:build_id" | "lttng_ust_dl:build_id" => {
                Topic::Build
            }
            "lttng_ust_lib:unload" => Topic::Unloaded,
            _ => return None,
        })
    }

    /// The payload fields that it needs.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Topic::DumpStarts => &[],
            Topic::Loaded { .. } => &["baddr", "memsz", "path"],
            Topic::Build => &["baddr", "build_id"],
            Topic::Unloaded => &["baddr"],
        }
    }
}

/// Whether events of this name report which binaries a process has.
pub(crate) fn is_about_mappings(event: &str) -> bool {
    Topic::of(event).is_some()
}

/// A change as it was recorded.
#[derive(Clone, Debug)]
struct RecordedChange {
    timestamp: i64,
    trace: usize,
    pid: Option<i128>,
    change: MemoryChange,
}

/// What is known of a class.
#[derive(Clone, Debug)]
struct LoadClass {
    topic: Topic,
    trace: usize,
    /// The fields of the topic, in their order.
    fields: Vec<Field>,
    pid: Option<Field>,
}

/// Gathers changes of all processes.
#[derive(Debug, Default)]
pub(super) struct MappingCollector {
    classes: Vec<Option<LoadClass>>,
    records: Vec<RecordedChange>,
    /// Paths are the same for many processes.
    paths: HashMap<Box<[u8]>, Arc<str>>,
}

impl MappingCollector {
    /// All changes in the order of time.
    pub fn into_mappings(mut self, traces: &[Trace]) -> Mappings {
        // Stable: what one thread recorded at the same time stays in its order.
        self.records.sort_by_key(|record| record.timestamp);
        Mappings::new(self.records.into_iter().map(|RecordedChange { timestamp, trace, pid, change }| {
            let host = traces.get(trace).and_then(|trace| trace.environment("hostname"));
            (ProcessKey { host, pid }, timestamp, change)
        }))
    }
}

/// A path, which is kept once.
fn path(paths: &mut HashMap<Box<[u8]>, Arc<str>>, bytes: &[u8]) -> Option<Arc<str>> {
    if bytes.len() > PATH_LENGTH {
        return None;
    }
    if let Some(known) = paths.get(bytes) {
        return Some(Arc::clone(known));
    }
    let path: Arc<str> = std::str::from_utf8(bytes).ok()?.into();
    paths.insert(bytes.into(), Arc::clone(&path));
    Some(path)
}

impl Collect for MappingCollector {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        let topic = Topic::of(&class.name)?;
        let payload =
            |name: &&str| class.field(name).filter(|&field| class.fields[field].scope == Scope::Payload);
        let mut wanted = Wanted::of(class);
        let fields = topic.fields().iter().map(|name| Some(wanted.value_at(payload(name)?)));
        let fields = fields.collect::<Option<Vec<Field>>>()?;
        let pid = wanted.field("vpid");
        if self.classes.len() <= class.index {
            self.classes.resize(class.index + 1, None);
        }
        self.classes[class.index] = Some(LoadClass { topic, trace: class.trace, fields, pid });
        Some(wanted)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let MappingCollector { classes, records, paths } = self;
        let Some(Some(LoadClass { topic, trace, fields, pid })) = classes.get(events.class) else {
            return ControlFlow::Continue(());
        };
        for event in events.iter() {
            if records.len() >= CHANGES {
                break;
            }
            let value = |place: usize| event.value(fields[place]);
            let number = |place| integer(&value(place)).and_then(|number| u64::try_from(number).ok());
            let change = match *topic {
                Topic::DumpStarts => Some(MemoryChange::DumpStarts),
                Topic::Unloaded => number(0).map(|begin| MemoryChange::Unloaded { begin }),
                Topic::Loaded { is_new } => match (number(0), number(1), value(2)) {
                    (Some(begin), Some(length), Value::Text(path)) => self::path(paths, path)
                        .map(|path| MemoryChange::Loaded { begin, length, path, is_new }),
                    _ => None,
                },
                Topic::Build => match (number(0), bytes(&value(1))) {
                    (Some(begin), Some(id)) => Some(MemoryChange::Build { begin, id: id.into() }),
                    _ => None,
                },
            };
            let pid = pid.and_then(|field| vpid(&event.value(field)));
            let (timestamp, trace) = (event.timestamp(), *trace);
            records.extend(change.map(|change| RecordedChange { timestamp, trace, pid, change }));
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        MappingCollector { classes: self.classes.clone(), ..MappingCollector::default() }
    }

    fn absorb(&mut self, other: Self) {
        let room = CHANGES - self.records.len().min(CHANGES);
        self.records.extend(other.records.into_iter().take(room));
    }
}

/// A process ID: a number in a context, a text in the environment of a trace.
pub fn vpid(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
        number => integer(number),
    }
}

fn integer(value: &Value<'_>) -> Option<i128> {
    match *value {
        Value::Unsigned(number) => Some(number.into()),
        Value::Signed(number) => Some(number.into()),
        _ => None,
    }
}

/// The bytes of a build ID, which is recorded as a sequence of numbers.
fn bytes(value: &Value<'_>) -> Option<Vec<u8>> {
    let Value::List(list) = value else { return None };
    let is_whole = list.length == list.elements.len() as u64 && list.elements.len() <= BUILD_ID_LENGTH;
    let byte = |element: &Value<'_>| integer(element).and_then(|number| u8::try_from(number).ok());
    list.elements
        .iter()
        .filter(|_| is_whole)
        .map(byte)
        .collect::<Option<Vec<u8>>>()
        .filter(|id| !id.is_empty())
}
