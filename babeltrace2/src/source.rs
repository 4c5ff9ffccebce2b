//! The source: from the traces that were found to a collector and a report.

use std::convert::Infallible;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use ctf_reader::{Collect, Damage, Discovery, Error, Nothing, Progress, Report, Trace, TraceFiles, Window};

use crate::event_feed::{EventFeed, StreamFailure, TraceState};
use crate::ffi::Graph;
use crate::packets::ScannedPacket;
use crate::staging::Staging;
use crate::survey::Survey;

/// The number of attempts to open a trace that is still growing.
const ATTEMPTS: usize = 8;

/// The number of packets to read separately at once; each takes a file descriptor.
const LONE_PACKETS: usize = 64;

/// Reads traces with Babeltrace 2.
#[derive(Debug)]
pub struct Babeltrace2 {
    discovery: Discovery,
}

impl Babeltrace2 {
    /// A source of the traces that were found.
    pub fn new(discovery: Discovery) -> Self {
        Self { discovery }
    }

    /// The times of the first and the last event.
    pub fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        // A packet's end is when it was closed, not its last event, so all must be read.
        let (Nothing, report) = self.read(Window::default(), Nothing, &Progress::default())?;
        Ok(report.span)
    }

    /// Reads all events in the window into the collector.
    ///
    /// What is damaged is left out and named in the report; an error is what leaves nothing to read.
    pub fn read<C: Collect<Stop = Infallible>>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        let (too_new, traces): (Vec<_>, Vec<_>) =
            self.discovery.traces.iter().partition(|trace| trace.is_ctf_2());
        let surveys: Vec<_> = traces.iter().map(|trace| Survey::new(trace)).collect();
        progress.total.store(surveys.iter().map(Survey::size).sum(), Relaxed);
        let mut feed = EventFeed::new(collector, window, progress);
        feed.report.damage = self.discovery.damage.clone();
        feed.report.damage.extend(too_new.iter().map(|trace| Damage::new(&metadata(trace), TOO_NEW)));
        for (folders, survey) in traces.into_iter().zip(surveys) {
            if let Err(damage) = read_trace(&mut feed, folders, survey) {
                feed.report.damage.push(damage);
            }
        }
        progress.done.store(progress.total.load(Relaxed), Relaxed);
        let EventFeed { collector, mut report, .. } = feed;
        report.damage.sort();
        match report.damage.first() {
            Some(first) if report.traces.is_empty() => Err(Error::new(first.to_string())),
            _ => Ok((collector, report)),
        }
    }
}

/// What to say of a trace that Babeltrace 2.0 is too old for.
const TOO_NEW: &str = "this is CTF 2, which Babeltrace 2.0 cannot read: use the native reader";

fn metadata(trace: &TraceFiles) -> PathBuf {
    trace.folders[0].join("metadata")
}

/// Reads one trace, if it can be opened.
fn read_trace<C: Collect<Stop = Infallible>>(
    feed: &mut EventFeed<'_, C>,
    folders: &TraceFiles,
    survey: Survey<'_>,
) -> Result<(), Damage> {
    let folder = &folders.folders[0];
    let (survey, staging, mut graph) = open(folders, survey)?;
    let mut state = TraceState::new(feed.report.traces.len());
    let streams = graph.streams().max(survey.streams.len());
    feed.report.traces.push(Trace { folders: folders.folders.clone(), streams, ..Trace::default() });
    feed.report.damage.extend(survey.damage.iter().cloned());
    let packets = |id| survey.streams.get(&id).map_or(&[][..], Vec::as_slice);
    let result = feed.graph(&mut graph, &mut state, packets).and_then(|failures| {
        drop(graph);
        go_on(feed, &mut state, &survey, &staging, failures)
    });
    if let Err(reason) = result {
        feed.report.damage.push(Damage::new(folder, staging.name(&reason)));
    }
    let environment = state.environment.into_iter().map(|(name, value)| (name, value.to_string()));
    feed.report.traces[state.index].environment = environment.collect();
    Ok(())
}

/// Opens the undamaged parts of a trace.
fn open<'f>(folders: &'f TraceFiles, survey: Survey<'f>) -> Result<(Survey<'f>, Staging, Graph), Damage> {
    let folder = &folders.folders[0];
    let unusable = |error| Damage::new(folder, format!("cannot be staged in the temporary folder: {error}"));
    let mut survey = survey;
    for _ in 0..ATTEMPTS {
        let staging = survey.stage().map_err(unusable)?;
        match Graph::open(&staging.inputs()) {
            Ok(graph) => return Ok((survey, staging, graph)),
            Err(_) if survey.is_outdated() => survey = Survey::new(folders),
            Err(_) => break,
        }
    }
    survey.drop_refused(|staging| Graph::open(&staging.inputs()).err()).map_err(unusable)?;
    let staging = survey.stage().map_err(unusable)?;
    match Graph::open(&staging.inputs()) {
        Ok(graph) => Ok((survey, staging, graph)),
        // If even a folder without stream files is refused, it is for its metadata.
        Err(reason) if survey.is_empty() => Err(Damage::new(&folder.join("metadata"), staging.name(&reason))),
        Err(reason) => Err(Damage::new(folder, staging.name(&reason))),
    }
}

/// Goes on where streams failed, after the bad packet.
fn go_on<C: Collect<Stop = Infallible>>(
    feed: &mut EventFeed<'_, C>,
    state: &mut TraceState,
    survey: &Survey<'_>,
    staging: &Staging,
    failures: Vec<StreamFailure<'_>>,
) -> Result<(), String> {
    for failure in failures {
        name_damage(&mut feed.report, survey.folder(), &failure, staging);
        let before = failure.packet.into_iter().chain(failure.unread);
        let pairs = before.zip(failure.unread);
        feed.report.discarded_events +=
            pairs.map(|(before, after)| after.discarded_since(before)).sum::<u64>();
        for unread in failure.unread.chunks(LONE_PACKETS) {
            lone_packets(feed, state, survey.folder(), unread)?;
        }
    }
    Ok(())
}

/// Reads each packet as a separate stream, so that a bad one affects no other.
fn lone_packets<C: Collect<Stop = Infallible>>(
    feed: &mut EventFeed<'_, C>,
    state: &mut TraceState,
    folder: &Path,
    packets: &[ScannedPacket],
) -> Result<(), String> {
    let staging = stage_alone(folder, packets)
        .map_err(|error| format!("packets cannot be staged in the temporary folder: {error}"))?;
    let mut graph = Graph::open(&staging.inputs()).map_err(|reason| staging.name(&reason))?;
    let packet = |(_, instance)| {
        let index = usize::try_from(instance).unwrap_or(usize::MAX);
        packets.get(index).map_or(&[][..], std::slice::from_ref)
    };
    for failure in feed.graph(&mut graph, state, packet)? {
        name_damage(&mut feed.report, folder, &failure, &staging);
    }
    Ok(())
}

/// Stages packets in a file each, as streams whose numbers are the packets' indexes.
fn stage_alone(folder: &Path, packets: &[ScannedPacket]) -> io::Result<Staging> {
    let mut staging = Staging::new()?;
    let staged = staging.folder(folder)?;
    for (instance, packet) in (0..).zip(packets) {
        staging.write(staged, &format!("packet_{instance}"), [packet], Some(instance))?;
    }
    Ok(staging)
}

fn name_damage(report: &mut Report, folder: &Path, failure: &StreamFailure<'_>, staging: &Staging) {
    let reason = staging.name(&failure.reason);
    report.damage.push(match failure.packet {
        // The survey has named it already.
        Some(packet) if packet.is_incomplete => return,
        Some(packet) => Damage { path: packet.file.to_path_buf(), offset: Some(packet.offset), reason },
        None => Damage::new(folder, reason),
    });
}
