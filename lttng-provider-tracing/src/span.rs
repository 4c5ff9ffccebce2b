//! What is kept of a span that is being recorded, in the registry's extensions of that span.

use std::time::Duration;

use lttng_provider::__private::Clock;
use smallvec::SmallVec;
use tracing_core::span::Id;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::captured::Captured;
/// A span that is being recorded.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) captured: Captured,
    /// Since its first entry, or since it was made if it has not been entered yet.
    started: Stopwatch,
    was_entered: bool,
    /// The entries that have not been left: a span can be entered twice, and by two threads at once.
    depth: u32,
    /// Since the outermost of these, if the busy time is recorded.
    entered: Option<Stopwatch>,
    busy: Duration,
}

/// What is known of a span besides its fields. An event of `tracing` took no time and is not a span, but has one around it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) wall: Duration,
    pub(crate) busy: Duration,
    /// The number that the registry has given it, which no other open span has; 0 if there is no span.
    pub(crate) span: u64,
    pub(crate) parent: u64,
}

impl Facts {
    /// The numbers of a span, or of none, and of the recorded one around it.
    pub(crate) fn new<'s, S: LookupSpan<'s>>(span: Option<&Id>, parent: Option<SpanRef<'s, S>>) -> Facts {
        let parent = parent.map_or(0, |parent| parent.id().into_u64());
        Facts { span: span.map_or(0, Id::into_u64), parent, ..Facts::default() }
    }
}

/// The measurement of durations that events have, so that it is by the same clock.
struct Stopwatch(Clock);

impl std::fmt::Debug for Stopwatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Stopwatch").field(&self.elapsed()).finish()
    }
}

impl Stopwatch {
    fn start() -> Self {
        Stopwatch(Clock::start(true))
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed().unwrap_or_default()
    }
}

impl Span {
    pub(crate) fn new(captured: Captured) -> Span {
        Span {
            captured,
            started: Stopwatch::start(),
            was_entered: false,
            depth: 0,
            entered: None,
            busy: Duration::ZERO,
        }
    }

    /// Returns whether this is the first entry.
    pub(crate) fn enter(&mut self, needs_busy: bool) -> bool {
        let is_first = !self.was_entered;
        if is_first {
            self.was_entered = true;
            self.started = Stopwatch::start();
        }
        if needs_busy && self.depth == 0 {
            self.entered = Some(Stopwatch::start());
        }
        self.depth = self.depth.saturating_add(1);
        is_first
    }

    pub(crate) fn exit(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.stop();
        }
    }

    fn stop(&mut self) {
        if let Some(entered) = self.entered.take() {
            self.busy = self.busy.saturating_add(entered.elapsed());
        }
    }

    /// Adds how long it took until now.
    pub(crate) fn facts(&mut self, facts: Facts) -> Facts {
        self.stop();
        Facts { wall: self.started.elapsed(), busy: self.busy, ..facts }
    }
}

/// The span as each layer of this crate in one registry has it, by the layer's number.
#[derive(Debug, Default)]
pub(crate) struct Spans(SmallVec<[(u64, Box<Span>); 1]>);

impl Spans {
    pub(crate) fn add(&mut self, layer: u64, span: Box<Span>) {
        self.0.push((layer, span));
    }

    pub(crate) fn get_mut(&mut self, layer: u64) -> Option<&mut Span> {
        self.0.iter_mut().find(|(owner, _)| *owner == layer).map(|(_, span)| &mut **span)
    }

    pub(crate) fn remove(&mut self, layer: u64) -> Option<Box<Span>> {
        let index = self.0.iter().position(|(owner, _)| *owner == layer)?;
        Some(self.0.swap_remove(index).1)
    }
}
