//! The counter and the monotonic clock read together: two such pairs give the counter's rate.

use std::time::Instant;

use super::counter;

/// How often both clocks are read; the fastest pair counts.
const ATTEMPTS: usize = 32;

/// The counter and the monotonic clock, read at the same moment.
#[derive(Clone, Copy, Debug)]
pub struct ClockPair {
    counter: u64,
    monotonic: Instant,
}

impl ClockPair {
    /// Reads both several times, and keeps the pair that was read fastest. Neither allocates nor waits.
    ///
    /// Call [`check`](super::check) first: not every processor has a counter.
    pub fn now() -> ClockPair {
        let read = || {
            let before = counter();
            let monotonic = Instant::now();
            let apart = counter().wrapping_sub(before);
            (apart, ClockPair { counter: before.wrapping_add(apart / 2), monotonic })
        };
        let first = read();
        let closest = (1..ATTEMPTS)
            .map(|_| read())
            .fold(first, |closest, pair| if pair.0 < closest.0 { pair } else { closest });
        closest.1
    }

    /// The moment by the monotonic clock.
    pub fn monotonic(&self) -> Instant {
        self.monotonic
    }

    /// The counter's frequency in hertz, between this pair and a later one.
    pub fn frequency_until(&self, end: &ClockPair) -> u64 {
        let cycles = u128::from(end.counter.wrapping_sub(self.counter));
        let nanoseconds = end.monotonic.duration_since(self.monotonic).as_nanos().max(1);
        let frequency = (cycles * 1_000_000_000 + nanoseconds / 2) / nanoseconds;
        u64::try_from(frequency).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn frequency_is_cycles_by_time() {
        let start = ClockPair { counter: 1_000, monotonic: Instant::now() };
        let end = ClockPair {
            counter: 1_000 + 600_000_000,
            monotonic: start.monotonic + Duration::from_millis(250),
        };
        assert_eq!(start.frequency_until(&end), 2_400_000_000);
    }
}
