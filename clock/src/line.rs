//! Time as a line over the counter: where it begins, and how fast it rises.

/// The nanoseconds of a count have this many bits after the point.
const SHIFT: u32 = 32;

/// How much faster or slower than the clock a line may be to make up for an error, as one part in this: as much as
/// kernels correct their clock by, 500 ppm.
const CORRECTION: u64 = 2_000;

/// A rate that differs from the one before it by more than one part in this is not believed.
const DIFFERENCE: u64 = 1_000;

/// The counter and the monotonic clock, read at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) counter: u64,
    pub(crate) nanoseconds: u64,
}

/// A part of the line, from one comparison of the clocks to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The moment that it begins at: the counter, and the time by this line.
    pub(crate) counter: u64,
    pub(crate) nanoseconds: u64,
    /// The monotonic clock at that moment.
    pub(crate) compared: u64,
    /// The nanoseconds of a count, in units of 2^-32: of the line, and of the clock as it was last measured. 0 while nothing
    /// is measured.
    pub(crate) slope: u64,
    pub(crate) rate: u64,
    /// The counts after which the clocks are compared again.
    pub(crate) counts: u64,
}

impl Line {
    /// Before the rate is known.
    pub(crate) fn begin(pair: Pair) -> Line {
        Line {
            counter: pair.counter,
            nanoseconds: pair.nanoseconds,
            compared: pair.nanoseconds,
            ..Line::default()
        }
    }

    pub(crate) fn is_calibrated(&self) -> bool {
        self.slope != 0
    }

    /// The time at this count.
    #[inline(always)]
    pub(crate) fn at(&self, counter: u64) -> u64 {
        let counts = counter.wrapping_sub(self.counter);
        self.nanoseconds + ((u128::from(counts) * u128::from(self.slope)) >> SHIFT) as u64
    }

    /// Whether the clocks need not be compared yet.
    #[inline(always)]
    pub(crate) fn is_current(&self, counter: u64) -> bool {
        counter.wrapping_sub(self.counter) < self.counts
    }

    /// Whether the line is still right to less than a microsecond, although the clocks should be compared.
    pub(crate) fn is_usable(&self, counter: u64) -> bool {
        counter.wrapping_sub(self.counter) < 2 * self.counts
    }

    /// The latest time that was given out while the line was current.
    pub(crate) fn latest(&self) -> u64 {
        if self.is_calibrated() { self.at(self.counter.wrapping_add(self.counts)) } else { 0 }
    }

    /// The line from a later comparison on, which is to hold for `interval` nanoseconds. It never goes back.
    pub(crate) fn next(&self, now: Pair, interval: u64) -> Line {
        let Some(rate) = self.rate_until(now) else { return Line::begin(now) };
        // Where the line is in use it goes on from where it is, and meets the clock when it ends.
        let start = match self.is_calibrated() && self.is_usable(now.counter) {
            true => self.at(now.counter),
            false => now.nanoseconds.max(self.latest()),
        };
        let most = interval / CORRECTION;
        let ahead = start.saturating_sub(now.nanoseconds).min(most);
        let behind = now.nanoseconds.saturating_sub(start).min(most);
        let slope = u128::from(rate) * u128::from(interval + behind - ahead) / u128::from(interval);
        Line {
            counter: now.counter,
            nanoseconds: start,
            compared: now.nanoseconds,
            slope: slope as u64,
            rate,
            counts: ((u128::from(interval) << SHIFT) / u128::from(rate)) as u64,
        }
    }

    /// The rate since this line began; none if the machine was suspended or moved meanwhile.
    fn rate_until(&self, now: Pair) -> Option<u64> {
        let counts = now.counter.checked_sub(self.counter).filter(|&counts| counts > 0)?;
        let rate = (u128::from(now.nanoseconds.checked_sub(self.compared)?) << SHIFT) / u128::from(counts);
        let rate = u64::try_from(rate).ok().filter(|&rate| rate > 0)?;
        let is_believed = self.rate == 0 || rate.abs_diff(self.rate) <= self.rate / DIFFERENCE;
        is_believed.then_some(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    /// A counter of 3 GHz, and a clock that is `error` nanoseconds off.
    fn pair(nanoseconds: u64, error: i64) -> Pair {
        Pair { counter: nanoseconds * 3, nanoseconds: nanoseconds.saturating_add_signed(error) }
    }

    fn calibrated() -> Line {
        Line::begin(pair(10 * MILLISECOND, 0)).next(pair(20 * MILLISECOND, 0), 100 * MILLISECOND)
    }

    #[test]
    fn time_is_that_of_the_clock() {
        let line = calibrated();
        for nanoseconds in [20, 21, 60, 119].map(|time| time * MILLISECOND) {
            assert!(line.is_current(nanoseconds * 3));
            assert!(line.at(nanoseconds * 3).abs_diff(nanoseconds) <= 1, "{nanoseconds}");
        }
        assert!(!line.is_current(120 * MILLISECOND * 3 + 3));
    }

    #[test]
    fn line_goes_on_without_a_step_and_meets_the_clock() {
        for error in [-3_000, -40, 0, 40, 3_000] {
            let line = calibrated();
            let now = pair(120 * MILLISECOND, error);
            let next = line.next(now, 100 * MILLISECOND);
            assert_eq!(next.at(now.counter), line.at(now.counter));
            // The clock goes on at the rate that was just measured.
            let end = (now.nanoseconds + 100 * MILLISECOND).saturating_add_signed(error);
            let reached = next.at(220 * MILLISECOND * 3);
            assert!(reached.abs_diff(end) <= 10, "{error}: {reached} and {end}");
        }
    }

    #[test]
    fn line_that_was_not_used_for_long_starts_from_the_clock_and_never_goes_back() {
        let line = calibrated();
        let hour = 3_600_000 * MILLISECOND;
        let next = line.next(pair(hour, 7 * 1_000_000), 100 * MILLISECOND);
        assert_eq!(next.at(hour * 3), hour + 7 * 1_000_000);
        // The clock cannot go back; should it, the line does not.
        let late = Pair { counter: 230 * MILLISECOND * 3, nanoseconds: 119_999_990 };
        assert!(line.next(late, 100 * MILLISECOND).nanoseconds >= 119_999_990);
    }

    #[test]
    fn counter_that_jumped_is_measured_again() {
        let line = calibrated();
        let suspended = Pair { counter: 9_000 * MILLISECOND * 3, nanoseconds: 130 * MILLISECOND };
        assert!(!line.next(suspended, 100 * MILLISECOND).is_calibrated());
        let reset = Pair { counter: 5, nanoseconds: 130 * MILLISECOND };
        assert!(!line.next(reset, 100 * MILLISECOND).is_calibrated());
    }
}
