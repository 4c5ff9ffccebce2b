//! Measures futures and streams, which only macros make: without the feature `derive` nothing would use it.

use std::time::Duration;

use crate::moment::Moment;

/// The time that something took which is polled: from the first poll to the end, or only the time in polls.
#[derive(Clone, Copy)]
pub(crate) struct PolledTime<const POLLING: bool> {
    /// The nanoseconds in the polls before this one.
    before: u64,
    /// When it began, or this poll did.
    since: Moment,
}

impl<const POLLING: bool> PolledTime<POLLING> {
    /// Begins, in the first poll.
    #[inline]
    pub(crate) fn start() -> Self {
        PolledTime { before: 0, since: Moment::now() }
    }

    /// Before each further poll.
    #[inline]
    pub(crate) fn resume(&mut self) {
        if POLLING {
            self.since = Moment::now();
        }
    }

    /// After a poll that was not the last.
    #[inline]
    pub(crate) fn pause(&mut self) {
        if POLLING {
            self.before = self.in_poll().as_nanos() as u64;
        }
    }

    /// The time, during a poll.
    #[inline]
    pub(crate) fn in_poll(&self) -> Duration {
        Duration::from_nanos(self.before) + self.since.elapsed()
    }

    /// The time, between polls.
    #[inline]
    pub(crate) fn between_polls(&self) -> Duration {
        if POLLING { Duration::from_nanos(self.before) } else { self.in_poll() }
    }
}
