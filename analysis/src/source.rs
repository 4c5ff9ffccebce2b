//! Where events come from: traces, or what a test makes up.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use ctf_reader::{
    Collect, Collected, Discovery, Error, NotedEvents, Progress, Reader, Report, TraceFiles, Window,
};

use crate::samples;

/// Reads traces into collectors.
pub trait Source {
    /// The times of the first and the last event, without reading all of them where that can be avoided.
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error>;

    /// The least and the most time between the first and the last event, where that is known without reading any.
    fn length(&self) -> Option<RangeInclusive<u64>> {
        self.in_order()?.events.length()
    }

    /// Reads all events in the window into the collector.
    ///
    /// Damaged parts are skipped and listed in the report; it is an error if nothing can be read.
    fn read<C: Collect<Stop = Infallible>>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        self.read_noted(&mut NotedEvents::default(), window, collector, progress)
    }

    /// The same, but where an earlier reading of the window has noted events it may read only these, and it may note those that
    /// this collector wants again; see [`Reader::read_noted`].
    fn read_noted<C: Collect<Stop = Infallible>>(
        &mut self,
        noted: &mut NotedEvents,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error>;

    /// Readers of the same events in time order, if the source has any.
    fn in_order(&self) -> Option<Readers<'_>> {
        None
    }
}

/// The traces of a recording, and the samples of the scheduler that were taken meanwhile.
#[derive(Debug)]
pub struct Recording {
    /// The events.
    pub events: Reader,
    samples: Option<Reader>,
}

impl Recording {
    /// Opens traces that were found.
    pub fn open(events: Discovery, samples: Discovery) -> Result<Recording, Error> {
        // Without samples, or with damaged ones, less is explained.
        let samples = Reader::open_found(samples).ok().filter(|samples| samples.classes().next().is_some());
        Ok(Recording { events: Reader::open_found(events)?, samples })
    }

    /// Decodes with this number of threads instead of one for each core.
    pub fn threads(self, threads: usize) -> Recording {
        Recording { events: self.events.threads(threads), ..self }
    }

    /// Its readers, for several readings at the same time.
    pub fn readers(&self) -> Readers<'_> {
        Readers { events: &self.events, samples: self.samples.as_ref() }
    }
}

impl Source for Recording {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        self.readers().span()
    }

    fn read_noted<C: Collect<Stop = Infallible>>(
        &mut self,
        noted: &mut NotedEvents,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        self.readers().read_noted(noted, window, collector, progress)
    }

    fn in_order(&self) -> Option<Readers<'_>> {
        Some(self.readers())
    }
}

/// The readers of a [`Recording`].
#[derive(Clone, Copy, Debug)]
pub struct Readers<'r> {
    /// Of the events.
    pub events: &'r Reader,
    /// Of the samples, if there are any.
    pub samples: Option<&'r Reader>,
}

impl Source for Readers<'_> {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        Ok(self.events.span())
    }

    fn read_noted<C: Collect<Stop = Infallible>>(
        &mut self,
        noted: &mut NotedEvents,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        let Collected { collector, report, .. } = self.events.read_noted(noted, window, collector, progress);
        Ok((collector, report))
    }

    fn in_order(&self) -> Option<Readers<'_>> {
        Some(*self)
    }
}

/// Finds all traces in and below the folders: those of events, and those of samples.
pub fn discover(folders: &[PathBuf]) -> Result<(Discovery, Discovery), Error> {
    let found = ctf_reader::discover(folders)?;
    let is_sampled = |trace: &TraceFiles| trace.folders.iter().all(|folder| is_samples(folder));
    let (samples, traces) = found.traces.into_iter().partition(is_sampled);
    Ok((Discovery { traces, ..found }, Discovery { traces: samples, damage: Vec::new() }))
}

/// Finds all traces in and below the folders and opens them. Samples are events only if their own folder is named.
///
/// `threads` is the number of threads that decode; by default one for each core.
pub fn open(folders: &[PathBuf], threads: Option<usize>) -> Result<Recording, Error> {
    let (mut events, mut samples) = discover(folders)?;
    if folders.iter().any(|folder| is_samples(folder)) {
        events.traces.append(&mut samples.traces);
    }
    let recording = Recording::open(events, samples)?;
    Ok(match threads {
        Some(threads) => recording.threads(threads),
        None => recording,
    })
}

fn is_samples(folder: &Path) -> bool {
    folder.ends_with(samples::FOLDER)
}
