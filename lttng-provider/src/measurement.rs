//! What `#[traced]` puts at the beginning of a function.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::pin;
use std::time::Duration;

use crate::{DurationEvent, TRACING};

/// Measures until it is dropped, and then records the time with details that it has kept since the start.
///
/// All is decided by whether the event is enabled at the start: if not, no clock is read, nothing is kept and
/// nothing is recorded. With tracing off it has no size.
///
/// ```
/// # mod events { include!("../doc/events.rs"); }
/// use events::shop::delivered;
/// use lttng_provider::{Measurement, Text};
/// use std::time::Duration;
///
/// fn deliver(parcels: Vec<String>) {
///     let _measurement = Measurement::<delivered, _, _>::start(
///         || parcels.len() as u32,
///         |count| delivered::details("Bremen", *count),
///         Duration::ZERO,
///     );
///     drop(parcels); // The measurement has kept their number.
/// }
/// # deliver(vec![]);
/// ```
#[must_use = "a measurement that is dropped at once measures nothing: bind it with `let _measurement`"]
pub struct Measurement<E, K, D>
where
    E: DurationEvent,
    D: Fn(&K) -> E::Details<'_>,
{
    running: Option<Running<K>>,
    details: D,
    event: PhantomData<fn() -> E>,
}

impl<E, K, D> Measurement<E, K, D>
where
    E: DurationEvent,
    D: Fn(&K) -> E::Details<'_>,
{
    /// Begins, if the event is enabled: keeps what `keep` gives, to make the details from it in the end. What
    /// takes less time than `threshold` is not recorded.
    #[inline]
    pub fn start(keep: impl FnOnce() -> K, details: D, threshold: Duration) -> Self {
        let running = (TRACING && E::enabled()).then(|| Running::start(keep(), threshold));
        Measurement { running, details, event: PhantomData }
    }

    /// Runs a future to its end, and measures only the time that it takes to poll it.
    pub async fn polled<F: Future>(mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        if let Some(running) = &mut self.running {
            running.pause();
        }
        poll_fn(|context| {
            let Some(running) = &mut self.running else {
                return future.as_mut().poll(context);
            };
            running.resume();
            let poll = future.as_mut().poll(context);
            running.pause();
            poll
        })
        .await
    }
}

impl<E, K, D> Drop for Measurement<E, K, D>
where
    E: DurationEvent,
    D: Fn(&K) -> E::Details<'_>,
{
    #[inline]
    fn drop(&mut self) {
        if let Some(running) = &self.running
            && let Some((duration, kept)) = running.finish()
        {
            E::record_duration(duration, (self.details)(kept));
        }
    }
}

#[cfg(tracing)]
use on::Running;

#[cfg(not(tracing))]
use off::Running;

#[cfg(tracing)]
mod on {
    use std::time::{Duration, Instant};

    /// A measurement of an event that was enabled at the start.
    pub(super) struct Running<K> {
        kept: K,
        threshold: Duration,
        /// The time before the last pause.
        before: Duration,
        /// When it began or was resumed; none during a pause.
        since: Option<Instant>,
    }

    impl<K> Running<K> {
        #[inline]
        pub(super) fn start(kept: K, threshold: Duration) -> Self {
            // The clock comes last, so that what is kept does not count.
            Running { kept, threshold, before: Duration::ZERO, since: Some(Instant::now()) }
        }

        pub(super) fn pause(&mut self) {
            self.before = self.elapsed();
            self.since = None;
        }

        pub(super) fn resume(&mut self) {
            self.since = Some(Instant::now());
        }

        /// The time and what was kept, if it took as long as the threshold.
        #[inline]
        pub(super) fn finish(&self) -> Option<(Duration, &K)> {
            let elapsed = self.elapsed();
            (elapsed >= self.threshold).then_some((elapsed, &self.kept))
        }

        #[inline]
        fn elapsed(&self) -> Duration {
            self.before + self.since.map(|since| since.elapsed()).unwrap_or_default()
        }
    }
}

/// With tracing off nothing is ever measured: the type has no value, which the compiler knows.
#[cfg(not(tracing))]
mod off {
    use std::convert::Infallible;
    use std::marker::PhantomData;
    use std::time::Duration;

    pub(super) struct Running<K>(Infallible, PhantomData<K>);

    impl<K> Running<K> {
        pub(super) fn start(_: K, _: Duration) -> Self {
            unreachable!("tracing is not built in")
        }

        pub(super) fn pause(&mut self) {
            match self.0 {}
        }

        pub(super) fn resume(&mut self) {
            match self.0 {}
        }

        pub(super) fn finish(&self) -> Option<(Duration, &K)> {
            match self.0 {}
        }
    }
}
