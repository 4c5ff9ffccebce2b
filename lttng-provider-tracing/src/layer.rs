//! The layer: a filter that lets through what a session records, and a recorder for it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::{Interest, Subscriber};
use tracing_core::{Event, LevelFilter, Metadata};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Filtered;
use tracing_subscriber::layer::{Context, Filter};
use tracing_subscriber::registry::LookupSpan;

use crate::callsites::Callsites;
use crate::captured::Captured;
use crate::generated;
use crate::interest::Interests;
use crate::pattern::matches;
use crate::plan::Plan;
use crate::sources::values;
use crate::span::{Facts, Span, Spans};
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
        (lttng_provider::TRACING && !self.events.is_empty()).then(|| self.make())
    }

    fn make<S>(self) -> CatalogLayer<S> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let state = Arc::new(State {
            number: MADE.fetch_add(1, Ordering::Relaxed),
            events: self.events,
            interests: Interests::watch(self.events),
            callsites: Callsites::default(),
            warnings: self.warnings,
        });
        Filtered::new(Recorder { state: state.clone() }, CatalogFilter { state })
    }
}

/// What the filter and the recorder of a layer share.
#[derive(Debug)]
struct State {
    /// Tells the layers of a program apart.
    number: u64,
    events: &'static [generated::Event],
    interests: Arc<Interests>,
    callsites: Callsites,
    warnings: Warnings,
}

impl State {
    /// The plan of a call site that the catalog names, made the first time that it is asked for.
    #[inline]
    fn plan(&self, metadata: &'static Metadata<'static>) -> Option<&Plan> {
        self.callsites.get(metadata).unwrap_or_else(|| self.register(metadata))
    }

    #[cold]
    fn register(&self, metadata: &'static Metadata<'static>) -> Option<&Plan> {
        match self.callsites.insert(metadata, Plan::new(self.events, metadata)) {
            Some(plan) => {
                plan.warn_of_missing(metadata, &self.warnings);
                Some(plan)
            }
            None => self.callsites.get(metadata).flatten(),
        }
    }

    /// Whether a session records a call site that has no plan: another thread is registering it, or it was made up at run
    /// time, as for records of the `log` crate. Metadata like that may be gone soon, so that it gets no plan here.
    #[cold]
    fn is_recorded(&self, metadata: &Metadata<'_>) -> bool {
        self.events.iter().any(|event| (event.enabled)() && matches(event, metadata))
    }

    /// Records each event of the plan that a session wants now.
    fn record(&self, plan: &Plan, metadata: &Metadata<'_>, captured: &Captured, facts: Facts) {
        for recording in plan.recordings.iter().filter(|recording| (recording.event.enabled)()) {
            let values = values(recording, metadata, captured, facts, &self.warnings);
            (recording.event.record)(&values);
        }
    }
}

/// Lets through the spans and events that a session records.
///
/// A call site that the catalog does not name, or that no session records, is of no interest, which `tracing` asks once and
/// again after a change; for the others, whether a session records them is asked each time.
#[derive(Debug)]
pub struct CatalogFilter {
    state: Arc<State>,
}

impl<S> Filter<S> for CatalogFilter {
    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        self.state.interests.start();
        match self.state.plan(metadata) {
            Some(plan) if self.state.interests.is_recorded(plan.events()) => Interest::sometimes(),
            _ => Interest::never(),
        }
    }

    #[inline]
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        match self.state.callsites.get(metadata) {
            Some(plan) => plan.is_some_and(Plan::enabled),
            None => self.state.is_recorded(metadata),
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.state.interests.max_level())
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
        let plan = self.state.plan(span.metadata())?;
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
        let Some(plan) = self.state.plan(metadata) else { return };
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
        let Some(plan) = self.state.plan(metadata) else { return };
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
        let Some(plan) = self.state.plan(span.metadata()) else { return };
        let kept = span.extensions_mut().get_mut::<Spans>().and_then(|spans| spans.remove(self.state.number));
        if let Some(mut kept) = kept {
            let facts = kept.facts(Facts::new(Some(&id), span.parent()));
            self.state.record(plan, span.metadata(), &kept.captured, facts);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let Some(plan) = self.state.plan(metadata) else { return };
        let captured = Captured::new(plan, metadata, &self.state.warnings, |visitor| event.record(visitor));
        let facts = Facts::new(None, context.event_span(event));
        self.state.record(plan, metadata, &captured, facts);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::{Barrier, Mutex};

    use tracing_subscriber::prelude::*;

    use super::*;
    use crate::generated::{Field, Values};

    static RECORDED: AtomicUsize = AtomicUsize::new(0);

    const EVENT: generated::Event = generated::Event {
        provider: "test",
        name: "met",
        callsites: None,
        fields: &[],
        duration: None,
        enabled: || true,
        begin: || (),
        record: |_| (),
    };

    static EVENTS: [generated::Event; 1] = [generated::Event {
        record: |_: &Values<'_>| {
            RECORDED.fetch_add(1, Ordering::Relaxed);
        },
        ..EVENT
    }];

    /// Another layer, which counts all spans, and takes its time when a call site is registered: other threads meet it
    /// meanwhile.
    struct Slow(Arc<AtomicUsize>);

    impl<S: Subscriber> Layer<S> for Slow {
        fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
            std::thread::sleep(std::time::Duration::from_millis(1));
            Interest::always()
        }

        fn on_new_span(&self, _: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Call sites, each a function.
    macro_rules! sites {
        ($($ten:literal)+) => { [$(sites!(@ $ten)),+].concat() };
        (@ $ten:literal) => {
            sites!(@@ 0 1 2 3 4 5 6 7 8 9)
        };
        (@@ $($one:literal)+) => {
            [$({ fn site() { drop((tracing::trace_span!("met"), $one)); } site as fn() }),+]
        };
    }

    #[test]
    fn threads_that_meet_at_the_first_use_of_a_call_site_are_all_recorded() {
        const THREADS: usize = 8;
        let sites = sites!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
        let seen = Arc::new(AtomicUsize::new(0));
        let subscriber =
            tracing_subscriber::registry().with(Bridge::new(&EVENTS).make()).with(Slow(Arc::clone(&seen)));
        tracing::subscriber::set_global_default(subscriber).unwrap();
        let barrier = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for site in &sites {
                        barrier.wait();
                        site();
                    }
                });
            }
        });
        assert_eq!(seen.load(Ordering::Relaxed), THREADS * sites.len());
        assert_eq!(RECORDED.load(Ordering::Relaxed), THREADS * sites.len());
    }

    /// The numbers of spans and of those around them, as they are recorded.
    static NUMBERS: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());

    static NUMBERED: [generated::Event; 1] = [generated::Event {
        name: "numbered",
        fields: &[
            Field { name: "tracing_span", kind: generated::U64 },
            Field { name: "tracing_parent", kind: generated::U64 },
        ],
        record: |values| NUMBERS.lock().unwrap().push((values.integer(0), values.integer(1))),
        ..EVENT
    }];

    #[test]
    fn spans_and_events_have_the_numbers_of_the_spans_around_them() {
        let subscriber = tracing_subscriber::registry().with(Bridge::new(&NUMBERED).make());
        let ids = tracing::subscriber::with_default(subscriber, || {
            let outer = tracing::trace_span!("numbered");
            let inner = tracing::trace_span!(parent: &outer, "numbered");
            inner.in_scope(|| tracing::trace!(name: "numbered", "an event"));
            [&outer, &inner].map(|span| span.id().unwrap().into_u64())
        });
        let [outer, inner] = ids;
        assert_eq!(*NUMBERS.lock().unwrap(), [(0, inner), (inner, outer), (outer, 0)]);
    }
}
