//! When a measurement began.
//!
//! It is a single number that is not 0, so that a measurement of a disabled event is a 0 in a register.
//! The highest bit says which clock was read: the monotonic clock's nanoseconds and a counter that starts with the
//! machine do not reach it for decades. A measurement ends with the clock that it began with.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::counter::counter;
use crate::duration_clock::{advance, scale};
use crate::ffi::clock::monotonic;

/// Set in a moment that was read from the counter.
const COUNTER: u64 = 1 << 63;

/// A moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(NonZeroU64);

impl Moment {
    /// Reads the clock.
    ///
    /// Not inlined: it is called for enabled events only, and would only make its callers larger.
    #[cold]
    #[inline(never)]
    pub(crate) fn now() -> Moment {
        if scale().is_some() {
            return Moment(NonZeroU64::MIN | COUNTER | counter());
        }
        advance();
        Moment(NonZeroU64::MIN.saturating_add(monotonic()))
    }

    /// The time since then; never negative.
    #[inline(never)]
    pub(crate) fn elapsed(self) -> Duration {
        let start = self.0.get();
        match scale() {
            Some(scale) if start & COUNTER != 0 => {
                scale.duration((counter() | COUNTER).saturating_sub(start))
            }
            _ => Duration::from_nanos((monotonic() + 1).saturating_sub(start)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::ffi::clock::tests::{move_to, processors};
    use crate::{DurationClock, duration_clock, use_counter_clock};

    /// What the documentation of [`use_counter_clock`] states: 100 ppm, and what the two clocks differ by in reading.
    fn allowed(duration: Duration) -> Duration {
        duration / 10_000 + Duration::from_nanos(300)
    }

    /// Whether the counter is used, once that is decided.
    fn counter_is_used() -> bool {
        use_counter_clock();
        loop {
            match duration_clock() {
                DurationClock::Counter { .. } => return true,
                DurationClock::Monotonic(reason) => {
                    println!("nothing to test: {reason}");
                    return false;
                }
                DurationClock::Calibrating => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Measures with both clocks, so that our moments enclose the other's, and then lie within them.
    fn compare(work: impl Fn()) -> [Duration; 3] {
        let before = Instant::now();
        let ours = Moment::now();
        let inner = Instant::now();
        work();
        let shorter = inner.elapsed();
        let measured = ours.elapsed();
        [shorter, measured, before.elapsed()]
    }

    #[test]
    fn counter_agrees_with_the_monotonic_clock_for_seconds_and_across_processors() {
        if !counter_is_used() {
            return;
        }
        assert!(Moment::now().0.get() & COUNTER != 0, "the counter is read");
        let [shorter, measured, longer] = compare(|| thread::sleep(Duration::from_secs(3)));
        println!("{shorter:?} <= {measured:?} <= {longer:?}");
        assert!(measured + allowed(longer) >= shorter && measured <= longer + allowed(longer));
        let processors = processors();
        for pair in 0..2_000 {
            move_to(processors[pair % processors.len()]);
            let [shorter, measured, longer] = compare(|| move_to(processors[(pair + 1) % processors.len()]));
            assert!(measured + allowed(longer) >= shorter, "{shorter:?} <= {measured:?}");
            assert!(measured <= longer + allowed(longer), "{measured:?} <= {longer:?}");
        }
    }

    #[test]
    fn time_is_never_negative_on_any_processor() {
        counter_is_used();
        let started = Instant::now();
        let threads: Vec<_> = processors()
            .into_iter()
            .map(|processor| {
                thread::spawn(move || {
                    move_to(processor);
                    while started.elapsed() < Duration::from_millis(300) {
                        let moment = Moment::now();
                        // A negative time would appear as centuries, or as 0 after a wait.
                        let (first, second) = (moment.elapsed(), moment.elapsed());
                        assert!(first <= second && second < Duration::from_secs(10), "{first:?} {second:?}");
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }

    #[test]
    fn moment_of_the_monotonic_clock_ends_by_it() {
        let moment = Moment(NonZeroU64::new(monotonic()).unwrap());
        counter_is_used();
        thread::sleep(Duration::from_millis(2));
        let elapsed = moment.elapsed();
        assert!(elapsed >= Duration::from_millis(2) && elapsed < Duration::from_secs(60), "{elapsed:?}");
    }
}
