//! From what happened, in time order, to intervals of threads.

use ctf_reader::Gap;

use super::happening::{Happening, Happenings};
use super::interval::{BriefInterval, Interval, IntervalName};
use super::lexicon::IntervalKinds;
use super::nesting::SpanNumbers;
use super::open::OpenIntervals;
use super::threads::{Hosts, Process, Threads};
use crate::finding::Span;
use crate::reading::{ClassPlan, grown};
use crate::samples::{Sample, SampleReader};
use crate::scheduling::{Account, Scheduling};

/// Receives intervals and what goes with them, in time order.
pub trait Listener {
    /// An event of a process occurred, of any kind.
    #[inline]
    fn event(&mut self, _process: usize, _time: i64) {}

    /// An interval of a thread has ended.
    fn ended(&mut self, thread: usize, interval: &Interval, scene: &Scene);

    /// Intervals of a thread have ended one after the other, and nothing else has happened meanwhile.
    #[inline]
    fn run_ended(&mut self, thread: usize, run: &[BriefInterval], scene: &Scene) {
        each_ended(self, thread, run, scene);
    }

    /// An event reports the total of pieces of its thread's work, which is not an interval.
    fn summed(&mut self, _thread: usize, _sum: &Interval, _scene: &Scene) {}

    /// From `since` until `until` nothing was recorded of these threads, whatever they did: tracing may have been stopped.
    fn untraced(&mut self, _threads: &mut dyn Iterator<Item = usize>, _since: i64, _until: i64) {}

    /// From `since` until `until` events of these threads may be missing.
    fn lost(&mut self, _threads: &mut dyn Iterator<Item = usize>, _since: i64, _until: i64) {}
}

/// Notifies a listener of intervals one by one.
pub fn each_ended(
    listener: &mut (impl Listener + ?Sized),
    thread: usize,
    intervals: &[BriefInterval],
    scene: &Scene,
) {
    let process = scene.threads.thread(thread).process;
    for interval in intervals {
        listener.event(process, interval.end);
        listener.ended(thread, &interval.interval(), scene);
    }
}

/// The threads that intervals are of, and what is known about them so far.
///
/// One thread may use it while another one resolves events: they would slow each other down by what they have in common in
/// a line of the cache.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Scene {
    pub kinds: IntervalKinds,
    pub hosts: Hosts,
    pub threads: Threads,
    /// The intervals of each thread that have begun.
    open: Vec<OpenIntervals>,
    /// Where events are missing, and where nothing was recorded, the next one last.
    gaps: Vec<Gap>,
    uncovered: Vec<Gap>,
    /// When the next of both begins.
    next_gap: i64,
    /// What the scheduler did with threads, where that was recorded.
    scheduling: Scheduling,
    /// The span that the last event ended, if it says which.
    pub span: Option<SpanNumbers>,
    next_span: Option<SpanNumbers>,
    /// Whether the last event is a command that holds clients back from then on.
    pub holds_back: bool,
    next_holds_back: bool,
    /// Whether anything of that is to be told of the next event, or no longer.
    is_told: bool,
    /// What filters ask of the events of each kind; none if nothing is filtered.
    pub filter: Option<Vec<Option<ClassPlan>>>,
}

impl Scene {
    /// With gaps that are known from the start, in the order in which they begin.
    pub fn with_gaps(mut gaps: Vec<Gap>) -> Self {
        gaps.reverse();
        let mut scene = Scene { gaps, ..Scene::default() };
        scene.find_next_gap();
        scene
    }

    /// With times in which nothing was recorded, in the order in which they begin.
    pub fn with_uncovered(&mut self, mut uncovered: Vec<Gap>) {
        uncovered.reverse();
        self.uncovered = uncovered;
        self.find_next_gap();
    }

    /// Adds a gap in the events.
    pub fn gap(&mut self, gap: Gap) {
        let place = self.gaps.partition_point(|other| other.since > gap.since);
        self.gaps.insert(place, gap);
        self.find_next_gap();
    }

    /// Adds a sample of the machine with this name.
    pub fn sample(&mut self, host: Option<&str>, time: i64, sample: Sample) {
        if let Some(host) = self.hosts.named(host) {
            self.scheduling.sample(host, time, sample);
        }
    }

    /// Follows one of the things that happened, and notifies the listener.
    #[inline(always)]
    pub fn follow(&mut self, happening: &Happening, all: &Happenings, listener: &mut impl Listener) {
        match *happening {
            Happening::Process { host, pid, name } => {
                let (host, name) = (host as usize, all.name(name));
                self.threads.add_process(Process { host, host_name: self.hosts.name(host), pid, name });
            }
            Happening::Thread(thread) => self.threads.add(thread),
            Happening::Span(numbers) => (self.next_span, self.is_told) = (Some(numbers), true),
            Happening::HoldsBack => (self.next_holds_back, self.is_told) = (true, true),
            Happening::Scheduled { host, time, place } => {
                self.scheduling.kernel(host as usize, time, all.kernel(place));
            }
            Happening::Active { thread, time } => _ = self.active(thread, time, listener),
            Happening::Began { thread, time, name, client, passes } => {
                let thread = self.active(thread, time, listener);
                grown(&mut self.open, thread).begin(time, name, client, passes);
            }
            Happening::Closed { thread, time, kind, key, client, passes } => {
                let thread = self.active(thread, time, listener);
                let open = grown(&mut self.open, thread);
                let name = key.map(|key| IntervalName { kind, key });
                let client = Some(client).filter(|client| *client != BriefInterval::NOBODY);
                if let Some(interval) = open.end(time, kind, name, client, passes) {
                    listener.ended(thread, &interval, self);
                }
            }
            Happening::Ended { thread, interval } => self.ended(thread, &interval.interval(), listener),
            Happening::Run { thread, from, to } => {
                self.run_ended(thread, all.intervals(from, to), listener);
            }
            Happening::Summed { thread, sum } => self.summed(thread, &sum.interval(), listener),
            Happening::Long { thread, place, is_sum: false } => self.ended(thread, all.long(place), listener),
            Happening::Long { thread, place, is_sum: true } => self.summed(thread, all.long(place), listener),
        }
    }

    /// The same, with the samples that are needed to judge it.
    pub fn follow_sampled(
        &mut self,
        happening: &Happening,
        all: &Happenings,
        samples: &mut SampleReader<'_>,
        listener: &mut impl Listener,
    ) {
        let Some(time) = all.time(happening).filter(|time| samples.has_any_around(*time)) else {
            return self.follow(happening, all, listener);
        };
        let mut add = |scene: &mut Scene, time| {
            samples.around(time, |host, time, sample| scene.sample(host, time, sample));
        };
        let Happening::Run { thread, from, to } = *happening else {
            add(self, time);
            return self.follow(happening, all, listener);
        };
        for interval in all.intervals(from, to) {
            add(self, interval.end);
            self.ended(thread, &interval.interval(), listener);
        }
    }

    /// A run of intervals of a thread has ended.
    #[inline(always)]
    fn run_ended(&mut self, thread: u32, run: &[BriefInterval], listener: &mut impl Listener) {
        let is_plain = |last: &BriefInterval| !self.is_told && self.next_gap >= last.end;
        if run.last().is_some_and(is_plain) {
            return listener.run_ended(thread as usize, run, self);
        }
        run.iter().for_each(|interval| self.ended(thread, &interval.interval(), listener));
    }

    /// An interval of a thread has ended.
    #[inline(always)]
    pub fn ended(&mut self, thread: u32, interval: &Interval, listener: &mut impl Listener) {
        let thread = self.active(thread, interval.end, listener);
        listener.ended(thread, interval, self);
    }

    /// An event reports the total of pieces of its thread's work.
    #[inline(always)]
    pub fn summed(&mut self, thread: u32, sum: &Interval, listener: &mut impl Listener) {
        let thread = self.active(thread, sum.end, listener);
        listener.summed(thread, sum, self);
    }

    /// A thread was active; returns its number.
    #[inline(always)]
    fn active(&mut self, thread: u32, time: i64, listener: &mut impl Listener) -> usize {
        if self.next_gap < time {
            self.pass_gaps(time, listener);
        }
        if self.is_told {
            self.span = self.next_span.take();
            self.holds_back = std::mem::take(&mut self.next_holds_back);
            self.is_told = self.span.is_some() || self.holds_back;
        }
        let thread = thread as usize;
        listener.event(self.threads.thread(thread).process, time);
        thread
    }

    /// Passes the gaps that began before a time.
    #[cold]
    #[inline(never)]
    fn pass_gaps(&mut self, time: i64, listener: &mut impl Listener) {
        while let Some(gap) = self.gaps.pop_if(|gap| gap.since < time) {
            self.lose(gap, listener);
        }
        while let Some(gap) = self.uncovered.pop_if(|gap| gap.since < time) {
            let threads = &self.threads;
            let mut affected =
                self.hosts.of_trace(gap.trace).into_iter().flat_map(|host| threads.on_host(host));
            listener.untraced(&mut affected, gap.since, gap.until);
        }
        self.find_next_gap();
    }

    fn find_next_gap(&mut self) {
        let next = self.gaps.last().into_iter().chain(self.uncovered.last());
        self.next_gap = next.map(|gap| gap.since).min().unwrap_or(i64::MAX);
    }

    /// Forgets the open intervals of a machine whose events are missing.
    fn lose(&mut self, gap: Gap, listener: &mut impl Listener) {
        let Scene { hosts, threads, open, .. } = self;
        let affected = || hosts.of_trace(gap.trace).into_iter().flat_map(|host| threads.on_host(host));
        affected().for_each(|thread| open.get_mut(thread).into_iter().for_each(OpenIntervals::forget));
        listener.lost(&mut affected(), gap.since, gap.until);
    }

    /// The number of threads whose samples were forgotten while they were still sampled.
    pub fn forgotten_samples(&self) -> u64 {
        self.scheduling.forgotten()
    }

    /// What the scheduler did with a thread in some spans of time; none if that is not known.
    pub fn account(&self, thread: usize, spans: &[Span]) -> Option<Account> {
        let thread = self.threads.thread(thread);
        let process = self.threads.process(thread.process);
        self.scheduling.account(process.host, process.pid, thread.tid?, spans)
    }

    /// Whether a time without events passes the filters: those on durations by its length, all others by the interval
    /// that ended it.
    pub fn silence_passes(&self, ended_by: &Interval, length: i64) -> bool {
        let of_kind = |filter: &Vec<Option<ClassPlan>>| {
            let plan = filter.get(ended_by.name.kind as usize).and_then(Option::as_ref);
            plan.is_some_and(|plan| plan.admits_duration(length))
        };
        ended_by.passes.otherwise && self.filter.as_ref().is_none_or(of_kind)
    }

    /// Whether an interval of a thread may contain another one. Where threads are known, times decide; otherwise the
    /// catalogs must allow it too. Of two of one kind that follow each other, the first seems to end within the second by less
    /// than a tick of their durations.
    #[inline]
    pub fn may_contain(&self, thread: usize, outer: &Interval, inner: &Interval) -> bool {
        let is_plain = outer.name.kind != inner.name.kind && self.threads.thread(thread).tid.is_some();
        is_plain || self.may_contain_otherwise(thread, outer, inner)
    }

    #[inline(never)]
    fn may_contain_otherwise(&self, thread: usize, outer: &Interval, inner: &Interval) -> bool {
        let is_apart = outer.name.kind == inner.name.kind
            && inner.end.saturating_sub(outer.begin) <= self.kinds.of(outer.name).tick();
        !is_apart
            && (self.threads.thread(thread).tid.is_some() || self.kinds.may_contain(outer.name, inner.name))
    }
}
