//! Where events come from.
//!
//! A source reads traces and hands each event to a [`Collect`]or. Reading is asked for, not pulled: a
//! collector says once for each event class which fields it wants, so that a source decodes these and
//! steps over the rest, and it can be split over threads, so that a source may read packets in parallel.
//!
//! ```text
//!            want(class) -> fields        events(…) events(…)
//! Collector <───────────────────── Source ─────────────────> Collector ──absorb──> Collector
//! ```
//!
//! The sources give the same for the same trace:
//!
//! - The fields of a class are those that the metadata declares, in CTF 1.8 with one leading underscore less. So a
//!   sequence `values` follows its length, which LTTng declares as `_values_length`. Of the packet context,
//!   those that describe the packet itself (times, sizes, counters) are left out.
//! - Folders that share a UUID are one trace, and a packet that several of them have is read once.
//! - Of a packet that is cut short, was left open by the tracer or holds a corrupt event, the events before
//!   that place are read.
//! - What a tracer discarded before the first packet that is there is not known and not counted, unless that
//!   packet is the stream's first.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

mod any;
#[cfg(feature = "babeltrace2")]
pub mod babeltrace2;
mod brief;
pub mod discover;
mod events;
pub mod native;
mod nothing;
mod value;

pub use any::{AnySource, Choice};
pub use brief::Brief;
pub use events::{Decoded, Event, Events, Fields};
pub use value::{Enumeration, Integer, Value};

/// Reads traces.
pub trait Source {
    /// The times of the first and the last event, without reading all of them where that can be avoided.
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error>;

    /// Reads all events in the window into the collector.
    ///
    /// What is damaged is left out and named in the report; an error is what leaves nothing to read.
    fn read<C: Collect>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error>;
}

/// How far reading has come; another thread may look at it meanwhile.
#[derive(Debug, Default)]
pub struct Progress {
    /// The size of all that is to be read, in bytes; 0 while it is not known.
    pub total: AtomicU64,
    /// How much of it has been read.
    pub done: AtomicU64,
}

/// Why nothing could be read: one line that says what, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Takes events in and sums them up.
///
/// A source calls [`want`](Collect::want) once for each event class before that class's first event. It
/// may then [`split`](Collect::split) the collector, feed the parts on several threads in any order, and
/// [`absorb`](Collect::absorb) them again: a collector's result must not depend on that.
pub trait Collect: Send + Sized {
    /// Which fields of the class to decode, as indexes into [`EventClass::fields`], in the order in which
    /// [`Events::fields`] shall have them. `None` steps over the class's events.
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>>;

    /// Takes events of a wanted class.
    fn events(&mut self, events: &Events<'_>);

    /// An empty collector that knows the classes this one has seen so far.
    fn split(&self) -> Self;

    /// Adds what another collector has gathered.
    fn absorb(&mut self, other: Self);
}

/// The number of an event class within one source, dense from 0.
pub type ClassIndex = usize;

/// What is known of all events of one kind in one trace.
#[derive(Debug)]
pub struct EventClass {
    /// The number of this class within its source.
    pub index: ClassIndex,
    /// The full name, e.g. `valkey_commands:command_call`.
    pub name: String,
    /// The numeric log level, where the trace has one.
    pub log_level: Option<i64>,
    /// All fields of all scopes, outermost scope first.
    pub fields: Vec<FieldClass>,
    /// The trace that the class belongs to, as an index into [`Report::traces`].
    pub trace: usize,
}

impl EventClass {
    /// The index of the field with this name; the payload's comes before a context's.
    pub fn field(&self, name: &str) -> Option<usize> {
        let in_scope = |innermost: bool| {
            self.fields.iter().position(|f| f.name == name && (f.scope == Scope::Payload) == innermost)
        };
        in_scope(true).or_else(|| in_scope(false))
    }
}

/// A field of an event class.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldClass {
    /// The name, without the underscore that LTTng puts before it in CTF 1.8.
    pub name: String,
    /// Where the field stands.
    pub scope: Scope,
    /// What its values are.
    pub kind: FieldKind,
}

/// Where a field stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The same for the whole trace, e.g. `hostname`, and with per-process buffers `vpid` and `procname`.
    Environment,
    /// The same for a packet: `cpu_id`.
    Packet,
    /// Recorded with each event of a stream, e.g. `vpid`.
    StreamContext,
    /// Recorded with each event of a class.
    EventContext,
    /// The event's own.
    Payload,
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A [`Value::Unsigned`] or [`Value::Signed`].
    Integer,
    /// A [`Value::Float`].
    Float,
    /// A [`Value::Text`].
    Text,
    /// A [`Value::Enum`].
    Enum,
    /// A [`Value::List`] or [`Value::Struct`].
    Compound,
}

/// What to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// Only events at this time or later, in nanoseconds since 1970.
    pub since: Option<i64>,
    /// Only events at this time or earlier.
    pub until: Option<i64>,
}

/// What was read, beside the events themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// All events in the window, of classes wanted or not.
    pub events: u64,
    /// The times of the first and the last of these events.
    pub span: Option<RangeInclusive<i64>>,
    /// Events that the tracer discarded because its buffers were full.
    pub discarded_events: u64,
    /// Packets that were overwritten before they were saved.
    pub lost_packets: u64,
    /// The traces, one for each UUID.
    pub traces: Vec<Trace>,
    /// What could not be read.
    pub damage: Vec<Damage>,
}

/// One trace: all folders that share a UUID.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The folders that directly hold a `metadata` file.
    pub folders: Vec<PathBuf>,
    /// The environment that the tracer recorded, e.g. `hostname`, in its order.
    pub environment: Vec<(String, String)>,
    /// How many streams (ring buffers) the trace has.
    pub streams: usize,
    /// How many packets reach into the window, each counted once.
    pub packets: u64,
}

/// Something that could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// The file or folder.
    pub path: PathBuf,
    /// The offset in the file, in bytes, where it is known.
    pub offset: Option<u64>,
    /// What is wrong, in words.
    pub reason: String,
}

impl Damage {
    /// Damage at no known offset.
    pub fn new(path: &Path, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), offset: None, reason: reason.into() }
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        write!(f, ": {}", self.reason)
    }
}
