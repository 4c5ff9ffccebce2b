//! From intervals in time order to incidents: one pass, in bounded memory.
//!
//! ```text
//!  intervals ─> forest of each thread ─> a turn took long ────────────┐
//!                                        an interval took improbably long ─> pending ─> incident
//!                                        a loop slept too long ───────┘   (who is served next?)
//! ```

use ctf_reader::Window;
use hashbrown::HashMap;

use super::activity::Activity;
use super::clients::Clients;
use super::finding::IncidentKind;
use super::held_back::HeldBack;
use super::lengths::{Lengths, Nature};
use super::meanwhile::{self, LongIntervals};
use super::memory::Memory;
use super::pending::{Pending, PendingStalls};
use super::services::{AROUND, Services};
use super::sleeps::{SLEPT, Silent, Sleeps};
use super::stall::Stall;
use super::tally::IncidentTally;
use super::waits::{Service, Waits};
use crate::finding::Span;
use crate::intervals::{
    BriefInterval, Interval, IntervalName, Link, Listener, Nesting, Scene, SpanNumbers, Spans, each_ended,
};
use crate::reading::grown::grown;

/// A client that was answered at most this long before a stall is one that may have waited; nanoseconds.
const ACTIVE: i64 = 1_000_000_000;

/// The number of past incidents that a late interval may be added to.
const MOST_LATE: usize = 256;

/// Intervals of at least one part in this number of the threshold may be what went on during an incident.
const SHARE_REMEMBERED: i64 = 4;

/// The most times without tracing that are told apart.
const MOST_UNTRACED: usize = 256;

/// Finds incidents. It shares no line of the cache with what another thread uses meanwhile.
#[derive(Default)]
#[repr(align(128))]
pub struct Engine {
    /// The shortest stall that is an incident; nanoseconds.
    pub threshold: i64,
    pub processes: Vec<ProcessState>,
    pub threads: Vec<ThreadState>,
    /// Intervals that have the numbers of spans, which nest by these on whatever thread they ended.
    spans: Spans,
    pub pending: PendingStalls,
    long: LongIntervals,
    pub lengths: Lengths,
    pub tally: IncidentTally,
    /// The number of intervals that began within an earlier turn.
    pub stepped: u64,
    /// Times in which event loops were not traced, the first ones.
    pub untraced: Vec<Span>,
    /// Room for the clients of a turn.
    pub distinct: Vec<u32>,
    pub memory: Memory,
}

#[derive(Debug, Default)]
pub struct ProcessState {
    pub clients: Clients,
    pub services: Services,
    pub activity: Activity,
    /// Whether any of its threads has an event loop.
    pub has_loop: bool,
    /// Whether it tells its clients. If so, requests without one are its own.
    pub tells_clients: bool,
    /// From when to when its event loops turned.
    pub turned: Option<Span>,
}

#[derive(Debug, Default)]
pub struct ThreadState {
    pub process: usize,
    pub nesting: Nesting,
    /// The sleeps between turns; none until the first turn.
    pub sleeps: Option<Sleeps>,
    /// Whether an interval that is not yet within a turn took long.
    pub has_long: bool,
    /// When the last turn began: it looked for requests then. And the number of clients that it served.
    pub looked: i64,
    pub last_clients: usize,
    /// The requests served since the last turn: when each ended, and its client, if the server tells.
    pub served: Vec<(i64, Option<u32>)>,
    /// The number of further ones.
    pub served_before: u64,
    /// A command since the last turn that holds clients back from then on.
    pub pause: Option<Interval>,
    /// Whether nothing was recorded for a time since the last turn, whatever it did.
    pub is_untraced: bool,
    /// A sleep that is judged by who is served after it.
    pub silent: Option<Silent>,
    pub held_back: HeldBack,
    /// When the last request of a thread without an event loop ended.
    last_end: i64,
}

impl Engine {
    /// An engine for incidents of at least `threshold` nanoseconds, of which those that overlap the window are reported.
    pub fn new(threshold: i64, window: Window) -> Self {
        let lengths = Lengths::new(threshold / SHARE_REMEMBERED);
        Engine { threshold, lengths, tally: IncidentTally::new(window), ..Engine::default() }
    }

    /// Settles all pending incidents at the end of the trace, and drops intervals that turned out to be usual.
    pub fn finish(&mut self, scene: &Scene) {
        // Long intervals within a turn that has no end in the trace are incidents too.
        for thread in 0..self.threads.len() {
            if let Some(since) = self.threads[thread].sleeps.as_ref().and_then(Sleeps::last_end) {
                let nobody =
                    Service { clients: &[], turn: Span { begin_ns: since, end_ns: since }, written: since };
                self.settle(thread, since, nobody, 0);
            }
        }
        while let Some(pending) = self.pending.pop() {
            self.settle_one(pending, scene);
        }
        self.lengths.settle(&scene.kinds);
        let mut stalls = self.tally.take_stalls();
        // To compute a limit takes long, and many stalls may have the same name.
        let mut limits: HashMap<(usize, IntervalName), i64> = HashMap::new();
        stalls.retain(|stall| match (stall.kind, stall.chain.first()) {
            (IncidentKind::Interval, Some(root)) if !self.has_turns(stall.thread) => {
                let limit = || self.or_none(stall.thread, self.lengths.limit(root.name));
                root.length > *limits.entry((stall.thread, root.name)).or_insert_with(limit)
            }
            _ => true,
        });
        self.tally.put_back(stalls);
    }

    /// Whether a thread is known to have an event loop.
    fn has_turns(&self, thread: usize) -> bool {
        self.threads[thread].sleeps.is_some()
    }

    /// The length above which an interval of a thread is improbable, if that is known. Without enough lengths to tell, any length
    /// is, except on a thread beside an event loop.
    fn or_none(&self, thread: usize, limit: Option<i64>) -> i64 {
        let has_loop = || self.processes[self.threads[thread].process].has_loop;
        limit.unwrap_or_else(|| if has_loop() { i64::MAX } else { 0 })
    }

    #[inline(always)]
    pub fn thread(&mut self, thread: usize, scene: &Scene) -> &mut ThreadState {
        if self.threads.len() <= thread {
            self.add_threads(thread, scene);
        }
        &mut self.threads[thread]
    }

    #[cold]
    fn add_threads(&mut self, last: usize, scene: &Scene) {
        let new = (self.threads.len()..=last).map(|thread| scene.threads.thread(thread).process);
        self.threads.extend(new.map(|process| ThreadState { process, ..ThreadState::default() }));
        self.memory.share_among(self.threads.len());
    }

    #[inline]
    pub fn process(&mut self, process: usize) -> &mut ProcessState {
        grown(&mut self.processes, process)
    }

    /// Adds an incident in which some requests were answered, and begins to look for clients that waited for its end: those that
    /// this turn served, and if it is open, those that the next one does.
    pub fn add(&mut self, stall: Stall, answered: u64, service: Option<Service<'_>>, is_open: bool) {
        let span = stall.span;
        let process = self.threads[stall.thread].process;
        let (threshold, state) = (self.threshold, self.process(process));
        state.services.stalled(span);
        if span.length_ns() < threshold {
            return;
        }
        let until = span.end_ns.saturating_add(AROUND);
        let lately = Span { begin_ns: span.begin_ns.saturating_sub(ACTIVE), end_ns: span.begin_ns };
        let active = state.clients.active_in(lately);
        let mut waits = Waits::default();
        if let Some(service) = service {
            waits.serve(&stall, &state.clients, service);
        }
        self.pending.push(Pending { stall, process, until, answered, is_open, waits, active });
    }

    /// Settles the incidents that ended long enough ago.
    #[inline(never)]
    pub fn settle_pending(&mut self, now: i64, scene: &Scene) {
        while let Some(pending) = self.pending.pop_due(now) {
            self.settle_one(pending, scene);
        }
        // After that: what is forgotten is what they are compared with.
        if self.memory.is_due(now) {
            self.rest(now);
        }
    }

    #[inline(never)]
    fn settle_one(&mut self, pending: Pending, scene: &Scene) {
        // It may be reported next, with what is usual.
        self.lengths.settle(&scene.kinds);
        let Pending { mut stall, process, answered, waits, active, .. } = pending;
        stall.not_served = self.processes[process].services.not_served(stall.span, answered);
        let activities = self.processes.iter().enumerate().map(|(number, state)| (number, &state.activity));
        stall.account = scene.account(stall.thread, &[stall.span]).map(Box::new);
        stall.in_gaps = scene.account(stall.thread, &stall.gaps).map(Box::new);
        stall.meanwhile = self.long.during(stall.span, stall.thread, scene, activities);
        let is_request = |name| scene.kinds.of(name).is_request;
        stall.neighbour = stall.neighbour.filter(|beside| is_request(beside.link.name));
        stall.choose_cause();
        stall.blame_loading(|name| scene.kinds.of(name).is_while_blocked());
        stall.waited = waits.finding(active, stall.cause().is_some());
        self.tally.add(stall);
    }

    /// Records that a thread without an event loop served a client, who gets one answer for some earlier ones.
    pub fn served_alone(&mut self, thread: usize, process: usize, client: u32, span: Span, parts: u64) {
        let state = &mut self.threads[thread];
        if state.served.len() > self.memory.most_served {
            state.served.drain(..self.memory.most_served / 2);
        }
        let slept = span.begin_ns.saturating_sub(state.last_end);
        state.last_end = span.end_ns;
        let of = grown(&mut self.processes, process);
        match slept >= SLEPT {
            true => self.pending.slept(thread, slept, 1),
            false => {
                let service = Service { clients: &[client], turn: span, written: span.end_ns };
                self.pending.served(thread, &of.clients, service, false);
            }
        }
        if parts > 0 {
            of.services.retract(parts);
        }
        of.services.answered(span, 1);
        of.clients.answered(client, span, span.begin_ns);
    }

    /// Whether an interval of a thread without an event loop took improbably long.
    #[inline]
    fn is_improbable(&mut self, thread: usize, interval: &Interval, scene: &Scene) -> bool {
        interval.length() >= self.threshold && self.is_longer_than_usual(thread, interval, scene)
    }

    #[inline(never)]
    fn is_longer_than_usual(&mut self, thread: usize, interval: &Interval, scene: &Scene) -> bool {
        let limit = self.lengths.limit_so_far(interval.name, &scene.kinds);
        interval.length() > self.or_none(thread, limit)
    }

    /// Makes an incident of the last interval of a thread without an event loop. Those of its thread that overlap it are the same
    /// one.
    #[inline(never)]
    fn add_improbable(&mut self, thread: usize) {
        let state = &self.threads[thread];
        let Some(tree) = state.nesting.last() else { return };
        let mut stall = Stall::new(thread, IncidentKind::Interval, tree);
        stall.is_incomplete = state.nesting.is_incomplete_since(stall.span.begin_ns);
        let begin = stall.span.begin_ns;
        self.join(stall, |other| other.thread == thread && !other.is_span && other.span.end_ns > begin);
    }

    /// Judges a span, and returns whether it contains others. Those that it contains are the same incident: others that
    /// overlap it are of other requests.
    #[inline(never)]
    fn judge_span(&mut self, thread: usize, numbers: SpanNumbers, interval: Interval, scene: &Scene) -> bool {
        let (threshold, process) = (self.threshold, self.threads[thread].process);
        let is_improbable = self.is_improbable(thread, &interval, scene);
        let (is_larger, found) = self.spans.end(process, numbers, interval, |tree| {
            let inner = || tree.inner_intervals();
            let found = is_improbable.then(|| {
                let long: Vec<Interval> = inner().filter(|inner| inner.length() >= threshold).collect();
                (Stall { is_span: true, ..Stall::new(thread, IncidentKind::Interval, tree) }, long)
            });
            (inner().next().is_some(), found)
        });
        if let Some((mut stall, inner)) = found {
            stall.is_incomplete = self.threads[thread].nesting.is_incomplete_since(stall.span.begin_ns);
            let is_inner = |root: &Link| {
                inner.iter().any(|of| (of.name, of.begin, of.end) == (root.name, root.begin, root.end))
            };
            self.join(stall, |other| other.is_span && other.chain.first().is_some_and(is_inner));
        }
        is_larger
    }

    /// Adds an incident, joined with those that are the same.
    pub fn join(&mut self, mut stall: Stall, is_same: impl Fn(&Stall) -> bool) {
        while let Some(joined) = self.tally.take_last(&is_same, stall.span.begin_ns) {
            stall.join(joined);
        }
        match self.pending.take_joined(is_same) {
            // Clients that wait for the first wait for all of them.
            Some(mut first) => {
                first.stall.join(stall);
                first.until = first.stall.span.end_ns.saturating_add(AROUND);
                self.pending.push(first);
            }
            None => self.add(stall, 1, None, true),
        }
    }

    /// Remembers a long interval, and adds it to settled incidents that it overlaps.
    #[inline(never)]
    pub fn remember(&mut self, thread: usize, interval: Interval, scene: &Scene) {
        let process = scene.threads.thread(thread).process;
        for stall in self.tally.ended_since(interval.begin).take(MOST_LATE) {
            let is_here = stall.thread != thread && scene.threads.are_on_one_host(stall.thread, thread);
            if is_here && meanwhile::covers_much(&interval, stall.span) {
                meanwhile::add(&mut stall.meanwhile, stall.span, thread, interval, process);
            }
        }
        self.long.push(thread, interval);
    }
}

impl Listener for Engine {
    #[inline]
    fn event(&mut self, process: usize, time: i64) {
        self.process(process).activity.event(time);
    }

    #[inline]
    fn ended(&mut self, thread: usize, interval: &Interval, scene: &Scene) {
        if self.pending.is_due(interval.end) || self.memory.is_due(interval.end) {
            self.settle_pending(interval.end, scene);
        }
        let length = interval.length();
        if length >= self.lengths.long {
            self.remember(thread, *interval, scene);
        }
        let kind = scene.kinds.of(interval.name);
        if kind.is_outermost {
            self.lengths.take(interval, Nature::InLoop, &scene.kinds);
            return self.turn(thread, *interval, scene);
        }
        let threshold = self.threshold;
        let state = self.thread(thread, scene);
        let (process, has_turns) = (state.process, state.sleeps.is_some());
        state.has_long |= length >= threshold;
        let nature = if has_turns { Nature::InLoop } else { Nature::Judged };
        self.lengths.take(interval, nature, &scene.kinds);
        let is_larger = match scene.span.filter(|_| !has_turns) {
            Some(numbers) => self.judge_span(thread, numbers, *interval, scene),
            None => {
                let nesting = &mut self.threads[thread].nesting;
                let before = nesting.len();
                nesting.end(*interval, |outer, inner| scene.may_contain(thread, outer, inner));
                if !has_turns {
                    self.memory.hold(nesting, before);
                }
                nesting.last_has_children()
            }
        };
        if interval.client.is_some() || (kind.is_request && has_turns && !self.process(process).tells_clients)
        {
            self.request(thread, interval, is_larger, scene.holds_back);
        }
        if !has_turns && scene.span.is_none() && self.is_improbable(thread, interval, scene) {
            self.add_improbable(thread);
        }
    }

    #[inline]
    fn run_ended(&mut self, thread: usize, run: &[BriefInterval], scene: &Scene) {
        if !self.whole_turn(thread, run, scene) {
            each_ended(self, thread, run, scene);
        }
    }

    fn summed(&mut self, thread: usize, sum: &Interval, scene: &Scene) {
        self.lengths.take(sum, Nature::Sums, &scene.kinds);
        // It follows the turn that it is about.
        if let Some(stall) = self.pending.turn_before(thread, sum.end)
            && sum.length() <= stall.span.length_ns()
        {
            stall.add_sum(sum);
        }
    }

    fn untraced(&mut self, threads: &mut dyn Iterator<Item = usize>, since: i64, until: i64) {
        let time = Span { begin_ns: since, end_ns: until };
        for thread in threads {
            if let Some(state) = self.threads.get_mut(thread) {
                // Buffers are flushed while a loop sleeps, too.
                let is_sleep = state.sleeps.as_ref().is_none_or(|sleeps| sleeps.is_usual(time.length_ns()));
                if !is_sleep && self.untraced.last() != Some(&time) && self.untraced.len() < MOST_UNTRACED {
                    self.untraced.push(time);
                }
                state.is_untraced = true;
                state.held_back.forget();
                state.pause = None;
                self.pending.slept(thread, i64::MAX, 0);
                let process = &mut self.processes[state.process];
                process.services.lose(until);
                if !is_sleep {
                    process.clients.lose(until);
                }
            }
        }
    }

    fn lost(&mut self, threads: &mut dyn Iterator<Item = usize>, _: i64, until: i64) {
        for thread in threads {
            if let Some(state) = self.threads.get_mut(thread) {
                state.nesting.lose(until);
                state.sleeps.iter_mut().for_each(Sleeps::forget);
                state.held_back.forget();
                (state.silent, state.pause) = (None, None);
                self.pending.slept(thread, i64::MAX, 0);
                let process = &mut self.processes[state.process];
                process.services.lose(until);
                process.clients.lose(until);
            }
        }
    }
}
