//! A timeline: what each thread did when, the rate of it, and the incidents; in parts, because all of it would not fit
//! into memory.

mod rates;
mod requests;

use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{Error, EventClass, OrderedEvent, Step};

use crate::datum::{Datum, Pairs};
use crate::finding::{Ns, Span};
use crate::follow::FollowedEvents;
use crate::incidents::{Incident, IncidentRule, incidents};
use crate::intervals::{Feed, Interval, Listener, Scene};
use crate::reading::{Failure, KeptFields, RecordedFields, Selection, SourceWindow, grown};
use crate::source::{Readers, Source};
use rates::{Rates, bins, blocked};
use requests::Requests;

pub use crate::intervals::{Process, Thread};

/// The most incidents on a timeline; the longest if there are more.
const MOST_INCIDENTS: usize = 10_000;

/// A part of a timeline. Times are nanoseconds since 1970.
#[derive(Debug)]
pub enum Part<'p> {
    /// What a thread did for a time.
    Interval(Work<'p>),
    /// The total of pieces of a thread's work, which is known when the last has ended.
    Sum(Work<'p>),
    /// The number of intervals of a process that end in a second, from a time on.
    Rate {
        /// The process, by its place in [`Timeline::processes`].
        process: usize,
        /// From when on.
        at_ns: i64,
        /// How many.
        per_second: f64,
    },
    /// A time in which a process was held up.
    Incident(&'p Incident),
    /// The share of the time in which any process was held up, from a time on.
    Blocked {
        /// From when on.
        at_ns: i64,
        /// From 0 to 1.
        share: f64,
    },
}

/// What a thread did, from when to when.
#[derive(Debug)]
pub struct Work<'p> {
    /// The thread, by its place in [`Timeline::threads`].
    pub thread: usize,
    /// When it began.
    pub begin_ns: i64,
    /// When it ended.
    pub end_ns: i64,
    /// The full name of the event.
    pub event: &'p str,
    /// The values that identify its group.
    pub key: Pairs,
    /// All fields of the event that ended it.
    pub fields: RecordedFields,
    /// For a span that says what is around it, its place in [`Timeline::requests`].
    pub request: Option<u32>,
    /// The client that it was for, by its place in [`Timeline::clients`].
    pub client: Option<u32>,
}

/// What is to be known of a timeline, besides its parts.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What was read, and the number of intervals and sums.
    pub followed: FollowedEvents,
    /// The threads that work was done by.
    pub threads: Vec<Thread>,
    /// Their processes.
    pub processes: Vec<Process>,
    /// The requests of spans.
    pub requests: Vec<TimelineRequest>,
    /// The clients that work was done for.
    pub clients: Vec<Datum>,
    /// The number of incidents.
    pub incidents: u64,
    /// The number of shorter ones after those.
    pub hidden_incidents: u64,
}

/// The request that a span belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineRequest {
    /// The same for all spans of one tree.
    pub number: u32,
    /// Its process, by its place in [`Timeline::processes`].
    pub process: usize,
}

/// Hands the timeline of the events that pass the filters to `put`, in parts in no order, until that stops it.
pub fn timeline<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    rule: IncidentRule,
    mut put: impl FnMut(Part<'_>) -> ControlFlow<()>,
) -> Result<Timeline, Failure> {
    let window = input.window;
    let span = input.source.span()?.map(|span| Span { begin_ns: *span.start(), end_ns: *span.end() });
    let span = span.unwrap_or(Span { begin_ns: 0, end_ns: 0 }).within(window);
    let bins = bins(span);
    let found = incidents(input, selection, rule, MOST_INCIDENTS)?;
    let spans = found.incidents.iter().map(|incident| (incident.begin_ns, incident.end_ns));
    let of_incidents = blocked(&bins, spans).into_iter().chain(found.incidents.iter().map(Part::Incident));
    let mut is_stopped = of_incidents.into_iter().try_for_each(&mut put).is_break();
    let Some(Readers { events: reader, .. }) = input.source.in_order() else {
        return Err(Error::new("this source has no events in time order, which a timeline needs").into());
    };
    let mut feed = Feed::isolated(selection, reader.gaps(window));
    let traces = reader.traces();
    let mut kept: Vec<Option<KeptFields>> = Vec::new();
    let mut want = |class: &Arc<EventClass>| {
        let mut wanted = feed.want(class, traces[class.trace].environment("hostname"))?;
        let meaning = selection.dictionary.look_up(class);
        *grown(&mut kept, class.index) =
            feed.plan(class.index).map(|plan| KeptFields::new(class, &meaning, plan, &mut wanted));
        Some(wanted)
    };
    let mut wanted: Vec<_> = reader.classes().map(&mut want).collect();
    let take = |class: &Arc<EventClass>| wanted[class.index].take();
    let mut events = reader.in_order(window, take).with_progress(input.progress);
    let mut rates = Rates::new(bins);
    let mut requests = Requests::default();
    let mut shown = 0;
    let mut threads = 0;
    while !is_stopped && let Step::Event(event) = events.next_event() {
        let mut ended = Ended::default();
        feed.event(&event, &mut ended);
        let Some((thread, interval, is_sum)) = ended.0 else { continue };
        shown += 1;
        threads = threads.max(thread + 1);
        let process = feed.scene.threads.thread(thread).process;
        let request = feed.scene.span.filter(|_| !is_sum).map(|numbers| requests.ended(process, numbers));
        let Some(mut work) = work(&feed, thread, interval, &kept, &event) else { continue };
        work.request = request;
        let earlier = if is_sum { Vec::new() } else { rates.ended(process, interval.end) };
        let work = if is_sum { Part::Sum(work) } else { Part::Interval(work) };
        is_stopped = earlier.into_iter().chain([work]).try_for_each(&mut put).is_break();
    }
    if !is_stopped {
        _ = rates.finish().into_iter().try_for_each(&mut put);
    }
    let mut followed = FollowedEvents::new(&events.report(), shown);
    followed.notes.implausible = feed.implausible();
    followed.notes.left_out = feed.finish()?;
    let threads: Vec<Thread> = (0..threads).map(|number| feed.scene.threads.thread(number)).collect();
    let processes = threads.iter().map(|thread| thread.process + 1).max().unwrap_or(0);
    Ok(Timeline {
        followed,
        threads,
        processes: (0..processes).map(|number| feed.scene.threads.process(number).clone()).collect(),
        requests: requests.finish(),
        clients: feed.lexicon().all_clients(),
        incidents: found.incidents.len() as u64,
        hidden_incidents: found.hidden_incidents,
    })
}

fn work<'f>(
    feed: &'f Feed,
    thread: usize,
    interval: Interval,
    kept: &[Option<KeptFields>],
    event: &OrderedEvent<'_>,
) -> Option<Work<'f>> {
    let of_one = event.events();
    let fields = kept.get(of_one.class)?.as_ref()?.of(&of_one.get(0));
    Some(Work {
        thread,
        begin_ns: interval.begin,
        end_ns: interval.end,
        event: &feed.lexicon().kinds.of(interval.name).kind.event,
        key: feed.lexicon().key(interval.name),
        fields,
        request: None,
        client: interval.client,
    })
}

impl Work<'_> {
    /// How long it took.
    pub fn length(&self) -> Ns {
        Ns(self.end_ns.saturating_sub(self.begin_ns).max(0) as u128)
    }
}

/// What an event ended: the thread, the interval, and whether it is a sum.
#[derive(Default)]
struct Ended(Option<(usize, Interval, bool)>);

impl Listener for Ended {
    fn ended(&mut self, thread: usize, interval: &Interval, _: &Scene) {
        self.0 = Some((thread, *interval, false));
    }

    fn summed(&mut self, thread: usize, sum: &Interval, _: &Scene) {
        self.0 = Some((thread, *sum, true));
    }
}
