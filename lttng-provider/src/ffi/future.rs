//! A measured future. It is here because it is pinned together with the future that it contains.
//!
//! The function's body is the contained future, unchanged, so that it owns what the plain function's future owns, and drops it
//! in the same order. What is kept at the entry is evaluated in the first poll, by the first statement of the body, which sees
//! the parameters; it gets to the measurement through a [`Slot`]. A future that is measured and has to wait keeps it on the
//! heap, so that a future is larger by a word only. It cannot be less: each poll must know whether this future is measured, and
//! a table of the futures that are would cost a search in each poll.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::pin::Pin;
use std::ptr::{null_mut, without_provenance_mut};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use crate::polled_time::PolledTime;

thread_local! {
    /// Where the body puts what it keeps: set for the time between the begin of a first poll and the body's first statement.
    static PLACE: Cell<*mut ()> = const { Cell::new(null_mut()) };
}

/// The way from the first statement of a future's body to what measures the future. It has no size.
pub struct Slot<K, const POLLING: bool>(PhantomData<fn(K) -> K>);

impl<K, const POLLING: bool> Copy for Slot<K, POLLING> {}

impl<K, const POLLING: bool> Clone for Slot<K, POLLING> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, const POLLING: bool> Slot<K, POLLING> {
    /// For one future, to which it is given, too.
    #[allow(clippy::new_without_default, reason = "only generated code calls it")]
    pub fn new() -> Self {
        Slot(PhantomData)
    }

    /// The first statement of the body: keeps what `keep` returns and starts the clock, if the future is measured.
    #[inline(always)]
    pub fn keep(self, keep: impl FnOnce() -> K) {
        let place = PLACE.replace(null_mut()).cast::<Option<Running<K, POLLING>>>();
        if !place.is_null() {
            let kept = keep();
            // SAFETY: the macro puts this call at the beginning of the future that it wraps with this slot, so the place is the
            // one that `first_poll` has set right before, which waits for this poll to return. The slot ties the types together.
            unsafe { *place = Some(Running { kept, time: Some(PolledTime::start()) }) };
        }
    }
}

/// A measurement that has begun.
pub struct Running<K, const POLLING: bool> {
    kept: K,
    /// Since the first poll.
    time: Option<PolledTime<POLLING>>,
}

impl<K, const POLLING: bool> Running<K, POLLING> {
    fn time(&mut self) -> &mut PolledTime<POLLING> {
        self.time.get_or_insert_with(PolledTime::start)
    }
}

/// How far a future is, in a word: null for one that is idle, a mark for a new one, all else is from a box.
pub struct Stage<K, const POLLING: bool>(*mut Running<K, POLLING>);

/// Not an address of a [`Running`], which is aligned to more.
const NEW: usize = 1;

// SAFETY: it owns what it points at, as a box does.
unsafe impl<K, const POLLING: bool> Send for Stage<K, POLLING> where Box<Running<K, POLLING>>: Send {}
// SAFETY: as above.
unsafe impl<K, const POLLING: bool> Sync for Stage<K, POLLING> where Box<Running<K, POLLING>>: Sync {}

/// A stage, taken apart.
enum Polled<K, const POLLING: bool> {
    /// Not polled yet; the first poll decides whether it is measured.
    New,
    /// Measured; not polled yet only if its function was entered when it was called.
    Running(Box<Running<K, POLLING>>),
    /// Not measured, or at its end.
    Idle,
}

impl<K, const POLLING: bool> Stage<K, POLLING> {
    const IDLE: Self = Stage(null_mut());

    /// A future that is entered with its first poll.
    #[inline(always)]
    pub fn first_poll(_: Slot<K, POLLING>) -> Self {
        const { assert!(align_of::<Running<K, POLLING>>() > NEW) };
        Stage(without_provenance_mut(NEW))
    }

    /// A future whose function was entered when it was called.
    #[inline(always)]
    pub fn entered(kept: Option<K>) -> Self {
        Self::running(kept.map(|kept| Box::new(Running { kept, time: None })))
    }

    fn running(running: Option<Box<Running<K, POLLING>>>) -> Self {
        Stage(running.map_or(null_mut(), Box::into_raw))
    }

    #[inline(always)]
    fn is_idle(&self) -> bool {
        self.0.is_null()
    }

    #[inline(always)]
    fn is_new(&self) -> bool {
        self.0.addr() == NEW
    }

    /// What it is; it is idle from then on.
    #[inline(always)]
    fn take(&mut self) -> Polled<K, POLLING> {
        let stage = ManuallyDrop::new(mem::replace(self, Self::IDLE));
        match stage.0.addr() {
            0 => Polled::Idle,
            NEW => Polled::New,
            // SAFETY: all other pointers are from `Box::into_raw`, and nothing else has this one any more.
            _ => Polled::Running(unsafe { Box::from_raw(stage.0) }),
        }
    }
}

impl<K, const POLLING: bool> Drop for Stage<K, POLLING> {
    #[inline]
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// What measures a future: records it when it has a result, or is dropped before that.
struct FutureMeasurement<K, T, R: Fn(&K, Duration, Option<&T>), const POLLING: bool> {
    stage: Stage<K, POLLING>,
    record: R,
    result: PhantomData<fn(&T)>,
}

impl<K, T, R: Fn(&K, Duration, Option<&T>), const POLLING: bool> Drop
    for FutureMeasurement<K, T, R, POLLING>
{
    #[inline]
    fn drop(&mut self) {
        let Polled::Running(running) = self.stage.take() else { return };
        if let Some(time) = running.time.filter(|_| !thread::panicking()) {
            (self.record)(&running.kept, time.between_polls(), None);
        }
    }
}

/// A future, and what measures it. `ON_PANIC`: a poll that panics is recorded as if the future were dropped.
pub struct TracedFuture<F: Future, K, E, R, const POLLING: bool, const ON_PANIC: bool>
where
    E: Fn() -> bool,
    R: Fn(&K, Duration, Option<&F::Output>),
{
    // Before the measurement, so that it is dropped first.
    future: F,
    measurement: FutureMeasurement<K, F::Output, R, POLLING>,
    is_enabled: E,
}

impl<F: Future, K, E, R, const POLLING: bool, const ON_PANIC: bool>
    TracedFuture<F, K, E, R, POLLING, ON_PANIC>
where
    E: Fn() -> bool,
    R: Fn(&K, Duration, Option<&F::Output>),
{
    /// Measures a future from its first poll.
    #[inline(always)]
    pub fn new(stage: Stage<K, POLLING>, future: F, is_enabled: E, record: R) -> Self {
        TracedFuture {
            future,
            measurement: FutureMeasurement { stage, record, result: PhantomData },
            is_enabled,
        }
    }
}

impl<F: Future, K, E, R, const POLLING: bool, const ON_PANIC: bool> Future
    for TracedFuture<F, K, E, R, POLLING, ON_PANIC>
where
    E: Fn() -> bool,
    R: Fn(&K, Duration, Option<&F::Output>),
{
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: nothing moves the future: it is only reached through this pin, and has no `Drop` around it that could.
        let (future, measurement, is_enabled) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), &mut this.measurement, &this.is_enabled)
        };
        if measurement.stage.is_new() && !is_enabled() {
            measurement.stage = Stage::IDLE;
        }
        match measurement.stage.is_idle() {
            true => future.poll(context),
            false => measurement.poll::<ON_PANIC>(|| future.poll(context)),
        }
    }
}

impl<K, T, R: Fn(&K, Duration, Option<&T>), const POLLING: bool> FutureMeasurement<K, T, R, POLLING> {
    /// Polls a future that is measured.
    #[cold]
    fn poll<const ON_PANIC: bool>(&mut self, poll: impl FnOnce() -> Poll<T>) -> Poll<T> {
        let mut this = InPoll::<_, _, _, POLLING, ON_PANIC> {
            first: None,
            further: None,
            record: &self.record,
            result: PhantomData,
        };
        match self.stage.take() {
            Polled::Running(mut running) => {
                running.time().resume();
                this.further = Some(running);
            }
            _ => PLACE.set((&raw mut this.first).cast()),
        }
        let polled = poll();
        match &polled {
            Poll::Ready(result) => this.finish(Some(result)),
            Poll::Pending => {
                let mut running = this.further.take().or_else(|| this.first.take().map(Box::new));
                if let Some(running) = &mut running {
                    running.time().pause();
                }
                self.stage = Stage::running(running);
            }
        }
        polled
    }
}

/// A poll of a future that is measured; dropped with a measurement in it only if the poll panics.
struct InPoll<'m, K, T, R: Fn(&K, Duration, Option<&T>), const POLLING: bool, const ON_PANIC: bool> {
    /// What the first poll makes.
    first: Option<Running<K, POLLING>>,
    /// What further polls go on with.
    further: Option<Box<Running<K, POLLING>>>,
    record: &'m R,
    result: PhantomData<fn(&T)>,
}

impl<K, T, R: Fn(&K, Duration, Option<&T>), const POLLING: bool, const ON_PANIC: bool>
    InPoll<'_, K, T, R, POLLING, ON_PANIC>
{
    fn finish(&mut self, result: Option<&T>) {
        let (mut first, mut further) = (self.first.take(), self.further.take());
        if let Some(running) = first.as_mut().or(further.as_deref_mut()) {
            let duration = running.time().in_poll();
            (self.record)(&running.kept, duration, result);
        }
    }
}

impl<K, T, R: Fn(&K, Duration, Option<&T>), const POLLING: bool, const ON_PANIC: bool> Drop
    for InPoll<'_, K, T, R, POLLING, ON_PANIC>
{
    fn drop(&mut self) {
        // Taken by the body's first statement, unless there was none.
        PLACE.set(null_mut());
        if ON_PANIC {
            self.finish(None);
        }
    }
}

#[cfg(all(test, tracing))]
mod tests {
    use std::cell::RefCell;
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    /// The results that are recorded of a future that waits once, if it is polled this many times.
    fn recorded(stage: Option<Stage<(String,), false>>, is_enabled: bool, polls: usize) -> Vec<Option<u32>> {
        let records = RefCell::new(Vec::new());
        let slot = Slot::new();
        let mut has_waited = false;
        let future = async move {
            slot.keep(|| ("kept".to_owned(),));
            std::future::poll_fn(|_| match mem::replace(&mut has_waited, true) {
                true => Poll::Ready(7),
                false => Poll::Pending,
            })
            .await
        };
        let record = |(kept,): &(String,), _: Duration, result: Option<&u32>| {
            assert_eq!(kept, "kept");
            records.borrow_mut().push(result.copied());
        };
        let stage = stage.unwrap_or_else(|| Stage::first_poll(slot));
        {
            let traced = TracedFuture::<_, _, _, _, false, false>::new(stage, future, || is_enabled, record);
            let mut traced = pin!(traced);
            for _ in 0..polls {
                let _ = traced.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
        }
        records.into_inner()
    }

    #[test]
    fn future_is_recorded_once_if_it_was_polled_while_its_event_was_enabled() {
        assert_eq!(recorded(None, true, 0), []);
        assert_eq!(recorded(None, true, 1), [None]);
        assert_eq!(recorded(None, true, 2), [Some(7)]);
        for polls in 0..=2 {
            assert_eq!(recorded(None, false, polls), []);
            assert_eq!(recorded(Some(Stage::entered(None)), true, polls), []);
        }
        let entered = || Some(Stage::entered(Some(("kept".to_owned(),))));
        assert_eq!(recorded(entered(), false, 0), []);
        assert_eq!(recorded(entered(), false, 1), [None]);
        assert_eq!(recorded(entered(), false, 2), [Some(7)]);
    }

    #[test]
    fn stage_is_a_word_and_crosses_threads_as_what_it_keeps_does() {
        assert_eq!(size_of::<Stage<[u64; 9], true>>(), size_of::<usize>());
        let stage: Stage<(String,), true> = Stage::entered(Some(("kept".to_owned(),)));
        thread::spawn(move || drop(stage)).join().unwrap();
    }
}
