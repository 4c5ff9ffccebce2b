//! A measured stream. It is here because it is pinned together with the stream that it contains.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;

use crate::measurement::StreamMeasurement;

/// A stream, and what measures it.
#[derive(Debug)]
pub struct TracedStream<S, R: Fn(Duration, bool)> {
    stream: S,
    measurement: StreamMeasurement<R>,
}

/// Measures a stream from its first poll to its end.
pub fn traced_stream<S: Stream, R: Fn(Duration, bool)>(
    stream: S,
    measurement: StreamMeasurement<R>,
) -> TracedStream<S, R> {
    TracedStream { stream, measurement }
}

impl<S: Stream, R: Fn(Duration, bool)> Stream for TracedStream<S, R> {
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

impl<S: Unpin, R: Fn(Duration, bool)> Unpin for TracedStream<S, R> {}
