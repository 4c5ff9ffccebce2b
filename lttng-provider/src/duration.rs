//! Measuring: the clock is read only for an event that is enabled when the measurement begins.

use std::marker::PhantomData;
use std::time::Duration;

use crate::event::DurationEvent;
use crate::moment::Moment;

/// The details of an event whose only field is the duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoDetails {}

/// A measurement that has begun; dropping it without [`finish`](Stopwatch::finish) records nothing.
#[derive(Debug)]
#[must_use = "a stopwatch records nothing until it is finished"]
pub struct Stopwatch<E> {
    start: Option<Moment>,
    event: PhantomData<fn() -> E>,
}

impl<E: DurationEvent> Stopwatch<E> {
    /// Begins if the event is enabled; does not read the clock otherwise.
    #[inline]
    pub fn start() -> Self {
        let enabled = E::enabled();
        if enabled {
            E::begin();
        }
        Self::start_if(enabled)
    }

    /// Begins if `enabled`; does not read the clock otherwise. For one measurement that feeds several events:
    ///
    /// ```
    /// # mod events { include!("../doc/events.rs"); }
    /// use events::shop::{checkout, delivered};
    /// use lttng_provider::{Stopwatch, emit};
    ///
    /// let watch = Stopwatch::<checkout>::start_if(checkout::enabled() || delivered::enabled());
    /// if let Some(duration) = watch.elapsed() {
    ///     emit!(checkout(duration.as_micros() as u64));
    ///     emit!(delivered("Bremen", 2, duration.as_millis() as u64));
    /// }
    /// ```
    #[inline(always)]
    pub fn start_if(enabled: bool) -> Self {
        Stopwatch { start: (crate::TRACING && enabled).then(Moment::now), event: PhantomData }
    }

    /// The time since the start; `None` if the event was not enabled then.
    #[inline]
    pub fn elapsed(&self) -> Option<Duration> {
        self.start.map(|start| start.elapsed())
    }

    /// Records the time since the start with these details, which are evaluated after the clock is read,
    /// and not at all if the event was not enabled at the start.
    #[inline(always)]
    pub fn finish<'a>(self, details: impl FnOnce() -> E::Details<'a>) {
        if let Some(duration) = self.elapsed() {
            E::record_duration(duration, details());
        }
    }
}

/// A measurement that is recorded when it is dropped, also by an early return or a panic.
#[derive(Debug)]
#[must_use = "a guard that is dropped at once measures nothing: bind it with `let _guard`"]
pub struct Guard<E: for<'a> DurationEvent<Details<'a> = NoDetails>> {
    stopwatch: Stopwatch<E>,
}

impl<E: for<'a> DurationEvent<Details<'a> = NoDetails>> Guard<E> {
    /// Begins if the event is enabled; does not read the clock otherwise.
    #[inline]
    pub fn start() -> Self {
        Guard { stopwatch: Stopwatch::start() }
    }
}

impl<E: for<'a> DurationEvent<Details<'a> = NoDetails>> Drop for Guard<E> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(start) = self.stopwatch.start {
            Self::finish(start);
        }
    }
}

impl<E: for<'a> DurationEvent<Details<'a> = NoDetails>> Guard<E> {
    /// Not part of `drop`, which is then small enough to be inlined into the measured function. It takes a value: a
    /// reference would force the guard into memory when it begins, enabled or not.
    #[cold]
    #[inline(never)]
    fn finish(start: Moment) {
        E::record_duration(start.elapsed(), NoDetails {});
    }
}
