//! What looking costs, and how often it may be done.

use std::time::Duration;

use rustix::time::ClockId;

use super::{monotonic, nanoseconds};

/// The longest pause, in nanoseconds: what costs much is rare, but it is done.
const LONGEST: u64 = 10_000_000_000;

/// What something takes is an average over about this many times.
const RECENT: f64 = 8.0;

/// How often something may be done.
pub struct Pace {
    /// The share of a core that it may take.
    share: f64,
    /// The shortest time from one to the next, in nanoseconds.
    least: u64,
    /// What it takes on average: a single time that takes longer is not followed by a longer pause.
    cost: f64,
    /// When to do it again.
    pub next: u64,
}

impl From<(f64, Duration)> for Pace {
    fn from((share, least): (f64, Duration)) -> Pace {
        Pace { share, least: u64::try_from(least.as_nanos()).unwrap_or(u64::MAX), cost: 0.0, next: 0 }
    }
}

impl Pace {
    /// Does it if its time has come. It is charged with all the time that this thread has had since `charged`: waking up takes
    /// more than looking at a thread does.
    pub fn work(&mut self, charged: &mut u64, work: impl FnOnce()) {
        let now = monotonic();
        if now < self.next {
            return;
        }
        work();
        let spent = cpu_time();
        let cost = spent.saturating_sub(std::mem::replace(charged, spent)) as f64;
        self.cost = if self.next == 0 { cost } else { self.cost + (cost - self.cost) / RECENT };
        let pause = (self.cost / self.share) as u64;
        // From the end on: on a busy machine it may have begun long ago.
        self.next = (now + pause.clamp(self.least, LONGEST)).max(monotonic() + self.least / 2);
    }
}

/// The time that this thread has had a CPU.
pub fn cpu_time() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}
