//! A window of a source, which can be read several times.

use std::convert::Infallible;
use std::sync::atomic::Ordering::Relaxed;

use crate::analysis::reading::selection::Misfit;
use crate::source::Source;
use ctf_reader::{Collect, Error, Progress, Report, Window};

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
    pub(in crate::analysis) fn read<C: Collect<Stop = Infallible>>(
        &mut self,
        collector: C,
    ) -> Result<(C, Report), Error> {
        self.progress.done.store(0, Relaxed);
        self.source.read(self.window, collector, self.progress)
    }
}

/// Why there is no finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing could be read.
    Source(Error),
    /// The selection does not fit what was read.
    Misfit(Misfit),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Source(error)
    }
}

impl From<Misfit> for Failure {
    fn from(misfit: Misfit) -> Self {
        Failure::Misfit(misfit)
    }
}
