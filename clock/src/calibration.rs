//! The counter's frequency, measured against the monotonic clock.

use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::ffi::counter;

/// For how long the two clocks are compared, at least.
const SHORTEST: Duration = Duration::from_millis(200);

/// How often both are read at either end; the closest pair counts.
const READINGS: usize = 32;

static START: OnceLock<Calibration> = OnceLock::new();
static FREQUENCY: OnceLock<u64> = OnceLock::new();

/// Both clocks, read at one moment.
pub(crate) struct Calibration {
    counter: u64,
    monotonic: Instant,
}

impl Calibration {
    /// Begins to compare the clocks.
    pub(crate) fn begin() {
        START.get_or_init(Calibration::now);
    }

    /// The counter's frequency in hertz: the same at every call, since a trace has one.
    pub(crate) fn frequency() -> u64 {
        *FREQUENCY.get_or_init(|| {
            let start = START.get_or_init(Calibration::now);
            sleep(SHORTEST.saturating_sub(start.monotonic.elapsed()));
            start.frequency_until(&Calibration::now())
        })
    }

    /// The pair of readings that is least apart.
    fn now() -> Calibration {
        let read = || {
            let before = counter();
            let monotonic = Instant::now();
            let after = counter();
            (
                after.wrapping_sub(before),
                Calibration { counter: before + after.wrapping_sub(before) / 2, monotonic },
            )
        };
        let readings = (0..READINGS).map(|_| read());
        let closest = readings.min_by_key(|(apart, _)| *apart);
        closest.map_or_else(|| read().1, |(_, calibration)| calibration)
    }

    fn frequency_until(&self, end: &Calibration) -> u64 {
        let cycles = u128::from(end.counter.wrapping_sub(self.counter));
        let nanoseconds = end.monotonic.duration_since(self.monotonic).as_nanos().max(1);
        let frequency = (cycles * 1_000_000_000 + nanoseconds / 2) / nanoseconds;
        u64::try_from(frequency).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequency_is_cycles_by_time() {
        let start = Calibration { counter: 1_000, monotonic: Instant::now() };
        let end = Calibration {
            counter: 1_000 + 600_000_000,
            monotonic: start.monotonic + Duration::from_millis(250),
        };
        assert_eq!(start.frequency_until(&end), 2_400_000_000);
    }
}
