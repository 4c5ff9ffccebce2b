//! Reads traces with Babeltrace 2.
//!
//! ```text
//! folders ─> survey ─> staging ─> graph ─> reading ─> collector
//!            packets   what is    ffi      classes
//!                      sound               fields
//! ```
//!
//! Babeltrace 2.0 decodes; what it gets wrong is seen to here:
//!
//! | 2.0.4 | here |
//! |---|---|
//! | refuses a trace for one damaged file | is given only what is sound ([`survey`], [`staging`]) |
//! | ends everything at the first error | streams fail alone, and go on after the bad packet |
//! | shows stale bytes for an empty string | the length decides ([`ffi`]) |
//! | leaves out the events discarded by the end of a stream's first packet | read from the packet ([`reading`]) |

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::discover::{Discovery, TraceFolders};
use super::{Collect, Damage, Error, Event, EventClass, Progress, Report, Source, Trace, Window};
use ffi::Graph;
use packets::Packet;
use reading::{Failure, Reading, TraceState};
use staging::Staging;
use survey::Survey;

mod classes;
mod ffi;
mod fields;
mod packets;
mod reading;
mod staging;
mod survey;

/// How often to look again at a trace that grows while it is opened.
const ATTEMPTS: usize = 8;

/// How many packets to read on their own at once; each takes a file descriptor.
const LONE_PACKETS: usize = 64;

/// Reads traces with Babeltrace 2.
pub struct Babeltrace2 {
    discovery: Discovery,
}

impl Babeltrace2 {
    /// A source of the traces that were found.
    pub fn new(discovery: Discovery) -> Self {
        Self { discovery }
    }
}

impl Source for Babeltrace2 {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        // A packet's end is when it was closed, not its last event, so all must be read.
        let (Nothing, report) = self.read(Window::default(), Nothing, &Progress::default())?;
        Ok(report.span)
    }

    fn read<C: Collect>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        let surveys: Vec<_> = self.discovery.traces.iter().map(Survey::new).collect();
        progress.total.store(surveys.iter().map(Survey::size).sum(), Relaxed);
        let mut reading = Reading::new(collector, window, progress);
        reading.report.damage = self.discovery.damage.clone();
        let mut opened = false;
        for (folders, survey) in self.discovery.traces.iter().zip(surveys) {
            opened |= trace(&mut reading, folders, survey);
        }
        progress.done.store(progress.total.load(Relaxed), Relaxed);
        let Reading { collector, mut report, .. } = reading;
        report.damage.sort();
        match report.damage.first() {
            Some(first) if !opened => Err(Error(first.to_string())),
            _ => Ok((collector, report)),
        }
    }
}

/// Reads one trace, and returns whether it could be opened.
fn trace<C: Collect>(reading: &mut Reading<'_, C>, folders: &TraceFolders, survey: Survey<'_>) -> bool {
    let index = reading.report.traces.len();
    reading.report.traces.push(Trace { folders: folders.folders.clone(), ..Trace::default() });
    let mut state = TraceState::new(index);
    let result = read_trace(reading, folders, survey, &mut state);
    let environment = state.environment.into_iter().map(|(name, value)| (name, value.to_string()));
    reading.report.traces[index].environment = environment.collect();
    match result {
        Ok(()) => true,
        Err(reason) => {
            reading.report.damage.push(Damage::new(&folders.folders[0], reason));
            reading.report.traces[index].streams > 0
        }
    }
}

fn read_trace<C: Collect>(
    reading: &mut Reading<'_, C>,
    folders: &TraceFolders,
    survey: Survey<'_>,
    state: &mut TraceState,
) -> Result<(), String> {
    let (survey, staging, mut graph) = open(folders, survey)?;
    reading.report.damage.extend(survey.damage.iter().cloned());
    reading.report.traces[state.index].streams = graph.streams().max(survey.streams.len());
    let packets = |id| survey.streams.get(&id).map_or(&[][..], Vec::as_slice);
    let failures = reading.graph(&mut graph, state, packets).map_err(|reason| staging.name(&reason))?;
    drop(graph);
    for failure in failures {
        name_damage(&mut reading.report, &folders.folders[0], &failure, &staging);
        let first = failure.packet.into_iter().chain(failure.unread);
        if let Some(layout) = survey.layout {
            let pairs = first.zip(failure.unread);
            reading.report.discarded_events +=
                pairs.map(|(before, after)| layout.discarded_between(before, after)).sum::<u64>();
        }
        for unread in failure.unread.chunks(LONE_PACKETS) {
            lone_packets(reading, &folders.folders[0], unread, state)?;
        }
    }
    Ok(())
}

/// Opens what is sound of a trace.
fn open<'f>(folders: &'f TraceFolders, survey: Survey<'f>) -> Result<(Survey<'f>, Staging, Graph), String> {
    let mut survey = survey;
    for _ in 0..ATTEMPTS {
        let staging = stage(&survey)?;
        match Graph::open(&staging.inputs()) {
            Ok(graph) => return Ok((survey, staging, graph)),
            Err(_) if survey.is_outdated() => survey = Survey::new(folders),
            Err(_) => break,
        }
    }
    let refuse = |staging: &Staging| Graph::open(&staging.inputs()).err();
    survey.drop_refused(refuse).map_err(|error| format!("the temporary folder cannot be used: {error}"))?;
    let staging = stage(&survey)?;
    let graph = Graph::open(&staging.inputs()).map_err(|reason| staging.name(&reason))?;
    Ok((survey, staging, graph))
}

fn stage(survey: &Survey<'_>) -> Result<Staging, String> {
    survey.stage().map_err(|error| format!("cannot be staged in the temporary folder: {error}"))
}

/// Reads the packets after a bad one, each as a stream of its own, so that another bad one spoils no more.
fn lone_packets<C: Collect>(
    reading: &mut Reading<'_, C>,
    folder: &Path,
    packets: &[Packet],
    state: &mut TraceState,
) -> Result<(), String> {
    let mut staging = Staging::new().map_err(|error| error.to_string())?;
    let unusable = |error| format!("the temporary folder cannot be used: {error}");
    let staged = staging.folder(folder).map_err(unusable)?;
    for (instance, packet) in packets.iter().enumerate() {
        let name = format!("packet_{instance}");
        staging.write(staged, &name, [packet], Some(instance as u64)).map_err(unusable)?;
    }
    let mut graph = Graph::open(&staging.inputs()).map_err(|reason| staging.name(&reason))?;
    let packet = |(_, instance)| {
        let index = usize::try_from(instance).unwrap_or(usize::MAX);
        packets.get(index).map_or(&[][..], std::slice::from_ref)
    };
    for failure in reading.graph(&mut graph, state, packet)? {
        name_damage(&mut reading.report, folder, &failure, &staging);
    }
    Ok(())
}

fn name_damage(report: &mut Report, folder: &Path, failure: &Failure<'_>, staging: &Staging) {
    let reason = staging.name(&failure.reason);
    report.damage.push(match failure.packet {
        // The survey has named it already.
        Some(packet) if packet.is_incomplete => return,
        Some(packet) => Damage { path: packet.file.to_path_buf(), offset: Some(packet.offset), reason },
        None => Damage::new(folder, reason),
    });
}

/// Collects nothing.
struct Nothing;

impl Collect for Nothing {
    fn want(&mut self, _: &Arc<EventClass>) -> Option<Vec<usize>> {
        None
    }
    fn event(&mut self, _: &Event<'_>) {}
    fn split(&self) -> Self {
        Nothing
    }
    fn absorb(&mut self, Nothing: Self) {}
}
