//! The clock that durations are measured with.
//!
//! The counter is used only if the application asks for it and `counter::check` trusts it. Its rate is then
//! measured against the monotonic clock during the program's own measurements, without a thread and without waiting;
//! until then, the monotonic clock is used. Measurements neither lock nor allocate, because they may be made in a
//! signal handler.

use std::fmt;

#[cfg(tracing)]
pub(crate) use clock::{advance, scale};

/// The clock that `#[traced]`, [`Guard`](crate::Guard) and [`Stopwatch`](crate::Stopwatch) measure with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DurationClock {
    /// The system's monotonic clock, and why the counter is not used.
    Monotonic(String),
    /// The monotonic clock, while the counter's rate is measured against it.
    Calibrating,
    /// The processor's counter.
    #[non_exhaustive]
    Counter {
        /// Its rate, in hertz.
        frequency: u64,
    },
}

impl fmt::Display for DurationClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DurationClock::Monotonic(reason) => write!(formatter, "the monotonic clock: {reason}"),
            DurationClock::Calibrating => {
                formatter.write_str("the monotonic clock, while the counter is compared with it")
            }
            DurationClock::Counter { frequency } => {
                write!(formatter, "the processor's counter, {frequency} Hz")
            }
        }
    }
}

/// Measures durations with the processor's counter, where it can be trusted.
///
/// Call it once, early in `main`. A measurement reads the clock twice; with the counter that takes about half the
/// time. The counter is trusted where the processor says that it runs at a constant rate and the kernel uses it for
/// its own clock, which it does only where the counters of all processors agree. Otherwise the monotonic
/// clock is used, as without this call; the result says why.
///
/// The counter's rate is measured during the program's own measurements. The first one after a second uses it; until
/// then the clock is [`Calibrating`](DurationClock::Calibrating). [`duration_clock`] returns the clock in use.
///
/// Durations differ from those of the monotonic clock by at most 100 ppm, mostly because the kernel corrects its
/// clock and not the counter, plus less than a microsecond. They are never negative. A measurement during which the
/// machine is suspended may include that time; the monotonic clock leaves it out.
///
/// ```
/// let clock = lttng_provider::use_counter_clock();
/// println!("durations are measured with {clock}");
/// ```
pub fn use_counter_clock() -> DurationClock {
    clock::start();
    duration_clock()
}

/// The clock that durations are measured with now; see [`use_counter_clock`].
pub fn duration_clock() -> DurationClock {
    clock::current()
}

/// Nothing is measured with tracing off.
#[cfg(not(tracing))]
mod clock {
    use super::DurationClock;

    pub(super) fn start() {}

    pub(super) fn current() -> DurationClock {
        DurationClock::Monotonic("tracing is not built in".to_owned())
    }
}

#[cfg(tracing)]
mod clock {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread::sleep;
    use std::time::Duration;

    use crate::counter::{self, ClockPair};

    use super::DurationClock;

    /// The shortest time for which the counter is compared with the monotonic clock.
    const SHORTEST: Duration = Duration::from_secs(1);
    /// How long the first, rough comparison takes.
    const ROUGH: Duration = Duration::from_millis(2);
    /// The rate may differ from the rough one by one part in this; kernels correct the monotonic clock by at most
    /// half as much.
    const DIFFERENCE: u64 = 1_000;

    /// When the comparison began, or why the counter is not used, once the application has asked for it.
    static START: OnceLock<Result<Start, String>> = OnceLock::new();
    /// The counter's rate in hertz, once it is used; [`REFUSED`] if it is not trusted.
    static FREQUENCY: AtomicU64 = AtomicU64::new(0);
    /// The nanoseconds of a count, in units of 2^-32; 0 while the counter is not used.
    static SCALE: AtomicU64 = AtomicU64::new(0);

    const REFUSED: u64 = u64::MAX;

    struct Start {
        at: ClockPair,
        rough: u64,
    }

    /// How long a count is.
    #[derive(Clone, Copy)]
    pub(crate) struct Scale(u64);

    impl Scale {
        fn of(frequency: u64) -> Scale {
            let scale = (1_000_000_000_u128 << 32) / u128::from(frequency.max(1));
            Scale(u64::try_from(scale).unwrap_or(u64::MAX))
        }

        /// The time that this number of counts takes.
        #[inline]
        pub(crate) fn duration(self, count: u64) -> Duration {
            Duration::from_nanos(((u128::from(count) * u128::from(self.0)) >> 32) as u64)
        }
    }

    /// How long a count is, if the counter is used.
    #[inline(always)]
    pub(crate) fn scale() -> Option<Scale> {
        match SCALE.load(Ordering::Relaxed) {
            0 => None,
            scale => Some(Scale(scale)),
        }
    }

    /// Begins to compare the clocks.
    pub(super) fn start() {
        START.get_or_init(|| {
            counter::check()?;
            let at = ClockPair::now();
            sleep(ROUGH);
            Ok(Start { at, rough: at.frequency_until(&ClockPair::now()) })
        });
    }

    pub(super) fn current() -> DurationClock {
        advance();
        match (START.get(), FREQUENCY.load(Ordering::Relaxed)) {
            (None, _) => DurationClock::Monotonic("the program has not asked for the counter".to_owned()),
            (Some(Err(reason)), _) => DurationClock::Monotonic(reason.clone()),
            (Some(Ok(_)), 0) => DurationClock::Calibrating,
            (Some(Ok(_)), REFUSED) => DurationClock::Monotonic(
                "the counter runs at another rate, as if the machine had been suspended".to_owned(),
            ),
            // The thread that has measured the rate may not have made it known to measurements yet.
            (Some(Ok(_)), _) if scale().is_none() => DurationClock::Calibrating,
            (Some(Ok(_)), frequency) => DurationClock::Counter { frequency },
        }
    }

    /// Switches to the counter when it has been compared for long enough.
    #[inline]
    pub(crate) fn advance() {
        let Some(Ok(start)) = START.get() else { return };
        if FREQUENCY.load(Ordering::Relaxed) == 0 && start.at.monotonic().elapsed() >= SHORTEST {
            start.conclude(&ClockPair::now());
        }
    }

    impl Start {
        #[cold]
        fn conclude(&self, end: &ClockPair) {
            let frequency = self.at.frequency_until(end);
            let outcome = if is_near(frequency, self.rough) { frequency } else { REFUSED };
            // Another thread may have been faster.
            let first = FREQUENCY.compare_exchange(0, outcome, Ordering::Relaxed, Ordering::Relaxed);
            if first.is_ok() && outcome != REFUSED {
                SCALE.store(Scale::of(frequency).0, Ordering::Relaxed);
            }
        }
    }

    fn is_near(frequency: u64, rough: u64) -> bool {
        frequency > 0 && frequency.abs_diff(rough) <= rough / DIFFERENCE
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn counts_are_scaled_without_overflow() {
            assert_eq!(Scale::of(1_000_000_000).duration(u64::MAX >> 1), Duration::from_nanos(u64::MAX >> 1));
            let second = Scale::of(24_000_000).duration(24_000_000);
            assert!(Duration::from_secs(1).abs_diff(second) <= Duration::from_nanos(1), "{second:?}");
            let day = Scale::of(2_999_999_999).duration(2_999_999_999 * 86_400);
            assert!(Duration::from_secs(86_400).abs_diff(day) < Duration::from_millis(1), "{day:?}");
        }

        #[test]
        fn counter_that_went_on_while_the_clock_stood_is_refused() {
            assert!(is_near(2_400_000_100, 2_400_100_000));
            assert!(!is_near(2_500_000_000, 2_400_000_000));
            assert!(!is_near(0, 0));
        }
    }
}
