//! Reads CTF natively, 1.8 and 2: bytes in, events out.
//!
//! ```text
//! metadata file ──metadata──> Metadata ──stream, plan, header──> StreamPlan ─┐
//! stream files ──scan, index, packet──> packets ──ledger──> each once ──read─┴──> Collect
//! ```
//!
//! `metadata` says how packets are laid out. `scan` finds the packets in the files, `ledger` drops those
//! that snapshots repeat and does the sums over their counters. `plan` compiles what is wanted of each event
//! class. `read` takes packets on all threads, two at a time on each, `parts` reads them piece by piece, and
//! `decoding` runs the plans over the pieces:
//!
//! ```text
//! part ──decoding──┬── simple events ──walk, stretch, texts──> batch: where fields are ─┬──> Collect
//!                  └── any other ──header, decode──> values ────────────────────────────┘
//! ```
//!
//! Only `file` and the functions that are given paths do input and output; decoding sees bytes.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discover::{Discovery, TraceFolders, stream_files};
use super::nothing::Nothing;
use super::{
    Collect, Damage, Error, EventClass, FieldClass, FieldKind, Progress, Report, Scope, Source, Trace, Window,
};

mod batch;
mod bits;
mod clock;
mod decode;
mod decoding;
mod file;
mod header;
mod index;
mod ledger;
pub(super) mod metadata;
mod packet;
mod parts;
mod plan;
mod read;
mod roles;
mod scan;
mod stream;
mod stretch;
mod texts;
mod walk;

use clock::Timebase;
use file::Place;
use ledger::Filed;
use metadata::{EnvironmentValue, EventLayout, Metadata, StreamClass, Type, VariableInteger};
use read::Job;
use stream::StreamPlan;

/// Reads traces natively.
#[derive(Debug)]
pub struct Native {
    traces: Vec<TraceLayout>,
    damage: Vec<Damage>,
    threads: usize,
}

/// A trace and the layout of its packets.
#[derive(Debug)]
struct TraceLayout {
    folders: Vec<PathBuf>,
    /// Streams that are in no file.
    in_memory: Vec<Place>,
    metadata: Metadata,
    /// The event classes of each stream class.
    classes: Vec<Vec<Arc<EventClass>>>,
}

impl Native {
    /// Opens the traces that were found.
    ///
    /// A trace whose metadata cannot be understood is left out and named as damage; if that leaves none, it
    /// is an error.
    pub fn open(found: Discovery) -> Result<Native, Error> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut native = Native { traces: Vec::new(), damage: found.damage, threads };
        for folders in found.traces {
            if let Some(metadata) = native.metadata(&folders) {
                native.add(folders.folders, Vec::new(), metadata);
            }
        }
        native.finish()
    }

    /// Opens a trace that is in memory: the bytes of its metadata file, and of its stream files under a name.
    pub fn in_memory(metadata: &[u8], streams: Vec<(PathBuf, Arc<[u8]>)>) -> Result<Native, Error> {
        let mut native = Native { traces: Vec::new(), damage: Vec::new(), threads: 1 };
        let (metadata, problems) = metadata::read(metadata);
        if let Some(metadata) = native.accept(Path::new("metadata"), metadata, problems) {
            let streams = streams.into_iter().map(|(name, bytes)| Place::memory(name, bytes));
            native.add(Vec::new(), streams.collect(), metadata);
        }
        native.finish()
    }

    fn add(&mut self, folders: Vec<PathBuf>, in_memory: Vec<Place>, metadata: Metadata) {
        let trace = self.traces.len();
        let mut next = self.classes().count();
        let mut class = |stream: &StreamClass, event: &EventLayout| {
            next += 1;
            Arc::new(event_class(&metadata, stream, event, next - 1, trace))
        };
        let streams = metadata.streams.iter();
        let classes = streams.map(|stream| stream.events.iter().map(|event| class(stream, event)).collect());
        let classes = classes.collect();
        self.traces.push(TraceLayout { folders, in_memory, metadata, classes });
    }

    fn finish(self) -> Result<Native, Error> {
        match self.damage.first() {
            Some(first) if self.traces.is_empty() => Err(Error(first.to_string())),
            _ => Ok(self),
        }
    }

    /// Sets how many threads decode; by default there is one for each core.
    pub fn threads(mut self, threads: usize) -> Native {
        self.threads = threads.max(1);
        self
    }

    /// Reads the metadata of a trace. Chunks and snapshots repeat it, the later ones with more classes; the
    /// soundest and then the longest is the trace's.
    fn metadata(&mut self, folders: &TraceFolders) -> Option<Metadata> {
        let mut best: Option<(PathBuf, usize, Metadata, Vec<String>)> = None;
        for folder in &folders.folders {
            let path = folder.join("metadata");
            let bytes = match std::fs::read(&path) {
                Ok(bytes) => bytes,
                Err(error) => {
                    self.damage.push(Damage::new(&path, format!("cannot be read: {error}")));
                    continue;
                }
            };
            let (metadata, problems) = metadata::read(&bytes);
            let better = |(_, length, _, others): &(PathBuf, usize, Metadata, Vec<String>)| {
                (others.len(), bytes.len()) > (problems.len(), *length) || others.len() > problems.len()
            };
            if best.as_ref().is_none_or(better) {
                best = Some((path, bytes.len(), metadata, problems));
            }
        }
        let (path, _, metadata, problems) = best?;
        self.accept(&path, metadata, problems)
    }

    /// Names what is wrong with metadata, and takes it unless nothing is left.
    fn accept(&mut self, path: &Path, metadata: Metadata, problems: Vec<String>) -> Option<Metadata> {
        let describes_nothing = metadata.streams.is_empty() && problems.is_empty();
        self.damage.extend(problems.into_iter().map(|reason| Damage::new(path, reason)));
        if describes_nothing {
            self.damage.push(Damage::new(path, "describes no stream"));
        }
        (!metadata.streams.is_empty()).then_some(metadata)
    }

    /// Finds all packets, and begins the report.
    fn jobs(&self, window: Window, wanted: &[Option<Vec<usize>>]) -> (Vec<Job<'_>>, Report) {
        let mut report = Report { damage: self.damage.clone(), ..Report::default() };
        let mut jobs = Vec::new();
        for layout in &self.traces {
            let mut wanted = wanted;
            let streams = layout.metadata.streams.iter().zip(&layout.classes);
            let plans: Vec<_> = streams
                .map(|(stream, classes)| {
                    let (these, rest) = wanted.split_at(classes.len().min(wanted.len()));
                    wanted = rest;
                    StreamPlan::new(&layout.metadata, stream, classes, these)
                })
                .collect();
            let in_window = |stream: usize, counts: RangeInclusive<u64>| {
                let timebase: &Timebase = &plans[stream].timebase;
                window.since.is_none_or(|since| timebase.time(*counts.end()) >= since)
                    && window.until.is_none_or(|until| timebase.time(*counts.start()) <= until)
            };
            let (files, mut packets) = layout.packets(&in_window, &mut report.damage);
            let counts = ledger::settle(&mut packets, &in_window);
            report.discarded_events = report.discarded_events.saturating_add(counts.discarded_events);
            report.lost_packets = report.lost_packets.saturating_add(counts.lost_packets);
            report.traces.push(Trace {
                streams: counts.streams,
                packets: packets.iter().filter(|filed| filed.packet.is_in_window).count() as u64,
                ..layout.describe()
            });
            jobs.push(Job { metadata: &layout.metadata, plans, files, packets });
        }
        (jobs, report)
    }

    fn classes(&self) -> impl Iterator<Item = &Arc<EventClass>> {
        self.traces.iter().flat_map(|trace| trace.classes.iter().flatten())
    }
}

impl Source for Native {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        let wanted = vec![None; self.classes().count()];
        let (mut jobs, _) = self.jobs(Window::default(), &wanted);
        for job in &mut jobs {
            ledger::keep_ends(&mut job.packets);
        }
        let (_, outcome) = read::read(&jobs, Window::default(), self.threads, Nothing, &Progress::default());
        Ok((outcome.tally.events > 0).then_some(outcome.tally.first..=outcome.tally.last))
    }

    fn read<C: Collect>(
        &mut self,
        window: Window,
        mut collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        let wanted: Vec<_> = self.classes().map(|class| collector.want(class)).collect();
        let (jobs, mut report) = self.jobs(window, &wanted);
        let (collector, outcome) = read::read(&jobs, window, self.threads, collector, progress);
        report.events = outcome.tally.events;
        report.span = (report.events > 0).then_some(outcome.tally.first..=outcome.tally.last);
        report.damage.extend(outcome.damage);
        report.damage.sort();
        Ok((collector, report))
    }
}

impl TraceLayout {
    /// Finds the packets of all files.
    fn packets(
        &self,
        in_window: &dyn Fn(usize, RangeInclusive<u64>) -> bool,
        damage: &mut Vec<Damage>,
    ) -> (Vec<Place>, Vec<Filed>) {
        let mut places = self.in_memory.clone();
        for folder in &self.folders {
            match stream_files(folder) {
                Ok(found) => places.extend(found.into_iter().map(Place::file)),
                Err(unreadable) => damage.push(unreadable),
            }
        }
        let mut packets = Vec::new();
        for (file, place) in places.iter().enumerate() {
            let index = index::read(&place.index()).unwrap_or_default();
            let scanned = place.open().and_then(|file| scan::scan(&self.metadata, &file, &index, in_window));
            match scanned {
                Ok(scan) => {
                    packets.extend(scan.packets.into_iter().map(|packet| Filed { file, packet }));
                    damage.extend(scan.damage);
                }
                Err(error) => damage.push(Damage::new(&place.path, format!("cannot be read: {error}"))),
            }
        }
        (places, packets)
    }

    fn describe(&self) -> Trace {
        let environment = self.metadata.environment.iter().map(|(name, value)| {
            let value = match value {
                EnvironmentValue::Integer(number) => number.to_string(),
                EnvironmentValue::Text(text) => text.clone(),
            };
            (name.clone(), value)
        });
        Trace { folders: self.folders.clone(), environment: environment.collect(), ..Trace::default() }
    }
}

/// What is known of an event class.
fn event_class(
    metadata: &Metadata,
    stream: &StreamClass,
    event: &EventLayout,
    index: usize,
    trace: usize,
) -> EventClass {
    let environment = metadata.environment.iter().map(|(name, value)| FieldClass {
        name: name.clone(),
        scope: Scope::Environment,
        kind: match value {
            EnvironmentValue::Integer(_) => FieldKind::Integer,
            EnvironmentValue::Text(_) => FieldKind::Text,
        },
    });
    let mut fields: Vec<_> = environment.collect();
    let scopes = [
        (Scope::Packet, &stream.packet_context),
        (Scope::StreamContext, &stream.event_context),
        (Scope::EventContext, &event.context),
        (Scope::Payload, &event.payload),
    ];
    for (scope, kind) in scopes {
        let members = kind.iter().flat_map(|kind| kind.members());
        let members =
            members.filter(|member| scope != Scope::Packet || !packet::describes_packet(&member.kind));
        fields.extend(members.map(|member| FieldClass {
            name: member.label.to_string(),
            scope,
            kind: field_kind(&member.kind),
        }));
    }
    EventClass { index, name: event.name.clone(), log_level: event.log_level, fields, trace }
}

fn field_kind(kind: &Type) -> FieldKind {
    match kind {
        Type::Integer(_) | Type::Variable(VariableInteger { labels: None, .. }) => FieldKind::Integer,
        Type::Float(_) => FieldKind::Float,
        Type::Text => FieldKind::Text,
        Type::Enum(..) | Type::Variable(_) => FieldKind::Enum,
        Type::Array(_) if kind.is_text_array() => FieldKind::Text,
        Type::Array(_) | Type::Struct(_) | Type::Variant(_) | Type::Optional(_) => FieldKind::Compound,
    }
}
