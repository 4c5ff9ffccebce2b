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
use std::sync::mpsc::sync_channel;
use std::thread::scope;

use ctf_reader::{
    Brief, EventClass, Events, Field, Gap, InOrder, OrderedEvent, Progress, Reader, Report, Value, Wanted,
    Window,
};

use super::happening::{Happening, Happenings};
use super::interval::Interval;
use super::lexicon::{KindEntry, Lexicon};
use super::nesting::SpanNumbers;
use super::scene::{Listener, Scene};
use super::thread_numbers::{ThreadNumbers, after_ids};
use crate::datum::Datum;
use crate::durations::histogram::IMPLAUSIBLE;
use crate::finding::Forgotten;
use crate::meaning::ClassMeaning;
use crate::pair::Side;
use crate::reading::{ClassPlan, EventKind, LeftOut, Misfit, Passes, Roster, Selection, grown};
use crate::samples::SampleReader;
use crate::scheduling::KernelFields;
use crate::source::Readers;

/// Longer intervals, and times further from 1970, come from faulty clocks.
const LONGEST: i64 = 1 << 56;
const TIMES: std::ops::Range<i64> = -(1 << 61)..1 << 62;

/// How many happenings are handed over to another thread at once, and how often before the first must be done.
const BATCH: usize = 1 << 13;
const BATCHES: usize = 4;

/// Makes intervals of events: of all that were recorded, because what held a program up is judged by all of them. Filters
/// only mark those that pass.
pub struct Feed {
    resolver: Resolver,
    pub scene: Scene,
    /// Room for what happens with an event.
    happenings: Happenings,
}

/// Resolves what events say.
struct Resolver {
    roster: Roster,
    /// Which events pass; none if all do.
    filter: Option<Roster>,
    /// The role of each class.
    roles: Vec<Option<ClassRole>>,
    lexicon: Lexicon,
    threads: ThreadNumbers,
    /// The number of implausible durations, which are not intervals.
    implausible: u64,
    /// Whether durations that are plausible in other findings are implausible as intervals.
    is_stricter: bool,
}

/// The role of a class of events.
#[derive(Clone, Copy, Debug)]
struct ClassRole {
    act: Act,
    kind: u32,
    /// The process, the thread, the name of the process and the client.
    pid: Option<Field<u64>>,
    tid: Option<Field<u64>>,
    procname: Option<Field>,
    client: Option<Field>,
    /// A field before which the process and the thread are recorded.
    after_ids: Option<Field>,
    /// The numbers of the span and of the one around it.
    span: Option<(Field<u64>, Field<u64>)>,
    host: usize,
    unit_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// They end intervals, whose lengths they have.
    Ends,
    /// They have sums of pieces, which are not intervals.
    Sums,
    /// They begin an interval or end one.
    Pairs(Side),
    /// They only show that their process was active.
    Marks,
    /// They are the kernel's, and say what the scheduler did.
    Schedules(KernelFields),
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
        let resolver = Resolver {
            roster: Roster::new(Arc::clone(selection)),
            filter: None,
            roles: Vec::new(),
            lexicon: Lexicon::default(),
            threads: ThreadNumbers::default(),
            implausible: 0,
            is_stricter: false,
        };
        Feed { resolver, scene, happenings: Happenings::default() }
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
        let mut events = self.in_order(reader, window, progress);
        events.next_events(usize::MAX, |event| process(self, event));
        events.report()
    }

    /// Reads a window in time order, with samples that were taken meanwhile, and returns what was read. This thread
    /// resolves events, which others read ahead, and another one follows what happened and notifies the listener.
    pub fn follow_apart(
        &mut self,
        readers: Readers<'_>,
        window: Window,
        progress: &Progress,
        mut listener: impl Listener + Send,
    ) -> Report {
        let mut events = self.in_order(readers.events, window, progress);
        let Feed { resolver, scene, .. } = self;
        let (to_scene, batches) = sync_channel::<Happenings>(BATCHES);
        // What was followed comes back, so that its memory is used again.
        let (to_resolver, used) = sync_channel::<Happenings>(BATCHES + 2);
        scope(|scope| {
            let follower = scope.spawn(move || {
                let mut samples = readers.samples.map(|samples| SampleReader::new(samples, window));
                for mut batch in batches {
                    for happening in batch.list() {
                        if let Some(samples) = &mut samples
                            && let Some(time) = happening.time()
                        {
                            samples.around(time, |host, time, sample| scene.sample(host, time, sample));
                        }
                        scene.follow(happening, &batch.names, &mut listener);
                    }
                    batch.clear();
                    _ = to_resolver.try_send(batch);
                }
            });
            let mut batch = Happenings::default();
            events.next_events(usize::MAX, |event| {
                resolver.event(event, &mut batch);
                if batch.list().len() < BATCH {
                    return ControlFlow::Continue(());
                }
                let next = used.try_recv().unwrap_or_default();
                // Nobody receives it only if the other thread panicked, which is passed on below.
                match to_scene.send(std::mem::replace(&mut batch, next)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            });
            _ = to_scene.send(batch);
            drop(to_scene);
            follower.join().unwrap_or_else(|panic| resume_unwind(panic));
        });
        events.report()
    }

    /// The events of a window in time order, with the fields that are needed.
    fn in_order<'r>(&mut self, reader: &'r Reader, window: Window, progress: &'r Progress) -> InOrder<'r> {
        let traces = reader.traces();
        let want = |class: &Arc<EventClass>| self.want(class, traces[class.trace].environment("hostname"));
        let mut wanted: Vec<_> = reader.classes().map(want).collect();
        reader.in_order(window, move |class| wanted[class.index].take()).with_progress(progress)
    }

    /// Processes an event, and notifies the listener.
    pub fn event(&mut self, event: &OrderedEvent<'_>, listener: &mut impl Listener) {
        let Feed { resolver, scene, happenings } = self;
        resolver.event(event, happenings);
        for happening in happenings.list() {
            scene.follow(happening, &happenings.names, listener);
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

impl Resolver {
    fn want(&mut self, class: &Arc<EventClass>, host: usize) -> Option<Wanted> {
        let mut wanted = self.roster.want(class)?;
        if let Some(filter) = &mut self.filter {
            filter.want_besides(class, &mut wanted);
        }
        let plan = self.roster.plan(class.index);
        let meaning = self.roster.selection().dictionary.look_up(class);
        let role = plan.filter(|_| meaning.repeats.is_none()).map(|plan| {
            let kernel = KernelFields::new(class, &mut wanted);
            let act = kernel.map_or_else(|| act(&meaning), Act::Schedules);
            let of_events = &self.roster.kinds()[plan.kind];
            let unit_ns = u64::try_from(of_events.unit_ns()).unwrap_or(1);
            let kind = match (act, &meaning.pair) {
                (Act::Pairs(_), Some((interval, _))) => {
                    Arc::new(EventKind { event: interval.clone(), ..EventKind::clone(of_events) })
                }
                _ => Arc::clone(of_events),
            };
            let kind = self.lexicon.kinds.enter(KindEntry {
                kind,
                known_as: meaning.event.clone(),
                is_outermost: meaning.is_outermost,
                is_request: meaning.client.is_some(),
                explains: meaning.explains.clone(),
            });
            let (pid, tid, procname) = (wanted.field("vpid"), wanted.field("vtid"), wanted.field("procname"));
            let span = wanted.field("tracing_span").zip(wanted.field("tracing_parent"));
            let client = meaning.client.map(|index| wanted.value_at(index));
            let after_ids = after_ids(class, &mut wanted);
            ClassRole { act, kind, pid, tid, procname, client, after_ids, span, host, unit_ns }
        });
        // Repeats are not even decoded: they are a third of what a server records.
        if meaning.repeats.is_some() {
            return None;
        }
        *grown(&mut self.roles, class.index) = role;
        Some(wanted)
    }

    /// The role of a class, if its events have one.
    fn role(&self, class: usize) -> Option<&ClassRole> {
        self.roles.get(class)?.as_ref()
    }

    /// Resolves an event, and adds what happened with it, if anything.
    #[inline]
    fn event(&mut self, event: &OrderedEvent<'_>, happened: &mut Happenings) {
        let (time, class) = (event.timestamp(), event.class().index);
        let Some(plan) = self.roster.count_of(class, 1) else { return };
        if !TIMES.contains(&time) {
            self.implausible += 1;
            self.is_stricter = true;
            return;
        }
        let mut passes = Passes::ALL;
        if plan.has_conditions() || self.filter.is_some() {
            match passing(plan, self.filter.as_mut(), event) {
                Some(of_event) => passes = of_event,
                None => return,
            }
        }
        let Resolver { roles, lexicon, threads, implausible, is_stricter, .. } = self;
        let Some(Some(role)) = roles.get(class) else { return };
        if let Act::Schedules(kernel) = &role.act {
            let event = kernel.read(event);
            return happened.add(Happening::Scheduled { host: role.host as u32, time, event });
        }
        let thread = role.thread(event, threads, happened);
        if role.act == Act::Marks {
            return happened.add(Happening::Active { thread, time });
        }
        let client = role.client.and_then(|field| lexicon.client(event, field));
        if let Some((own, parent)) = role.span {
            let (own, parent) = (event.value(own), event.value(parent));
            if (own, parent) != (0, 0) {
                happened.add(Happening::Span(SpanNumbers { own, parent }));
            }
        }
        let mut begin = time;
        if let Act::Ends | Act::Sums = role.act {
            let Some(ticks) = plan.duration(event) else {
                return happened.add(Happening::Active { thread, time });
            };
            let length = i64::try_from(ticks.saturating_mul(role.unit_ns)).ok();
            let Some(length) = length.filter(|length| ticks < IMPLAUSIBLE && *length < LONGEST) else {
                *implausible += 1;
                *is_stricter |= ticks < IMPLAUSIBLE;
                return happened.add(Happening::Active { thread, time });
            };
            begin -= length;
        }
        let brief = plan.only_key().map_or(Brief::OTHER, |field| event.brief(field));
        let name = lexicon.name(role.kind, brief, |bytes| plan.encode_key(&event.events().get(0), bytes));
        let interval = Interval { begin, end: time, name, client, passes };
        match role.act {
            Act::Marks | Act::Schedules(_) => {}
            Act::Ends | Act::Sums => {
                if role.client.is_some() && lexicon.holds_back(name) {
                    happened.add(Happening::HoldsBack);
                }
                match role.act {
                    Act::Sums => happened.add(Happening::Summed { thread, sum: interval }),
                    _ => happened.add(Happening::Ended { thread, interval }),
                }
            }
            Act::Pairs(Side::Begin) => {
                happened.add(Happening::Began { thread, time, name, client, passes });
            }
            Act::Pairs(Side::End) => {
                let is_said =
                    |(_, value): &(String, Datum)| !matches!(value, Datum::Text(text) if text.is_empty());
                let name = lexicon.key(name).0.iter().any(is_said).then_some(name);
                happened.add(Happening::Closed { thread, time, kind: role.kind, name, client, passes });
            }
        }
    }
}

/// Which filters an event passes; none if it does not count.
#[inline(never)]
fn passing(plan: &ClassPlan, filter: Option<&mut Roster>, event: &OrderedEvent<'_>) -> Option<Passes> {
    let events: Events<'_> = event.events();
    let one = events.get(0);
    if plan.has_conditions() && !plan.admits(&one) {
        return None;
    }
    let Some(filter) = filter else { return Some(Passes::ALL) };
    Some(filter.count(&events).map_or(Passes::default(), |plan| plan.passes(&one)))
}

impl ClassRole {
    /// The number of the thread that an event is from.
    #[inline(always)]
    fn thread(
        &self,
        event: &OrderedEvent<'_>,
        threads: &mut ThreadNumbers,
        happened: &mut Happenings,
    ) -> u32 {
        // Most events are from the thread of the last one of their class: as recorded, its ids are a few bytes.
        let (class, stream) = (event.class().index, event.stream());
        let ids = self.after_ids.and_then(|field| event.leading(field));
        if let Some(thread) = ids.and_then(|ids| threads.recall(class, stream, ids)) {
            return thread;
        }
        let procname = || self.procname.map(|field| text(&event.value(field)));
        let id = (self.host, id(event, self.pid), id(event, self.tid));
        threads.number_of(id, (class, stream), ids, procname, happened)
    }
}

/// The id in a field, if there is one.
#[inline(always)]
fn id(event: &OrderedEvent<'_>, field: Option<Field<u64>>) -> Option<i64> {
    field.map(|field| event.value(field) as i64)
}

/// What the events of a class do.
fn act(meaning: &ClassMeaning) -> Act {
    match (&meaning.duration, &meaning.pair) {
        (Some(_), _) if meaning.is_sum => Act::Sums,
        (Some(_), _) => Act::Ends,
        (None, Some((_, side))) => Act::Pairs(*side),
        (None, None) => Act::Marks,
    }
}

fn text(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    }
}
