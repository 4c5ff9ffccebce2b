//! A measured stream. It is here because it is pinned together with the stream that it contains.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use futures_core::Stream;

use crate::polled_time::PolledTime;

/// A stream, and what measures it from its first poll: calls a function with the time when the stream ends, or is dropped before
/// that, and with whether it was dropped. A stream that panics is not recorded.
pub struct TracedStream<S, R: Fn(Duration, bool), const POLLING: bool> {
    // Before the measurement, so that it is dropped first.
    stream: S,
    measurement: StreamMeasurement<R, POLLING>,
}

struct StreamMeasurement<R: Fn(Duration, bool), const POLLING: bool> {
    is_enabled: bool,
    /// Since the first poll.
    time: Option<PolledTime<POLLING>>,
    record: R,
}

impl<S, R: Fn(Duration, bool), const POLLING: bool> TracedStream<S, R, POLLING> {
    /// Measures if `is_enabled`.
    #[inline(always)]
    pub fn new(stream: S, is_enabled: bool, record: R) -> Self {
        TracedStream { stream, measurement: StreamMeasurement { is_enabled, time: None, record } }
    }
}

impl<S: Stream, R: Fn(Duration, bool), const POLLING: bool> Stream for TracedStream<S, R, POLLING> {
    type Item = S::Item;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        // SAFETY: nothing moves the stream: it is only reached through this pin, and has no `Drop` around it that could.
        let (stream, measurement) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.stream), &mut this.measurement)
        };
        measurement.poll(|| stream.poll_next(context))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}

impl<S: Unpin, R: Fn(Duration, bool), const POLLING: bool> Unpin for TracedStream<S, R, POLLING> {}

impl<S: fmt::Debug, R: Fn(Duration, bool), const POLLING: bool> fmt::Debug for TracedStream<S, R, POLLING> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TracedStream").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl<R: Fn(Duration, bool), const POLLING: bool> StreamMeasurement<R, POLLING> {
    #[inline]
    fn poll<T>(&mut self, poll: impl FnOnce() -> Poll<Option<T>>) -> Poll<Option<T>> {
        if !self.is_enabled {
            return poll();
        }
        match &mut self.time {
            None => self.time = Some(PolledTime::start()),
            Some(time) => time.resume(),
        }
        let polled = poll();
        if let Some(time) = &mut self.time {
            time.pause();
        }
        if matches!(polled, Poll::Ready(None)) {
            self.finish(false);
        }
        polled
    }

    fn finish(&mut self, is_cancelled: bool) {
        self.is_enabled = false;
        if let Some(time) = self.time.take() {
            (self.record)(time.between_polls(), is_cancelled);
        }
    }
}

impl<R: Fn(Duration, bool), const POLLING: bool> Drop for StreamMeasurement<R, POLLING> {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.finish(true);
        }
    }
}
