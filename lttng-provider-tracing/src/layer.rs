//! The layer: a filter that lets through what a session records, and a recorder for it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::{Interest, Subscriber};
use tracing_core::{Event, Metadata};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Filtered;
use tracing_subscriber::layer::{Context, Filter};
use tracing_subscriber::registry::LookupSpan;

use crate::callsites::Callsites;
use crate::captured::Captured;
use crate::generated;
use crate::plan::Plan;
use crate::sources::values;
use crate::span::{Span, Spans, Times};
use crate::warnings::Warnings;

/// The layer that [`layer!`](crate::layer) makes: it sees only spans and events that a session records.
pub type CatalogLayer<S> = Filtered<Recorder, CatalogFilter, S>;

/// Makes a layer from the events of catalogs, [`events!`](crate::events).
///
/// [`layer!`](crate::layer) is enough for most programs; this is for those that want to see the warnings.
///
/// ```
/// # mod shop_events { include!("../doc/events.rs"); }
/// # macro_rules! events { () => {{ use shop_events::*; include!("../doc/tracing.rs") }} }
/// use lttng_provider_tracing::Bridge;
/// use tracing_subscriber::prelude::*;
///
/// # let events = events!();
/// # /*
/// let events = lttng_provider_tracing::events!();
/// # */
/// let layer = Bridge::new(events).on_warning(|warning| eprintln!("shop: {warning}")).layer();
/// let _guard = tracing_subscriber::registry().with(layer).set_default();
/// ```
pub struct Bridge {
    events: &'static [generated::Event],
    warnings: Warnings,
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge").field("events", &self.events.len()).finish_non_exhaustive()
    }
}

impl Bridge {
    /// A bridge that writes its warnings to the standard error output.
    pub fn new(events: &'static [generated::Event]) -> Bridge {
        Bridge { events, warnings: Warnings::to_standard_error() }
    }

    /// Gives warnings to a function instead. It must not use `tracing`, which may be registering a call site while it is
    /// called.
    pub fn on_warning(self, handler: impl Fn(&str) + Send + Sync + 'static) -> Bridge {
        Bridge { warnings: Warnings::new(Box::new(handler)), ..self }
    }

    /// The layer; none, which is a layer that does nothing, if tracing is not built in or the catalogs have no events.
    pub fn layer<S>(self) -> Option<CatalogLayer<S>>
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        if !lttng_provider::TRACING || self.events.is_empty() {
            return None;
        }
        static MADE: AtomicU64 = AtomicU64::new(0);
        let state = Arc::new(State {
            number: MADE.fetch_add(1, Ordering::Relaxed),
            events: self.events,
            callsites: Callsites::default(),
            warnings: self.warnings,
        });
        Some(Filtered::new(Recorder { state: state.clone() }, CatalogFilter { state }))
    }
}

/// What the filter and the recorder of a layer share.
#[derive(Debug)]
struct State {
    /// Tells the layers of a program apart.
    number: u64,
    events: &'static [generated::Event],
    callsites: Callsites,
    warnings: Warnings,
}

impl State {
    /// The plan of a call site, made the first time that it is asked for.
    fn register(&self, metadata: &'static Metadata<'static>) -> Option<&Plan> {
        if let Some(plan) = self.callsites.get(metadata) {
            return Some(plan);
        }
        let plan = Plan::new(self.events, metadata, &self.warnings)?;
        self.callsites.insert(metadata, plan)
    }

    /// Records each event of the plan that a session wants now.
    fn record(&self, plan: &Plan, metadata: &Metadata<'_>, captured: &Captured, times: Times) {
        for recording in plan.recordings.iter().filter(|recording| (recording.event.enabled)()) {
            let values = values(recording, metadata, captured, times, &self.warnings);
            (recording.event.record)(&values);
        }
    }
}

/// Lets through the spans and events that a session records.
///
/// A call site that the catalog does not name is of no interest, which `tracing` asks once; for the others, whether a
/// session records them is asked each time, and nothing is captured while none does.
#[derive(Debug)]
pub struct CatalogFilter {
    state: Arc<State>,
}

impl<S> Filter<S> for CatalogFilter {
    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        match self.state.register(metadata) {
            Some(_) => Interest::sometimes(),
            None => Interest::never(),
        }
    }

    #[inline]
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        self.state.callsites.get(metadata).is_some_and(Plan::enabled)
    }
}

/// Records the spans and events that the filter lets through.
#[derive(Debug)]
pub struct Recorder {
    state: Arc<State>,
}

impl Recorder {
    /// Calls a function with what is kept of a span, unless it is not recorded.
    fn with_span<S, R>(
        &self,
        id: &Id,
        context: &Context<'_, S>,
        call: impl FnOnce(&mut Span, &Plan) -> R,
    ) -> Option<R>
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        let span = context.span(id)?;
        let plan = self.state.callsites.get(span.metadata())?;
        let mut extensions = span.extensions_mut();
        let kept = extensions.get_mut::<Spans>()?.get_mut(self.state.number)?;
        Some(call(kept, plan))
    }
}

impl<S> Layer<S> for Recorder
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let metadata = attributes.metadata();
        let Some(plan) = self.state.callsites.get(metadata) else { return };
        let captured =
            Captured::new(plan, metadata, &self.state.warnings, |visitor| attributes.record(visitor));
        let kept = Box::new(Span::new(captured));
        let Some(span) = context.span(id) else { return };
        let mut extensions = span.extensions_mut();
        if extensions.get_mut::<Spans>().is_none() {
            extensions.insert(Spans::default());
        }
        if let Some(spans) = extensions.get_mut::<Spans>() {
            spans.add(self.state.number, kept);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(metadata) = context.metadata(id) else { return };
        let Some(plan) = self.state.callsites.get(metadata) else { return };
        // Not while the span is locked: this formats values of the program.
        let newer = Captured::new(plan, metadata, &self.state.warnings, |visitor| values.record(visitor));
        self.with_span(id, &context, |span, _| span.captured.update(newer));
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        self.with_span(id, &context, |span, plan| {
            if span.enter(plan.needs_busy) {
                for recording in plan.recordings.iter().filter(|recording| (recording.event.enabled)()) {
                    (recording.event.begin)();
                }
            }
        });
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        self.with_span(id, &context, |span, _| span.exit());
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(plan) = self.state.callsites.get(span.metadata()) else { return };
        let kept = span.extensions_mut().get_mut::<Spans>().and_then(|spans| spans.remove(self.state.number));
        if let Some(mut kept) = kept {
            let times = kept.times();
            self.state.record(plan, span.metadata(), &kept.captured, times);
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let Some(plan) = self.state.callsites.get(metadata) else { return };
        let captured = Captured::new(plan, metadata, &self.state.warnings, |visitor| event.record(visitor));
        self.state.record(plan, metadata, &captured, Times::default());
    }
}
