//! A window of a source, which can be read several times.

use std::convert::Infallible;

use crate::source::Source;
use ctf_reader::{Collect, Error, NotedEvents, Progress, Report, Window};

/// A window of a source, with the progress of reading it.
#[derive(Debug)]
pub struct SourceWindow<'a, S> {
    /// Where events come from.
    pub source: &'a mut S,
    /// Which part of the trace to read.
    pub window: Window,
    /// Where to report progress.
    pub progress: &'a Progress,
}

impl<S: Source> SourceWindow<'_, S> {
    pub(crate) fn read<C: Collect<Stop = Infallible>>(&mut self, collector: C) -> Result<(C, Report), Error> {
        self.progress.restart();
        self.source.read(self.window, collector, self.progress)
    }

    /// The same, with what an earlier reading of the window has noted; see [`Source::read_noted`].
    pub(crate) fn read_noted<C: Collect<Stop = Infallible>>(
        &mut self,
        noted: &mut NotedEvents,
        collector: C,
    ) -> Result<(C, Report), Error> {
        self.progress.restart();
        self.source.read_noted(noted, self.window, collector, self.progress)
    }
}
