//! From events in time order to intervals of threads.

use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{
    Brief, ClassIndex, EventClass, Events, Gap, OrderedEvent, Progress, Reader, Report, Value, Window,
};

use super::interval::{Interval, IntervalName};
use super::lexicon::{KindEntry, Lexicon};
use super::nesting::SpanNumbers;
use super::open::OpenIntervals;
use super::threads::Threads;
use crate::analysis::durations::histogram::IMPLAUSIBLE;
use crate::analysis::finding::Span;
use crate::analysis::reading::{ClassPlan, LeftOut, Misfit, Passes, Roster, Selection, Slots, grown};
use crate::analysis::scheduling::{Account, KernelSlots, Scheduling};
use crate::datum::Datum;
use crate::meaning::ClassMeaning;
use crate::pair::Side;
use crate::samples::Sample;

/// Longer intervals, and times further from 1970, come from faulty clocks.
const LONGEST: i64 = 1 << 56;
const TIMES: std::ops::Range<i64> = -(1 << 61)..1 << 62;

/// Receives intervals and what goes with them, in time order.
pub trait Listener {
    /// An event of a process occurred, of any kind.
    #[inline]
    fn event(&mut self, _process: usize, _time: i64) {}

    /// An interval of a thread has ended.
    fn ended(&mut self, thread: usize, interval: Interval, feed: &Feed);

    /// An event reports the total of pieces of its thread's work, which is not an interval.
    fn summed(&mut self, _thread: usize, _sum: Interval) {}

    /// From `since` until `until` events of these threads may be missing.
    fn lost(&mut self, _threads: &mut dyn Iterator<Item = usize>, _since: i64, _until: i64) {}
}

/// Makes intervals of events: of all that were recorded, because what held a program up is judged by all of them. Filters
/// only mark those that pass.
pub struct Feed {
    roster: Roster,
    /// Which events pass; none if all do.
    filter: Option<Roster>,
    /// A class of each kind.
    class_of_kind: Vec<ClassIndex>,
    /// The role of each class.
    roles: Vec<Option<ClassRole>>,
    pub lexicon: Lexicon,
    pub threads: Threads,
    /// The intervals of each thread that have begun.
    open: Vec<OpenIntervals>,
    /// Where events are missing, the next one last.
    gaps: Vec<Gap>,
    /// The number of implausible durations, which are not intervals.
    pub implausible: u64,
    /// What the scheduler did with threads, where that was recorded.
    scheduling: Scheduling,
    /// The span that ended with the event that is being processed, if it says which.
    pub span: Option<SpanNumbers>,
}

/// The role of a class of events.
#[derive(Clone, Copy, Debug)]
struct ClassRole {
    act: Act,
    kind: u32,
    /// The slots of the process, the thread, the name of the process and the client.
    pid: Option<usize>,
    tid: Option<usize>,
    procname: Option<usize>,
    client: Option<usize>,
    /// The slots of the numbers of the span and of the one around it.
    span: Option<(usize, usize)>,
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
    Schedules(KernelSlots),
}

impl Feed {
    /// Judges all events. `gaps` are in the order in which they begin.
    pub fn new(selection: &Arc<Selection>, gaps: Vec<Gap>) -> Self {
        let filter = selection.is_filter().then(|| Roster::new(Arc::clone(selection)));
        Feed { filter, ..Feed::isolated(&Arc::new(selection.unfiltered()), gaps) }
    }

    /// Judges only the events that pass the filters, as if nothing else had been recorded.
    pub fn isolated(selection: &Arc<Selection>, mut gaps: Vec<Gap>) -> Self {
        gaps.reverse();
        Feed {
            roster: Roster::new(Arc::clone(selection)),
            filter: None,
            class_of_kind: Vec::new(),
            roles: Vec::new(),
            lexicon: Lexicon::default(),
            threads: Threads::default(),
            open: Vec::new(),
            gaps,
            implausible: 0,
            scheduling: Scheduling::default(),
            span: None,
        }
    }

    /// The fields that the events of a class are needed with; see [`ctf_reader::Collect::want`].
    pub fn want(&mut self, class: &Arc<EventClass>, host: Option<&str>) -> Option<Vec<usize>> {
        let mut slots = Slots(self.roster.want(class)?);
        if let Some(filter) = &mut self.filter
            && let Some(fields) = filter.want_besides(class, Slots(slots.0.clone()))
            && filter.plan(class.index).is_some()
        {
            slots = Slots(fields);
        }
        let plan = self.roster.plan(class.index);
        let meaning = self.roster.selection().dictionary.look_up(class);
        let host = self.threads.host(class.trace, host);
        let role = plan.filter(|_| meaning.repeats.is_none()).map(|plan| {
            let kernel = KernelSlots::new(class, &mut slots);
            let (act, event) = match kernel {
                Some(kernel) => (Act::Schedules(kernel), class.name.clone()),
                None => act(&meaning, &class.name),
            };
            let kind = &self.roster.kinds()[plan.kind];
            let unit_ns = u64::try_from(kind.unit_ns()).unwrap_or(1);
            let kind = self.lexicon.kind(KindEntry {
                event,
                known_as: meaning.event.clone(),
                keys: kind.keys.clone(),
                is_outermost: meaning.is_outermost,
                explains: meaning.explains.clone(),
            });
            let mut slot = |name: &str| class.field(name).map(|field| slots.of(field));
            let (pid, tid, procname) = (slot("vpid"), slot("vtid"), slot("procname"));
            let span = slot("tracing_span").zip(slot("tracing_parent"));
            let client = meaning.client.map(|field| slots.of(field));
            ClassRole { act, kind, pid, tid, procname, client, span, host, unit_ns }
        });
        // Repeats are not even decoded: they are a third of what a server records.
        if meaning.repeats.is_some() {
            return None;
        }
        *grown(&mut self.roles, class.index) = role;
        if let Some(role) = role {
            *grown(&mut self.class_of_kind, role.kind as usize) = class.index;
        }
        Some(slots.0)
    }

    /// Reads a window in time order, hands events to a function until it wants no more, and returns what was read.
    pub fn follow(
        &mut self,
        reader: &Reader,
        window: Window,
        progress: &Progress,
        mut process: impl FnMut(&mut Feed, &OrderedEvent<'_>) -> ControlFlow<()>,
    ) -> Report {
        let traces = reader.traces();
        let want = |class: &Arc<EventClass>| self.want(class, traces[class.trace].environment("hostname"));
        let mut wanted: Vec<_> = reader.classes().map(want).collect();
        let take = |class: &Arc<EventClass>| wanted[class.index].take();
        let mut events = reader.in_order(window, take).with_progress(progress);
        events.next_events(usize::MAX, |event| process(self, event));
        events.report()
    }

    /// Adds a sample of the machine with this name.
    pub fn sample(&mut self, host: Option<&str>, time: i64, sample: Sample) {
        if let Some(host) = self.threads.host_named(host) {
            self.scheduling.sample(host, time, sample);
        }
    }

    /// What the scheduler did with a thread in some spans of time; none if that is not known.
    pub fn account(&self, thread: usize, spans: &[Span]) -> Option<Account> {
        let thread = self.threads.thread(thread);
        let process = self.threads.process(thread.process);
        self.scheduling.account(process.host, process.pid, thread.tid?, spans)
    }

    /// Adds a gap in the events.
    pub fn gap(&mut self, gap: Gap) {
        let place = self.gaps.partition_point(|other| other.since > gap.since);
        self.gaps.insert(place, gap);
    }

    /// Processes an event, and notifies the listener.
    pub fn event(&mut self, event: &OrderedEvent<'_>, listener: &mut impl Listener) {
        let time = event.timestamp();
        while let Some(gap) = self.gaps.pop_if(|gap| gap.since < time) {
            self.lose(gap, listener);
        }
        let of_one: Events<'_> = event.events();
        let Feed { roster, filter, roles, lexicon, threads, open, scheduling, .. } = self;
        let Some(plan) = roster.count(&of_one) else { return };
        if !TIMES.contains(&time) {
            self.implausible += 1;
            return;
        }
        if plan.has_conditions() && !plan.admits(&of_one.get(0)) {
            return;
        }
        let passes = match filter {
            None => Passes::ALL,
            Some(filter) => {
                filter.count(&of_one).map_or(Passes::default(), |plan| plan.passes(&of_one.get(0)))
            }
        };
        let Some(Some(role)) = roles.get(of_one.class) else { return };
        if let Act::Schedules(kernel) = &role.act {
            return kernel.read(event, |event| scheduling.kernel(role.host, time, event));
        }
        let thread = role.thread(event, threads);
        let open = grown(open, thread);
        listener.event(threads.thread(thread).process, time);
        if role.act == Act::Marks {
            return;
        }
        let client = role.client.and_then(|slot| lexicon.client(event, slot));
        let number = |slot| event.integer(slot).unwrap_or(0);
        let numbers = role.span.map(|(own, parent)| SpanNumbers { own: number(own), parent: number(parent) });
        self.span = numbers.filter(|numbers| (numbers.own, numbers.parent) != (0, 0));
        let mut name = || {
            let brief = plan.only_key().map_or(Brief::OTHER, |slot| event.brief(slot));
            lexicon.name(role.kind, brief, |bytes| plan.encode_key(&of_one.get(0), bytes))
        };
        match role.act {
            Act::Marks | Act::Schedules(_) => {}
            Act::Ends | Act::Sums => {
                let Some(ticks) = plan.duration(event) else { return };
                let length = i64::try_from(ticks.saturating_mul(role.unit_ns)).ok();
                let Some(length) = length.filter(|length| ticks < IMPLAUSIBLE && *length < LONGEST) else {
                    self.implausible += 1;
                    return;
                };
                let begin = time.saturating_sub(length);
                let interval = Interval { begin, end: time, name: name(), client, passes };
                match role.act {
                    Act::Sums => listener.summed(thread, interval),
                    _ => listener.ended(thread, interval, self),
                }
            }
            Act::Pairs(Side::Begin) => open.begin(time, name(), client, passes),
            Act::Pairs(Side::End) => {
                let name = name();
                let is_said =
                    |(_, value): &(String, Datum)| !matches!(value, Datum::Text(text) if text.is_empty());
                let has_key = lexicon.key(name).0.iter().any(is_said);
                if let Some(interval) = open.end(time, role.kind, has_key.then_some(name), client, passes) {
                    listener.ended(thread, interval, self);
                }
            }
        }
    }

    /// How the events of a class are processed; none if they are not.
    pub fn plan(&self, class: usize) -> Option<&ClassPlan> {
        self.roster.plan(class)
    }

    /// What was left out, or why the selection does not fit this trace.
    pub fn finish(&self) -> Result<LeftOut, Misfit> {
        self.filter.as_ref().unwrap_or(&self.roster).finish()
    }

    /// Whether a time without events passes the filters: those on durations by its length, all others by the interval
    /// that ended it.
    pub fn silence_passes(&self, ended_by: &Interval, length: i64) -> bool {
        let class = self.class_of_kind.get(ended_by.name.kind as usize);
        let of_class = |filter: &Roster| filter.plan(*class?).map(|plan| plan.admits_duration(length));
        ended_by.passes.otherwise && self.filter.as_ref().is_none_or(|filter| of_class(filter) == Some(true))
    }

    /// Whether an interval of a thread may contain another one. Where threads are known, times decide; otherwise the
    /// catalogs must allow it too.
    pub fn may_contain(&self, thread: usize, outer: IntervalName, inner: IntervalName) -> bool {
        self.threads.thread(thread).tid.is_some() || self.lexicon.may_contain(outer, inner)
    }

    /// Forgets the open intervals of a machine whose events are missing.
    fn lose(&mut self, gap: Gap, listener: &mut impl Listener) {
        let affected: Vec<usize> = self.threads.of_trace(gap.trace).collect();
        affected.iter().for_each(|&thread| self.open[thread].forget());
        listener.lost(&mut affected.into_iter(), gap.since, gap.until);
    }
}

impl ClassRole {
    /// The number of the thread that an event is from.
    #[inline]
    fn thread(&self, event: &OrderedEvent<'_>, threads: &mut Threads) -> usize {
        let id = |slot: Option<usize>| slot.and_then(|slot| event.integer(slot)).map(|id| id as i64);
        let procname = || self.procname.map(|slot| text(&event.value(slot)));
        threads.number(self.host, id(self.pid), id(self.tid), procname)
    }
}

/// What the events of a class do, and the name of their intervals.
fn act(meaning: &ClassMeaning, class: &str) -> (Act, String) {
    match (&meaning.duration, &meaning.pair) {
        (Some(_), _) if meaning.is_sum => (Act::Sums, class.to_owned()),
        (Some(_), _) => (Act::Ends, class.to_owned()),
        (None, Some((interval, side))) => (Act::Pairs(*side), interval.clone()),
        (None, None) => (Act::Marks, class.to_owned()),
    }
}

fn text(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    }
}
