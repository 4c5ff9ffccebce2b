//! What the verdicts aggregate for each group: the distribution of durations, and their course over time.

use super::series::{Resolution, Series};
use crate::analysis::durations::histogram::IMPLAUSIBLE;
use crate::analysis::groups::group::{Figures, Tally};

/// Figures of a group with their course over time.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct Timed {
    figures: Figures,
    series: Series,
}

impl Tally for Timed {
    type Context = Resolution;
    type Extra = Series;

    fn adapt(resolution: &mut Resolution, groups: usize) {
        resolution.cells = resolution.cells.min(Resolution::cells(groups));
    }

    #[inline]
    fn take(&mut self, duration: Option<u64>, time: impl FnOnce() -> i64, resolution: &Resolution) {
        if let Some(ticks) = duration.filter(|&ticks| ticks < IMPLAUSIBLE) {
            self.series.record(time(), ticks, *resolution);
        }
        self.figures.record(duration);
    }

    fn absorb(&mut self, other: &Self, resolution: &Resolution) {
        self.figures.merge(&other.figures);
        self.series.absorb(&other.series, resolution.cells);
    }

    fn figures(&self) -> &Figures {
        &self.figures
    }

    fn finish(mut self, resolution: &Resolution) -> (Figures, Series) {
        self.series.compact(resolution.cells);
        (self.figures, self.series)
    }
}
