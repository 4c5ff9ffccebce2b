//! Where events come from: the native reader, or Babeltrace 2 to compare it with.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::path::PathBuf;

#[cfg(feature = "babeltrace2")]
use babeltrace2_source::Babeltrace2;
use ctf_reader::{Collect, Collected, Discovery, Error, Progress, Reader, Report, Window, discover};

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

#[cfg(feature = "babeltrace2")]
impl Source for Babeltrace2 {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        Babeltrace2::span(self)
    }

    fn read<C: Collect<Stop = Infallible>>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        Babeltrace2::read(self, window, collector, progress)
    }
}

/// Which source to read with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceKind {
    /// The native reader.
    #[default]
    Native,
    /// Babeltrace 2.
    #[cfg(feature = "babeltrace2")]
    Babeltrace2,
}

/// Any of the sources.
pub enum AnySource {
    /// Reads natively.
    Native(Reader),
    /// Reads with Babeltrace 2.
    #[cfg(feature = "babeltrace2")]
    Babeltrace2(Babeltrace2),
}

impl AnySource {
    /// Finds all traces in and below the folders and opens them.
    ///
    /// `threads` is the number of threads that the native reader decodes with; by default one for each core.
    pub fn open(folders: &[PathBuf], choice: SourceKind, threads: Option<usize>) -> Result<Self, Error> {
        let found: Discovery = discover(folders)?;
        match choice {
            SourceKind::Native => {
                let reader = Reader::open_found(found)?;
                Ok(AnySource::Native(match threads {
                    Some(threads) => reader.threads(threads),
                    None => reader,
                }))
            }
            #[cfg(feature = "babeltrace2")]
            SourceKind::Babeltrace2 => Ok(AnySource::Babeltrace2(Babeltrace2::new(found))),
        }
    }
}

impl Source for AnySource {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        match self {
            AnySource::Native(source) => Source::span(source),
            #[cfg(feature = "babeltrace2")]
            AnySource::Babeltrace2(source) => source.span(),
        }
    }

    fn read<C: Collect<Stop = Infallible>>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        match self {
            AnySource::Native(source) => Source::read(source, window, collector, progress),
            #[cfg(feature = "babeltrace2")]
            AnySource::Babeltrace2(source) => source.read(window, collector, progress),
        }
    }
    fn in_order(&self) -> Option<&Reader> {
        match self {
            AnySource::Native(source) => Some(source),
            #[cfg(feature = "babeltrace2")]
            AnySource::Babeltrace2(_) => None,
        }
    }
}
