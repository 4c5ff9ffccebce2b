//! Where events come from: traces, or what a test makes up.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use ctf_reader::{Collect, Collected, Error, Progress, Reader, Report, Window};

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

/// Finds all traces in and below the folders and opens them.
///
/// `threads` is the number of threads that decode; by default one for each core.
pub fn open(folders: &[PathBuf], threads: Option<usize>) -> Result<Reader, Error> {
    let reader = Reader::open(folders)?;
    Ok(match threads {
        Some(threads) => reader.threads(threads),
        None => reader,
    })
}
