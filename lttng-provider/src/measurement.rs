//! What `#[traced]` puts into functions. With tracing off none of it runs: functions are the plain ones, with a check of the
//! types in a branch that is never taken.

use std::marker::PhantomData;
use std::time::Duration;

use crate::DurationEvent;
use crate::moment::Moment;

/// The entry of a measured function: whether the event is enabled, and, if so, what is kept for its details.
///
/// It is separate from the [`Measurement`], which refers to it, and is filled in place, so that nothing large is moved,
/// and only a tag is written if the event is not enabled.
///
/// ```
/// # mod events { include!("../doc/events.rs"); }
/// use events::shop::delivered;
/// use lttng_provider::DurationEvent as _;
/// use lttng_provider::__private::Entry;
///
/// fn deliver(parcels: Vec<String>) {
///     let mut entry = Entry::<delivered, _>::new();
///     entry.keep(|| parcels.len() as u32);
///     let _measurement = entry.measure(|duration, count| {
///         delivered::record_duration(duration, delivered::details("Bremen", *count));
///     });
///     drop(parcels); // Their number has been kept.
/// }
/// # deliver(vec![]);
/// ```
pub struct Entry<E, K> {
    kept: Option<K>,
    event: PhantomData<fn() -> E>,
}

impl<E: DurationEvent, K> Entry<E, K> {
    /// Keeps nothing yet.
    #[inline(always)]
    #[allow(clippy::new_without_default, reason = "only generated code calls it")]
    pub fn new() -> Self {
        Entry { kept: None, event: PhantomData }
    }

    /// Keeps what `keep` returns, if the event is enabled.
    #[inline(always)]
    pub fn keep(&mut self, keep: impl FnOnce() -> K) {
        if E::enabled() {
            E::begin();
            self.kept = Some(keep());
        }
    }

    /// An entry that keeps what `keep` returns, if the event is enabled.
    #[inline(always)]
    pub fn kept_now(keep: impl FnOnce() -> K) -> Self {
        let mut entry = Entry::new();
        entry.keep(keep);
        entry
    }

    /// Whether the event was enabled.
    #[inline(always)]
    pub fn is_enabled(&self) -> bool {
        self.kept.is_some()
    }

    /// What was kept, if the event was enabled.
    #[inline(always)]
    pub fn kept(&self) -> Option<&K> {
        self.kept.as_ref()
    }

    /// Begins to measure, if the event was enabled.
    #[inline(always)]
    pub fn measure<R: Copy + Fn(Duration, &K)>(&self, record: R) -> Measurement<'_, K, R> {
        Measurement { running: self.kept.as_ref().map(|kept| (kept, Moment::now())), record }
    }
}

/// Measures until it is dropped, and then records the time with what was kept at the entry.
///
/// If the event was not enabled at the entry, the clock is not read and nothing is recorded.
#[must_use = "a measurement that is dropped at once measures nothing: bind it with `let _measurement`"]
pub struct Measurement<'k, K, R: Copy + Fn(Duration, &K)> {
    running: Option<(&'k K, Moment)>,
    record: R,
}

impl<K, R: Copy + Fn(Duration, &K)> Drop for Measurement<'_, K, R> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some((kept, since)) = self.running {
            finish(kept, since, self.record);
        }
    }
}

/// Not part of `drop`, which is then small enough to be inlined into the measured function: if the event was not enabled, no
/// registers are saved. A reference to the measurement would have it written to memory when it begins, enabled or not.
#[cold]
#[inline(never)]
fn finish<K>(kept: &K, since: Moment, record: impl Fn(Duration, &K)) {
    record(since.elapsed(), kept);
}

/// One measurement for several events, or for one with values from the function's result.
pub struct Clock {
    since: Option<Moment>,
}

impl Clock {
    /// Begins to measure if `enabled`; does not read the clock otherwise.
    #[inline(always)]
    pub fn start(enabled: bool) -> Self {
        Clock { since: (crate::TRACING && enabled).then(Moment::now) }
    }

    /// The time since the start, if it was started enabled.
    #[inline(always)]
    pub fn elapsed(&self) -> Option<Duration> {
        self.since.map(|since| since.elapsed())
    }

    /// Calls the function with the time when the guard is dropped.
    #[inline(always)]
    pub fn guard<R: Copy + Fn(Duration)>(self, record: R) -> ClockGuard<R> {
        ClockGuard { since: self.since, record }
    }
}

/// See [`Clock::guard`].
#[must_use = "a guard that is dropped at once measures nothing"]
pub struct ClockGuard<R: Copy + Fn(Duration)> {
    since: Option<Moment>,
    record: R,
}

impl<R: Copy + Fn(Duration)> Drop for ClockGuard<R> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(since) = self.since {
            let record = self.record;
            finish(&(), since, move |duration, ()| record(duration));
        }
    }
}

/// Names the type that a function returns, also where `!` cannot be written.
pub trait Returns {
    /// That type.
    type Output;
}

impl<R> Returns for fn() -> R {
    type Output = R;
}
