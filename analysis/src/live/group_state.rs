//! The figures of one group on the board.

use super::slices::{FINE as SECOND, Slices};
use super::steps::{STEPS, step_of};
use crate::groups::Figures;
use crate::slow::longest::Longest;

/// The number of slowest events kept per group with slices.
const SLOWEST: usize = 10;

/// The figures of a group, in total and recent.
#[derive(Clone)]
pub(super) struct GroupState {
    /// The unit of its durations, in nanoseconds.
    pub unit_ns: u128,
    pub total: Figures,
    pub recent: Box<RecentFigures>,
}

#[derive(Clone)]
pub(super) struct RecentFigures {
    /// The events of one second, which are not in the total and the slices yet: each event is recorded once.
    pub pending: Figures,
    /// When it begins.
    pub begin: i64,
    is_pending: bool,
    pub slices: Slices<Figures>,
    pub slowest: Longest,
    /// Shorter events, in ticks, are not among the slowest.
    pub least: u64,
    /// From when on the slices are complete.
    pub since: i64,
}

impl RecentFigures {
    pub fn new(since: i64) -> Self {
        RecentFigures {
            pending: Figures::default(),
            begin: 0,
            is_pending: false,
            slices: Slices::default(),
            slowest: Longest::new(SLOWEST),
            least: 0,
            since,
        }
    }
}

impl GroupState {
    /// The figures of the second that a time is in, which are pending from now on.
    #[inline(always)]
    pub fn recent_at(
        &mut self,
        time: i64,
        all: &mut Slices<AllEvents>,
        sliced: &mut usize,
    ) -> &mut RecentFigures {
        if time.wrapping_sub(self.recent.begin) as u64 >= SECOND as u64 {
            self.settle(all, sliced);
            self.recent.begin = time.div_euclid(SECOND).saturating_mul(SECOND);
        }
        self.recent.is_pending = true;
        &mut self.recent
    }

    /// Adds what is pending to the total and the slices, and to those of all groups. `sliced` is the number of slices of
    /// all groups.
    pub fn settle(&mut self, all: &mut Slices<AllEvents>, sliced: &mut usize) {
        let RecentFigures { pending, begin, is_pending, slices, .. } = &mut *self.recent;
        if std::mem::take(is_pending) {
            let (pending, time) = (std::mem::take(pending), *begin);
            self.total.merge(&pending);
            let before = slices.len();
            slices.at(time, |figures| figures.merge(&pending));
            *sliced = *sliced + slices.len() - before;
            all.at(time, |all| all.add(&pending, self.unit_ns));
        }
    }
}

/// Events of a slice of time, of all groups.
#[derive(Clone, Debug)]
pub(super) struct AllEvents {
    pub count: u64,
    /// By how long they took.
    pub steps: [u64; STEPS],
}

impl Default for AllEvents {
    fn default() -> Self {
        AllEvents { count: 0, steps: [0; STEPS] }
    }
}

impl AllEvents {
    fn add(&mut self, figures: &Figures, unit_ns: u128) {
        self.count += figures.count();
        add_steps(&mut self.steps, figures, unit_ns);
    }
}

/// Adds the durations of a group, in a unit of this many nanoseconds, to steps.
pub(super) fn add_steps(steps: &mut [u64; STEPS], figures: &Figures, unit_ns: u128) {
    for bucket in figures.durations.buckets() {
        let ns = u64::try_from(u128::from(bucket.low) * unit_ns).unwrap_or(u64::MAX);
        steps[step_of(ns)] += bucket.count;
    }
}
