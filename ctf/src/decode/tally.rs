//! What is counted while events are handed over.

use std::ops::RangeInclusive;

use crate::{ClockSteps, Report};

/// The number of events, their times, and where the clock ran backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    events: u64,
    first: i64,
    last: i64,
    /// Where the clock ran backwards.
    pub steps: ClockSteps,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { events: 0, first: i64::MAX, last: i64::MIN, steps: ClockSteps::default() }
    }
}

impl Tally {
    /// Counts events, with the times of the earliest and the latest.
    #[inline(always)]
    pub fn count(&mut self, events: u64, first: i64, last: i64) {
        self.events += events;
        self.first = self.first.min(first);
        self.last = self.last.max(last);
    }

    /// Adds another tally.
    pub fn add(&mut self, other: Tally) {
        self.count(other.events, other.first, other.last);
        self.steps.add(other.steps);
    }

    /// The times of the earliest and the latest event.
    pub fn span(&self) -> Option<RangeInclusive<i64>> {
        (self.events > 0).then_some(self.first..=self.last)
    }

    /// Adds what was counted to a report.
    pub fn add_to(&self, report: &mut Report) {
        report.events = self.events;
        report.span = self.span();
        report.clock_steps.add(self.steps);
    }
}
