//! What `#[traced]` puts at the beginning of a function.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::DurationEvent;

#[cfg(not(tracing))]
use off::{Kept, Running};
#[cfg(tracing)]
use on::{Kept, Running};

/// The entry of a measured function: whether the event is enabled, and, if so, what is kept for its details.
///
/// It is separate from the [`Measurement`], which refers to it, and is filled in place, so that nothing large is moved,
/// and only a tag is written if the event is not enabled.
///
/// ```
/// # mod events { include!("../doc/events.rs"); }
/// use events::shop::delivered;
/// use lttng_provider::__private::Entry;
/// use std::time::Duration;
///
/// fn deliver(parcels: Vec<String>) {
///     let mut entry = Entry::<delivered, _>::new();
///     entry.keep(|| parcels.len() as u32);
///     let _measurement = entry.measure(|count| delivered::details("Bremen", *count), Duration::ZERO);
///     drop(parcels); // Their number has been kept.
/// }
/// # deliver(vec![]);
/// ```
pub struct Entry<E, K> {
    kept: Kept<K>,
    event: PhantomData<fn() -> E>,
}

impl<E: DurationEvent, K> Entry<E, K> {
    /// Keeps nothing yet.
    #[inline(always)]
    #[allow(clippy::new_without_default, reason = "only generated code calls it")]
    pub fn new() -> Self {
        Entry { kept: Kept::nothing(), event: PhantomData }
    }

    /// Keeps what `keep` returns, if the event is enabled.
    #[inline(always)]
    pub fn keep(&mut self, keep: impl FnOnce() -> K) {
        if E::enabled() {
            E::begin();
            self.kept.set(keep);
        }
    }

    /// Whether the event was enabled.
    #[inline(always)]
    pub fn is_enabled(&self) -> bool {
        self.kept.get().is_some()
    }

    /// What was kept, if the event was enabled.
    #[inline(always)]
    pub fn kept(&self) -> Option<&K> {
        self.kept.get()
    }

    /// Begins to measure, if the event was enabled. Times below `threshold` are not recorded.
    #[inline(always)]
    pub fn measure<D>(&self, details: D, threshold: Duration) -> Measurement<'_, E, K, D>
    where
        D: Copy + Fn(&K) -> E::Details<'_>,
    {
        Measurement { running: self.kept.start(threshold), details, event: PhantomData }
    }
}

/// One measurement for several events, or for one with values from the function's result.
///
/// It does not read the clock unless it was started enabled. With tracing off it has no size.
pub struct Clock {
    running: Option<Running<'static, ()>>,
}

impl Clock {
    /// Begins to measure if `enabled`.
    #[inline(always)]
    pub fn start(enabled: bool, threshold: Duration) -> Self {
        Clock { running: Running::start(enabled, threshold) }
    }

    /// The time since the start, unless it is below the threshold.
    #[inline(always)]
    pub fn elapsed(&self) -> Option<Duration> {
        self.running.as_ref()?.elapsed_if_long()
    }

    /// Calls the function with the time when the guard is dropped.
    #[inline(always)]
    pub fn guard<F: Copy + Fn(Duration)>(&mut self, finish: F) -> ClockGuard<'_, F> {
        ClockGuard { clock: self, finish }
    }

    /// Runs a future to its end, and measures only the time that it takes to poll it.
    pub async fn polled<F: Future>(&mut self, future: F) -> F::Output {
        polled(&mut self.running, future).await
    }
}

/// Runs a future to its end, and measures only the time that it takes to poll it.
async fn polled<K, F: Future>(measurement: &mut Option<Running<'_, K>>, future: F) -> F::Output {
    let mut future = pin!(future);
    if let Some(running) = measurement {
        running.pause();
    }
    poll_fn(|context| {
        let Some(running) = measurement else {
            return future.as_mut().poll(context);
        };
        running.resume();
        let poll = future.as_mut().poll(context);
        running.pause();
        poll
    })
    .await
}

/// Calls a function. A closure that is passed to it may be called once only, and so may return what it borrows from a
/// reference that it has captured.
#[inline(always)]
pub fn call<R>(function: impl FnOnce() -> R) -> R {
    function()
}

/// The measurement of a future with values from its result: calls a function with the time if it is dropped before there
/// is one. A call that panics is not recorded.
pub struct OrCancelled<F: Fn(Duration)> {
    clock: Clock,
    cancelled: F,
}

impl<F: Fn(Duration)> OrCancelled<F> {
    /// Goes on with a measurement.
    #[inline(always)]
    pub fn new(clock: Clock, cancelled: F) -> Self {
        OrCancelled { clock, cancelled }
    }

    /// See [`Clock::polled`].
    pub async fn polled<T: Future>(&mut self, future: T) -> T::Output {
        self.clock.polled(future).await
    }

    /// There is a result. Returns the time until now, unless it is below the threshold.
    #[inline(always)]
    pub fn finish(mut self) -> Option<Duration> {
        let elapsed = self.clock.elapsed();
        self.clock.running = None;
        elapsed
    }
}

impl<F: Fn(Duration)> Drop for OrCancelled<F> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(duration) = self.clock.elapsed().filter(|_| !std::thread::panicking()) {
            (self.cancelled)(duration);
        }
    }
}

/// The measurement of a stream, from its first poll: calls a function with the time when the stream ends, or is dropped before
/// that, and with which of the two it was. A stream that panics is not recorded.
pub struct StreamMeasurement<R: Fn(Duration, bool)> {
    is_enabled: bool,
    threshold: Duration,
    /// Whether only the time in polls counts.
    is_polling: bool,
    /// Since the first poll.
    clock: Option<Clock>,
    record: R,
}

impl<R: Fn(Duration, bool)> std::fmt::Debug for StreamMeasurement<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamMeasurement").field("is_enabled", &self.is_enabled).finish_non_exhaustive()
    }
}

impl<R: Fn(Duration, bool)> StreamMeasurement<R> {
    /// Measures if `is_enabled`. Times below `threshold` are not recorded.
    #[inline(always)]
    pub fn new(is_enabled: bool, threshold: Duration, is_polling: bool, record: R) -> Self {
        StreamMeasurement { is_enabled, threshold, is_polling, clock: None, record }
    }

    /// Polls the stream.
    #[inline]
    pub(crate) fn poll<T>(&mut self, poll: impl FnOnce() -> Poll<Option<T>>) -> Poll<Option<T>> {
        if !crate::TRACING || !self.is_enabled {
            return poll();
        }
        let running = |clock: &mut Option<Clock>, set: fn(&mut Running<'static, ()>)| {
            clock.as_mut().and_then(|clock| clock.running.as_mut()).into_iter().for_each(set);
        };
        match &self.clock {
            None => self.clock = Some(Clock::start(true, self.threshold)),
            Some(_) if self.is_polling => running(&mut self.clock, Running::resume),
            Some(_) => {}
        }
        let polled = poll();
        if self.is_polling {
            running(&mut self.clock, Running::pause);
        }
        if matches!(polled, Poll::Ready(None)) {
            self.finish(false);
        }
        polled
    }

    fn finish(&mut self, is_cancelled: bool) {
        self.is_enabled = false;
        if let Some(duration) = self.clock.take().and_then(|clock| clock.elapsed()) {
            (self.record)(duration, is_cancelled);
        }
    }
}

impl<R: Fn(Duration, bool)> Drop for StreamMeasurement<R> {
    fn drop(&mut self) {
        if crate::TRACING && !std::thread::panicking() {
            self.finish(true);
        }
    }
}

/// See [`Clock::guard`].
#[must_use = "a guard that is dropped at once measures nothing"]
pub struct ClockGuard<'c, F: Copy + Fn(Duration)> {
    clock: &'c Clock,
    finish: F,
}

impl<F: Copy + Fn(Duration)> Drop for ClockGuard<'_, F> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(running) = self.clock.running {
            let finish = self.finish;
            running.finish(move |duration, ()| finish(duration));
        }
    }
}

/// Measures until it is dropped, and then records the time with details from what was kept at the entry.
///
/// If the event was not enabled at the entry, the clock is not read and nothing is recorded. With tracing off it
/// has no size.
#[must_use = "a measurement that is dropped at once measures nothing: bind it with `let _measurement`"]
pub struct Measurement<'k, E, K, D>
where
    E: DurationEvent,
    D: Copy + Fn(&K) -> E::Details<'_>,
{
    running: Option<Running<'k, K>>,
    details: D,
    event: PhantomData<fn() -> E>,
}

impl<E, K, D> Measurement<'_, E, K, D>
where
    E: DurationEvent,
    D: Copy + Fn(&K) -> E::Details<'_>,
{
    /// Runs a future to its end, and measures only the time that it takes to poll it.
    pub async fn polled<F: Future>(mut self, future: F) -> F::Output {
        polled(&mut self.running, future).await
    }
}

impl<E, K, D> Drop for Measurement<'_, E, K, D>
where
    E: DurationEvent,
    D: Copy + Fn(&K) -> E::Details<'_>,
{
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(running) = self.running {
            let details = self.details;
            running.finish(move |duration, kept| E::record_duration(duration, details(kept)));
        }
    }
}

#[cfg(tracing)]
mod on {
    use std::time::Duration;

    use crate::moment::Moment;

    /// What is kept, if the event was enabled.
    pub(super) struct Kept<K>(Option<K>);

    impl<K> Kept<K> {
        #[inline(always)]
        pub(super) fn nothing() -> Self {
            Kept(None)
        }

        #[inline(always)]
        pub(super) fn set(&mut self, keep: impl FnOnce() -> K) {
            self.0 = Some(keep());
        }

        #[inline(always)]
        pub(super) fn get(&self) -> Option<&K> {
            self.0.as_ref()
        }

        #[inline(always)]
        pub(super) fn start(&self, threshold: Duration) -> Option<Running<'_, K>> {
            let kept = self.0.as_ref()?;
            Some(Running { kept, threshold, before: Duration::ZERO, since: Some(Moment::now()) })
        }
    }

    /// A measurement of an event that was enabled.
    pub(super) struct Running<'k, K> {
        kept: &'k K,
        threshold: Duration,
        /// The time before the last pause.
        before: Duration,
        /// When it began or was resumed; `None` during a pause.
        since: Option<Moment>,
    }

    impl<K> Copy for Running<'_, K> {}

    impl<K> Clone for Running<'_, K> {
        #[inline(always)]
        fn clone(&self) -> Self {
            *self
        }
    }

    impl Running<'static, ()> {
        #[inline(always)]
        pub(super) fn start(enabled: bool, threshold: Duration) -> Option<Self> {
            if !enabled {
                return None;
            }
            Some(Running { kept: &(), threshold, before: Duration::ZERO, since: Some(Moment::now()) })
        }
    }

    impl<'k, K> Running<'k, K> {
        pub(super) fn pause(&mut self) {
            self.before = self.elapsed();
            self.since = None;
        }

        pub(super) fn resume(&mut self) {
            self.since = Some(Moment::now());
        }

        /// The time, unless it is below the threshold.
        #[inline]
        pub(super) fn elapsed_if_long(&self) -> Option<Duration> {
            let elapsed = self.elapsed();
            (elapsed >= self.threshold).then_some(elapsed)
        }

        /// Passes on the time and what was kept, unless the time is below the threshold.
        #[inline(always)]
        pub(super) fn finish(self, record: impl FnOnce(Duration, &'k K)) {
            finish(self.kept, self.threshold, self.before, self.since, record);
        }

        #[inline]
        fn elapsed(&self) -> Duration {
            self.before + self.since.map(|since| since.elapsed()).unwrap_or_default()
        }
    }

    /// Not part of `drop`, which is then small enough to be inlined into the measured function: if the event was not
    /// enabled, no registers are saved. A reference to the measurement, or all of it as one
    /// argument, would have it written to memory when it begins, enabled or not.
    #[cold]
    #[inline(never)]
    fn finish<'k, K>(
        kept: &'k K,
        threshold: Duration,
        before: Duration,
        since: Option<Moment>,
        record: impl FnOnce(Duration, &'k K),
    ) {
        if let Some(duration) = (Running { kept, threshold, before, since }).elapsed_if_long() {
            record(duration, kept);
        }
    }
}

/// With tracing off nothing is kept or measured: `Running` has no values, which the compiler knows.
#[cfg(not(tracing))]
mod off {
    use std::convert::Infallible;
    use std::marker::PhantomData;
    use std::time::Duration;

    pub(super) struct Kept<K>(PhantomData<K>);

    impl<K> Kept<K> {
        #[inline(always)]
        pub(super) fn nothing() -> Self {
            Kept(PhantomData)
        }

        #[inline(always)]
        pub(super) fn set(&mut self, _: impl FnOnce() -> K) {}

        #[inline(always)]
        pub(super) fn get(&self) -> Option<&K> {
            None
        }

        #[inline(always)]
        pub(super) fn start(&self, _: Duration) -> Option<Running<'_, K>> {
            None
        }
    }

    pub(super) struct Running<'k, K> {
        never: Infallible,
        kept: PhantomData<&'k K>,
    }

    impl<K> Copy for Running<'_, K> {}

    impl<K> Clone for Running<'_, K> {
        #[inline(always)]
        fn clone(&self) -> Self {
            *self
        }
    }

    impl Running<'static, ()> {
        #[inline(always)]
        pub(super) fn start(_: bool, _: Duration) -> Option<Self> {
            None
        }
    }

    impl<'k, K> Running<'k, K> {
        pub(super) fn pause(&mut self) {
            match self.never {}
        }

        pub(super) fn resume(&mut self) {
            match self.never {}
        }

        pub(super) fn elapsed_if_long(&self) -> Option<Duration> {
            let _ = self.kept;
            match self.never {}
        }

        pub(super) fn finish(self, _: impl FnOnce(Duration, &'k K)) {
            match self.never {}
        }
    }
}
