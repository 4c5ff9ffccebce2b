//! A recording in progress: into a folder, or watched live.

use std::path::Path;
use std::time::Instant;

use ltt_analysis::filter::Glob;
use ltt_analysis::samples::SampleQueue;
use lttng_live::Url;

use super::daemon::Daemon;
use super::disk::Disk;
use super::offering::OfferingProcess;
use super::registration::{PATIENCE, PAUSE, registered, starting, why_not};
use super::relay::Relay;
use super::run::Run;
use super::sampler::{Output, Sampler};
use super::session::{Session, SessionScope};
use crate::outcome::{Trouble, warn};
use crate::signals::StopSignal;

/// Which processes to record.
pub struct RecordTargets<'t> {
    /// Patterns for the names of events.
    pub events: &'t [String],
    pub pid: Option<u32>,
    pub name: Option<&'t str>,
    /// Whether a program is about to be started.
    pub has_command: bool,
}

/// A recording into a folder.
pub struct Recording {
    sampler: Option<Sampler>,
    session: Session,
    disk: Disk,
    // After the session, which needs it to be destroyed.
    daemon: Daemon,
    _run: Run,
}

impl Recording {
    /// Begins to record into a folder.
    pub fn start(
        folder: &Path,
        targets: &RecordTargets<'_>,
        clean: bool,
        has_samples: bool,
        stop: &StopSignal,
    ) -> Result<Recording, Trouble> {
        let run = Run::begin(clean)?;
        let daemon = Daemon::find_or_start(&run)?;
        let pids = pids(targets, stop)?;
        let session = Session::into_folder(
            &run,
            &daemon,
            folder,
            &SessionScope { events: targets.events, pids: &pids },
        )?;
        session.start()?;
        let sampler = has_samples.then(|| Sampler::start(Output::folder(folder), pids));
        Ok(Recording { sampler, session, disk: Disk::of(folder), daemon, _run: run })
    }

    /// Why no more can be recorded, if its daemon has died or its disk is full.
    pub fn failure(&self) -> Option<String> {
        self.daemon.failure().or_else(|| self.disk.failure())
    }

    /// Stops recording, and waits until all is written.
    pub fn stop(&mut self) -> Result<(), Trouble> {
        let stopped = self.session.stop();
        // The samples are described by the trace that is complete now.
        self.sampler.take();
        stopped
    }
}

/// A recording that is watched live.
pub struct LiveRecording {
    /// Where to watch it.
    pub url: Url,
    samples: SampleQueue,
    _sampler: Option<Sampler>,
    _session: Session,
    // After the session, which needs them to be destroyed.
    daemon: Daemon,
    relay: Relay,
    run: Run,
}

impl LiveRecording {
    /// Begins to record events whose names match, through a relay. If only one process is looked at, only that one is waited for.
    pub fn start(
        events: &[String],
        pid: Option<u32>,
        clean: bool,
        has_samples: bool,
        stop: &StopSignal,
    ) -> Result<LiveRecording, Trouble> {
        let run = Run::begin(clean)?;
        let relay = Relay::start(&run)?;
        let daemon = Daemon::find_or_start(&run)?;
        let targets = RecordTargets { events, pid, name: None, has_command: false };
        pids(&targets, stop)?;
        let session = Session::to_relay(&run, &daemon, &relay, &SessionScope { events, pids: &[] })?;
        session.start()?;
        let url = relay.viewer.clone().with_session(session.name());
        let samples = SampleQueue::default();
        let sampler = has_samples.then(|| Sampler::start(Output::Queue(samples.clone()), Vec::new()));
        Ok(LiveRecording { url, samples, _sampler: sampler, _session: session, daemon, relay, run })
    }

    /// Samples of the recorded threads, as they are taken.
    pub fn samples(&self) -> SampleQueue {
        self.samples.clone()
    }

    /// Why no more can be recorded, if a daemon has died or its disk is full.
    pub fn failure(&self) -> Option<String> {
        self.relay.failure(&self.run).or_else(|| self.daemon.failure())
    }
}

/// The chosen processes; none for all. Warns if nothing would be recorded.
fn pids(targets: &RecordTargets<'_>, stop: &StopSignal) -> Result<Vec<u32>, Trouble> {
    if targets.has_command && targets.pid.is_none() && targets.name.is_none() {
        return Ok(Vec::new());
    }
    let is_meant = |process: &OfferingProcess| {
        targets.pid.is_none_or(|pid| process.pid == pid)
            && targets.name.is_none_or(|name| process.is_called(name))
    };
    let mut processes = registered(&is_meant, &|| stop.is_set())?;
    let is_chosen = targets.pid.is_some() || targets.name.is_some();
    let begin = Instant::now();
    while is_chosen
        && !processes.iter().any(is_meant)
        && starting().iter().any(is_meant)
        && begin.elapsed() < PATIENCE
        && !stop.is_set()
    {
        std::thread::sleep(PAUSE);
        processes = registered(&is_meant, &|| stop.is_set())?;
    }
    let meant: Vec<&OfferingProcess> = processes.iter().filter(|process| is_meant(process)).collect();
    let globs: Vec<Glob> = targets.events.iter().map(|pattern| Glob::new(pattern)).collect();
    let offers = |process: &&OfferingProcess| {
        process.events.iter().any(|event| globs.iter().any(|glob| glob.matches_event(&event.name)))
    };
    if is_chosen && meant.is_empty() {
        let reason = match (targets.pid, targets.name) {
            (Some(pid), _) => why_not(pid),
            (None, name) => format!("no process called {} offers LTTng-UST events", name.unwrap_or_default()),
        };
        let others: Vec<String> =
            processes.iter().map(|process| format!("{} {}", process.pid, process.program())).collect();
        let others = if others.is_empty() { "no process does".into() } else { others.join(", ") };
        return Err(Trouble::Failed(format!("{reason} (those that offer events: {others})")));
    }
    if !meant.iter().any(offers) {
        let events = targets.events.join(", ");
        let message = format!(
            "no process offers events that match {events} (`ltt-top list` lists what there is); those of a program \
             that starts later will be recorded"
        );
        warn(&message);
    }
    Ok(if is_chosen { meant.iter().map(|process| process.pid).collect() } else { Vec::new() })
}
