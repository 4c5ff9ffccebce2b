//! Where events come from: traces, or what a test makes up.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use ctf_reader::{
    Collect, Collected, Discovery, Error, Progress, Reader, Report, TraceFiles, Window, discover,
};

use crate::samples;

/// Reads traces into collectors.
pub trait Source {
    /// The times of the first and the last event, without reading all of them where that can be avoided.
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error>;

    /// Reads all events in the window into the collector.
    ///
    /// Damaged parts are skipped and listed in the report; it is an error if nothing can be read.
    fn read<C: Collect<Stop = Infallible>>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error>;

    /// A reader of the same events in time order, if the source has one.
    fn in_order(&self) -> Option<&Reader> {
        None
    }

    /// Samples of the scheduler that were taken while the events were recorded.
    fn samples(&self) -> Option<&Reader> {
        None
    }
}

/// The traces of a recording, and the samples beside them.
#[derive(Debug)]
pub struct Recording {
    /// The events.
    pub events: Reader,
    samples: Option<Reader>,
}

impl Source for Recording {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        Source::span(&mut self.events)
    }

    fn read<C: Collect<Stop = Infallible>>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        Source::read(&mut self.events, window, collector, progress)
    }

    fn in_order(&self) -> Option<&Reader> {
        Some(&self.events)
    }

    fn samples(&self) -> Option<&Reader> {
        self.samples.as_ref()
    }
}

impl Source for Reader {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        Source::span(&mut &*self)
    }

    fn read<C: Collect<Stop = Infallible>>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        Source::read(&mut &*self, window, collector, progress)
    }

    fn in_order(&self) -> Option<&Reader> {
        Some(self)
    }
}

/// A shared reader, for two readings at the same time.
impl Source for &Reader {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        Ok(Reader::span(self))
    }

    fn read<C: Collect<Stop = Infallible>>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        let Collected { collector, report, .. } = Reader::read(self, window, collector, progress);
        Ok((collector, report))
    }

    fn in_order(&self) -> Option<&Reader> {
        Some(self)
    }
}

/// Finds all traces in and below the folders and opens them. Samples are events only if their own folder is named.
///
/// `threads` is the number of threads that decode; by default one for each core.
pub fn open(folders: &[PathBuf], threads: Option<usize>) -> Result<Recording, Error> {
    let found = discover(folders)?;
    let is_named = folders.iter().any(|folder| folder.ends_with(samples::FOLDER));
    let (sampled, events): (Vec<TraceFiles>, Vec<TraceFiles>) = found
        .traces
        .into_iter()
        .partition(|trace| !is_named && trace.folders.iter().all(|folder| is_samples(folder)));
    let samples = Reader::open_found(Discovery { traces: sampled, damage: Vec::new() });
    let reader = Reader::open_found(Discovery { traces: events, damage: found.damage })?;
    Ok(Recording {
        events: match threads {
            Some(threads) => reader.threads(threads),
            None => reader,
        },
        // Without samples, or with damaged ones, less is explained.
        samples: samples.ok().filter(|samples| samples.classes().next().is_some()),
    })
}

fn is_samples(folder: &Path) -> bool {
    folder.ends_with(samples::FOLDER)
}
