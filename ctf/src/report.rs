//! What to read, how far reading has come, and what was found other than the events themselves.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Damage, Uuid};

/// What to read.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Nothing, Progress, Window};
///
/// let window = Window { since: Some(15), until: None };
/// let read = example().read(window, Nothing, &Progress::default());
/// assert_eq!(read.report.events, 2);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// Only events at this time or later, in nanoseconds since 1970.
    pub since: Option<i64>,
    /// Only events at this time or earlier.
    pub until: Option<i64>,
}

impl Window {
    /// The times in the window.
    pub(crate) fn limits(self) -> RangeInclusive<i64> {
        self.since.unwrap_or(i64::MIN)..=self.until.unwrap_or(i64::MAX)
    }
}

/// How far reading has come; another thread may look at it at any time.
#[derive(Debug, Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
}

impl Progress {
    /// The size of all that is to be read, in bytes; 0 while it is not known.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// How much of it has been read.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Begins again, for a further reading.
    pub fn restart(&self) {
        self.done.store(0, Ordering::Relaxed);
    }

    pub(crate) fn set_total(&self, bytes: u64) {
        self.total.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A time in which events of a trace are missing: the tracer discarded them, or overwrote a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// The trace, as an index into [`Report::traces`].
    pub trace: usize,
    /// The last time at which nothing was missing yet: nanoseconds since 1970.
    pub since: i64,
    /// The time from which on nothing is missing.
    pub until: i64,
}

impl Gap {
    /// A gap in the events of a trace, after a time and before another.
    pub fn new(trace: usize, since: i64, until: i64) -> Gap {
        Gap { trace, since, until }
    }
}

/// What was found while reading, other than the events themselves.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Nothing, Progress, Window};
///
/// let progress = Progress::default();
/// let report = example().read(Window::default(), Nothing, &progress).report;
/// assert_eq!(progress.done(), progress.total());
/// assert_eq!((report.events, report.span), (3, Some(10..=30)));
/// assert_eq!((report.discarded_events, report.lost_packets, report.clock_steps.count), (0, 0, 0));
/// assert_eq!(report.traces[0].environment("hostname"), Some("ada"));
/// assert!(report.damage.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// All events in the window, of classes wanted or not.
    pub events: u64,
    /// The times of the first and the last of these events.
    pub span: Option<RangeInclusive<i64>>,
    /// Events that the tracer discarded because its buffers were full.
    pub discarded_events: u64,
    /// Packets that were overwritten before they were saved.
    pub lost_packets: u64,
    /// Where clocks ran backwards.
    pub clock_steps: ClockSteps,
    /// The traces, one for each UUID.
    pub traces: Vec<Trace>,
    /// What could not be read.
    pub damage: Vec<Damage>,
}

/// How often, and how far, clocks ran backwards: from one event of a stream to the next, or from one packet to the next.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Nothing, Progress, Reader, Window};
///
/// // The second event is earlier than the first.
/// let packet = example_packet(0, &[(30, "Ada", 12), (10, "Grace", 1), (40, "Edsger", 0)]);
/// let reader = Reader::from_bytes(EXAMPLE_METADATA.as_bytes(), vec![("ch_0".into(), packet.into())])?;
/// let steps = reader.read(Window::default(), Nothing, &Progress::default()).report.clock_steps;
/// assert!(steps.count > 0);
/// # Ok::<(), ctf_reader::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClockSteps {
    /// The number of steps back.
    pub count: u64,
    /// The largest step back, in nanoseconds.
    pub largest_ns: u64,
}

impl ClockSteps {
    /// Counts one step back, from one time to an earlier one.
    pub(crate) fn step(&mut self, from: i64, to: i64) {
        self.add(ClockSteps { count: 1, largest_ns: from.abs_diff(to) });
    }

    /// Adds other steps.
    pub(crate) fn add(&mut self, other: ClockSteps) {
        self.count += other.count;
        self.largest_ns = self.largest_ns.max(other.largest_ns);
    }
}

/// One trace: all folders that share a UUID.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// The UUID, if it has one.
    pub uuid: Option<Uuid>,
    /// The folders that directly hold a `metadata` file.
    pub folders: Vec<PathBuf>,
    /// The environment that the tracer recorded, e.g. `hostname`, in its order.
    pub environment: Vec<(String, String)>,
    /// Which clock its times are of; LTTng's clock has the boot ID of the machine.
    pub clock: Option<Uuid>,
    /// The number of streams (ring buffers) that the trace has.
    pub streams: usize,
    /// The number of packets that reach into the window, each counted once.
    pub packets: u64,
}

impl Trace {
    /// A value of the environment, e.g. of `hostname`.
    pub fn environment(&self, name: &str) -> Option<&str> {
        self.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
