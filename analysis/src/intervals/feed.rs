//! From events in time order to intervals of threads.
//!
//! What an event says is resolved first, and then followed in the order of time; a processor can do each:
//!
//! ```text
//!  events ─> resolver: fields, names, threads ─> happenings ─> scene: threads over time ─> listener
//! ```

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::scope;

use ctf_reader::{
    ClassIndex, Digest, DigestedEvent, Digester, EventClass, Gap, InOrder, OrderedEvent, Progress, Reader,
    Report, Wanted, Window,
};

use super::digester::{EventDigester, Said};
use super::handover::handover;
use super::happening::Happenings;
use super::lexicon::Lexicon;
use super::plain::{PlainEvent, PlainRole};
use super::resolver::Resolver;
use super::scene::{Listener, Scene};
use crate::finding::Forgotten;
use crate::reading::{ClassPlan, CollectInPassing, InPassing, LeftOut, Misfit, Roster, Selection, grown};
use crate::samples::SampleReader;
use crate::source::Readers;

/// Makes intervals of events: of all that were recorded, because what held a program up is judged by all of them. Filters
/// only mark those that pass.
pub struct Feed {
    resolver: Resolver,
    pub scene: Scene,
    /// Room for what happens with an event.
    happenings: Happenings,
}

impl Feed {
    /// Judges all events. `gaps` are in the order in which they begin.
    pub fn new(selection: &Arc<Selection>, gaps: Vec<Gap>) -> Self {
        let mut feed = Feed::isolated(&Arc::new(selection.unfiltered()), gaps);
        if selection.is_filter() {
            feed.resolver.filter = Some(Roster::new(Arc::clone(selection)));
            feed.scene.filter = Some(Vec::new());
        }
        feed
    }

    /// Judges only the events that pass the filters, as if nothing else had been recorded.
    pub fn isolated(selection: &Arc<Selection>, gaps: Vec<Gap>) -> Self {
        let scene = Scene::with_gaps(gaps);
        let resolver = Resolver::new(Arc::clone(selection));
        Feed { resolver, scene, happenings: Happenings::default() }
    }

    /// Shares what finds out what events say with other feeds, which are asked for the same classes in the same order.
    pub fn share(&mut self, digester: Arc<EventDigester>) {
        self.resolver.digester = digester;
    }

    /// The fields that the events of a class are needed with; see [`ctf_reader::Collect::want`].
    pub fn want(&mut self, class: &Arc<EventClass>, host: Option<&str>) -> Option<Wanted> {
        let Feed { resolver, scene, .. } = self;
        let host = scene.hosts.enter(class.trace, host);
        let fields = resolver.want(class, host);
        scene.kinds.follow(&resolver.lexicon.kinds);
        if let (Some(filter), Some(role)) = (&mut scene.filter, resolver.role(class.index)) {
            let plan = resolver.filter.as_ref().and_then(|filter| filter.plan(class.index));
            *grown(filter, role.kind as usize) = plan.cloned();
        }
        fields
    }

    /// Reads a window in time order, hands events to a function until it wants no more, and returns what was read.
    pub fn follow(
        &mut self,
        reader: &Reader,
        window: Window,
        progress: &Progress,
        mut process: impl FnMut(&mut Feed, &OrderedEvent<'_>) -> ControlFlow<()>,
    ) -> Report {
        let events = self.in_order(reader, window, progress, |_, wanted| wanted);
        let mut events = events.with_digester(self.digester());
        events.next_events(usize::MAX, |event| process(self, event));
        events.report()
    }

    /// Reads a window in time order, with samples that were taken meanwhile, and returns what was read, and what was collected
    /// in passing. This thread resolves events, and another one follows what happened and notifies the listener.
    pub fn follow_apart<C: CollectInPassing + 'static>(
        &mut self,
        readers: Readers<'_>,
        window: Window,
        progress: &Progress,
        listener: &mut (impl Listener + Send),
        collector: Option<C>,
    ) -> (Report, Option<C>) {
        let mut passing = collector.map(InPassing::new);
        let events = self.in_order(readers.events, window, progress, |class, wanted| match &mut passing {
            Some(passing) => passing.want(class, wanted),
            None => wanted,
        });
        let passing = passing.map(|passing| Arc::new(passing.with(self.digester())));
        let mut events = events.with_digester(match &passing {
            Some(passing) => Arc::clone(passing) as Arc<dyn Digester>,
            None => self.digester(),
        });
        let (mut to_follower, mut from_resolver) = handover(&mut events);
        let Feed { resolver, scene, .. } = self;
        scope(|scope| {
            let follower = scope.spawn(move || {
                let mut samples = readers.samples.map(|samples| SampleReader::new(samples, window));
                while let Some(batch) = from_resolver.next() {
                    for happening in batch.list() {
                        match &mut samples {
                            Some(samples) => scene.follow_sampled(happening, &batch, samples, listener),
                            None => scene.follow(happening, &batch, listener),
                        }
                    }
                    from_resolver.give_back(batch);
                }
            });
            events.next_runs(usize::MAX, |run| to_follower.resolve(run, resolver));
            to_follower.finish();
            follower.join().unwrap_or_else(|panic| resume_unwind(panic));
        });
        (events.report(), passing.map(|passing| passing.finish()))
    }

    /// The events of a window in time order, with the fields that are needed, here and besides.
    fn in_order<'r>(
        &mut self,
        reader: &'r Reader,
        window: Window,
        progress: &'r Progress,
        mut besides: impl FnMut(&Arc<EventClass>, Option<Wanted>) -> Option<Wanted>,
    ) -> InOrder<'r> {
        let traces = reader.traces();
        let mut want = |class: &Arc<EventClass>| {
            besides(class, self.want(class, traces[class.trace].environment("hostname")))
        };
        let mut wanted: Vec<_> = reader.classes().map(&mut want).collect();
        reader.in_order(window, move |class| wanted[class.index].take()).with_progress(progress)
    }

    /// What finds out what events say, where they are read.
    pub fn digester(&self) -> Arc<dyn Digester> {
        Arc::clone(&self.resolver.digester) as Arc<dyn Digester>
    }

    /// Processes an event, and notifies the listener.
    pub fn event(&mut self, event: &OrderedEvent<'_>, listener: &mut impl Listener) {
        let (time, class, said) = (event.timestamp(), event.class().index, event.digest().into());
        if !self.plain(time, class, said, listener) {
            self.any(event, listener);
        }
    }

    /// Processes an event of a class, with what it says, and notifies the listener.
    #[inline(always)]
    pub fn digested(
        &mut self,
        event: DigestedEvent<'_>,
        class: ClassIndex,
        digest: Digest,
        listener: &mut impl Listener,
    ) {
        if !self.plain(event.timestamp(), class, digest.into(), listener) {
            self.full(event, listener);
        }
    }

    /// Processes any event, of which more is needed than what it says.
    #[inline(never)]
    fn full(&mut self, event: DigestedEvent<'_>, listener: &mut impl Listener) {
        self.any(&event.event(), listener);
    }

    /// Processes an event without keeping it anywhere, if no more is needed than what it says. Most are such.
    #[inline(always)]
    fn plain(&mut self, time: i64, class: ClassIndex, said: Said, listener: &mut impl Listener) -> bool {
        match self.resolver.plain(time, class, said) {
            Some(PlainEvent { thread, interval, role: PlainRole::Sum }) => {
                self.scene.summed(thread, &interval.interval(), listener);
            }
            Some(PlainEvent { thread, interval, .. }) => {
                self.scene.ended(thread, &interval.interval(), listener);
            }
            None => return false,
        }
        true
    }

    /// Processes any event.
    fn any(&mut self, event: &OrderedEvent<'_>, listener: &mut impl Listener) {
        let Feed { resolver, scene, happenings } = self;
        resolver.any(event, happenings);
        happenings.end_run();
        for happening in happenings.list() {
            scene.follow(happening, happenings, listener);
        }
        happenings.clear();
    }

    /// Counts events of a class that has no plan.
    pub fn count(&mut self, class: usize, events: u64) {
        self.resolver.roster.count_of(class, events);
    }

    /// The names of intervals and of clients.
    pub fn lexicon(&self) -> &Lexicon {
        &self.resolver.lexicon
    }

    /// The number of implausible durations, which are not intervals.
    pub fn implausible(&self) -> u64 {
        self.resolver.implausible
    }

    /// What could not be told apart because there was too much of it.
    pub fn forgotten(&self) -> Forgotten {
        let (names, clients) = self.resolver.lexicon.shared();
        Forgotten {
            threads: self.resolver.threads.shared,
            clients,
            names,
            samples: self.scene.forgotten_samples(),
        }
    }

    /// How full the fullest table of threads, clients and names is.
    pub fn fullness(&self) -> f64 {
        self.resolver.threads.fullness().max(self.resolver.lexicon.fullness())
    }

    /// The number of threads, and of clients, that are known.
    pub fn known(&self) -> (u64, u64) {
        (self.resolver.threads.count(), self.resolver.lexicon.clients())
    }

    /// Whether durations that are plausible in other findings are implausible as intervals.
    pub fn is_stricter(&self) -> bool {
        self.resolver.is_stricter
    }

    /// How the events of a class are processed; none if they are not.
    pub fn plan(&self, class: usize) -> Option<&ClassPlan> {
        self.resolver.roster.plan(class)
    }

    /// What was left out, or why the selection does not fit this trace.
    pub fn finish(&self) -> Result<LeftOut, Misfit> {
        self.resolver.filter.as_ref().unwrap_or(&self.resolver.roster).finish()
    }
}
