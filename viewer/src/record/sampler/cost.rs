//! What looking costs, and how often it may be done.

use std::time::Duration;

use rustix::time::ClockId;

use super::{monotonic, nanoseconds};

/// The longest pause, in nanoseconds: what costs much is rare, but it is done.
const LONGEST: u64 = 10_000_000_000;

/// How often something may be done.
pub struct Pace {
    /// The share of a core that it may take.
    pub share: f64,
    /// The shortest time from one to the next.
    pub least: Duration,
}

impl Pace {
    /// Does it, and returns when to do it again.
    pub fn next(&self, now: u64, work: impl FnOnce()) -> u64 {
        let before = cpu_time();
        work();
        let cost = cpu_time().saturating_sub(before);
        let pause = (cost as f64 / self.share) as u64;
        let least = u64::try_from(self.least.as_nanos()).unwrap_or(u64::MAX);
        // From the end on: on a busy machine it may have begun long ago.
        (now + pause.max(least).min(LONGEST)).max(monotonic() + least / 2)
    }
}

/// The time that this thread has had a CPU.
pub fn cpu_time() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}
