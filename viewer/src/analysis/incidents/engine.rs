//! From intervals in time order to incidents: one pass, in bounded memory.
//!
//! ```text
//!  intervals ─> forest of each thread ─> a turn took long ────────────┐
//!                                        an interval took improbably long ─> pending ─> incident
//!                                        a loop slept too long ───────┘   (who is served next?)
//! ```

use std::collections::VecDeque;

use ctf_reader::Window;
use hashbrown::HashMap;

use super::activity::Activity;
use super::clients::{Clients, Waiting};
use super::costs::UsualCosts;
use super::finding::{IncidentKind, WaitedFinding};
use super::meanwhile::{self, LongIntervals};
use super::pending::{Pending, PendingStalls};
use super::sleeps::{Silence, Sleeps};
use super::stall::Stall;
use super::starved::{Starvation, StarvedGroup};
use super::tally::IncidentTally;
use super::usual::{Usual, UsualLengths};
use crate::analysis::finding::{Ns, Span};
use crate::analysis::intervals::{
    Interval, IntervalName, Link, Listener, Nesting, Scene, SpanNumbers, Spans, total,
};
use crate::analysis::reading::grown::grown;
use crate::analysis::recent::remember;

/// How far before and after an incident to look for clients: as long as it took, within these bounds; nanoseconds.
const NEAR: std::ops::RangeInclusive<i64> = 100_000_000..=1_000_000_000;

/// The number of past incidents that a late interval may be added to.
const MOST_LATE: usize = 256;

/// An interval that begins within an earlier turn by more than this is due to a clock step, not to inexact durations;
/// nanoseconds.
const STEP: i64 = 1_000_000;

/// How many of the last incidents of a process are remembered, for the rate of services outside of them.
const MOST_STALLED: usize = 1024;

/// Finds incidents. It shares no line of the cache with what another thread uses meanwhile.
#[derive(Default)]
#[repr(align(128))]
pub struct Engine {
    /// The shortest stall that is an incident; nanoseconds.
    pub threshold: i64,
    processes: Vec<ProcessState>,
    threads: Vec<ThreadState>,
    /// Intervals that have the numbers of spans, which nest by these on whatever thread they ended.
    spans: Spans,
    pending: PendingStalls,
    long: LongIntervals,
    usual: UsualLengths,
    pub costs: UsualCosts,
    pub tally: IncidentTally,
    /// For each kind the number of intervals, and the longest.
    pub kinds: Vec<KindFigures>,
    /// The number of intervals that are due to a clock step.
    pub stepped: u64,
}

/// Figures of all intervals of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct KindFigures {
    pub count: u64,
    pub longest: i64,
}

#[derive(Debug, Default)]
struct ProcessState {
    clients: Clients,
    starvation: Starvation,
    activity: Activity,
    /// Whether any of its threads has an event loop.
    has_loop: bool,
    /// The last incidents.
    stalled: VecDeque<Span>,
    /// Those of them that count only if clients waited, until that is known.
    unsettled_pauses: Vec<Span>,
}

#[derive(Debug, Default)]
struct ThreadState {
    process: usize,
    nesting: Nesting,
    /// The sleeps between turns; none until the first turn.
    sleeps: Option<Sleeps>,
    /// Whether an interval that is not yet within a turn took long.
    has_long: bool,
    /// Whether a client was served since the last turn.
    has_served: bool,
}

impl Engine {
    /// An engine for incidents of at least `threshold` nanoseconds, of which those that overlap the window are reported.
    pub fn new(threshold: i64, window: Window) -> Self {
        Engine { threshold, tally: IncidentTally::new(window), ..Engine::default() }
    }

    /// Settles all pending incidents at the end of the trace, and drops intervals that turned out to be usual.
    pub fn finish(&mut self, scene: &Scene) {
        // Long intervals within a turn that has no end in the trace are incidents too.
        for thread in 0..self.threads.len() {
            if let Some(since) = self.threads[thread].sleeps.as_ref().and_then(Sleeps::last_end) {
                self.settle(thread, since);
            }
        }
        while let Some(pending) = self.pending.pop() {
            self.settle_one(pending, scene);
        }
        for process in 0..self.processes.len() {
            let is_of = |state: &ThreadState| state.process == process && state.sleeps.is_some();
            let thread = self.threads.iter().position(is_of);
            if let (Some(thread), Some(group)) = (thread, self.processes[process].starvation.finish()) {
                self.starved(process, thread, group);
            }
        }
        let mut stalls = self.tally.take_stalls();
        // To compute a limit takes long, and many stalls may have the same name.
        let mut limits: HashMap<(usize, IntervalName), i64> = HashMap::new();
        stalls.retain(|stall| match (stall.kind, stall.chain.first()) {
            (IncidentKind::Interval, Some(root)) if !self.has_turns(stall.thread) => {
                let limit = || self.limit(stall.thread, root.name, Usual::limit);
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

    /// The length above which an interval is improbable for its name. Without enough lengths to tell, any length is,
    /// except on a thread beside an event loop.
    fn limit(&self, thread: usize, name: IntervalName, limit: impl Fn(&Usual) -> i64) -> i64 {
        match self.usual.of(name) {
            Some(usual) => limit(usual),
            None if self.processes[self.threads[thread].process].has_loop => i64::MAX,
            None => 0,
        }
    }

    fn thread(&mut self, thread: usize, scene: &Scene) -> &mut ThreadState {
        while self.threads.len() <= thread {
            let process = scene.threads.thread(self.threads.len()).process;
            self.threads.push(ThreadState { process, ..ThreadState::default() });
        }
        &mut self.threads[thread]
    }

    #[inline]
    fn process(&mut self, process: usize) -> &mut ProcessState {
        grown(&mut self.processes, process)
    }

    /// Handles a turn of an event loop: it may have taken long, or the loop may have slept too long before it.
    fn turn(&mut self, thread: usize, turn: Interval, scene: &Scene) {
        let threshold = self.threshold;
        let state = self.thread(thread, scene);
        let process = state.process;
        if !std::mem::take(&mut state.has_served) {
            self.process(process).starvation.idle_turn(turn.end);
        }
        let state = self.thread(thread, scene);
        if state.sleeps.is_none() {
            return self.first_turn(thread, turn, scene);
        }
        let sleeps = state.sleeps.get_or_insert_default();
        let before = sleeps.last_end().unwrap_or(i64::MIN);
        let silence = sleeps.turn(turn.begin, turn.end, threshold);
        let is_long = turn.length() >= threshold;
        if let Some(silence) = silence {
            let (span, needs_waiters) = match silence {
                Silence::Late(span) => (span, false),
                Silence::Pause(span) => (span, true),
            };
            // The loop woke up at its first activity, even if that was before the turn: it may have waited for a lock.
            let begins = state.nesting.trees().map(|tree| tree.root().interval.begin);
            let woke_up = begins.filter(|begin| *begin >= before).min().unwrap_or(span.end_ns);
            let silent = Span { end_ns: span.end_ns.min(woke_up), ..span };
            if silent.length_ns() >= threshold && silent.length_ns().saturating_mul(2) > span.length_ns() {
                let is_selected = scene.silence_passes(&turn, silent.length_ns());
                self.add(Stall { is_selected, ..Stall::silence(thread, silent) }, needs_waiters);
            }
        }
        let state = &mut self.threads[thread];
        if is_long {
            state.nesting.end(turn, |outer, inner| scene.may_contain(thread, outer, inner));
        }
        if is_long || state.has_long {
            self.settle(thread, before);
        }
        self.threads[thread].nesting.clear();
    }

    /// Handles the first turn of a thread. What came before it was judged as if the thread had no event loop.
    fn first_turn(&mut self, thread: usize, turn: Interval, scene: &Scene) {
        let threshold = self.threshold;
        let process = self.threads[thread].process;
        self.process(process).has_loop = true;
        let state = &mut self.threads[thread];
        state.sleeps.get_or_insert_default().turn(turn.begin, turn.end, threshold);
        state.has_long = false;
        state.nesting.end(turn, |outer, inner| scene.may_contain(thread, outer, inner));
        if let Some(tree) = state.nesting.last().filter(|_| turn.length() >= threshold) {
            let stall = Stall::new(thread, IncidentKind::Turn, tree);
            self.join(stall, |other| other.thread == thread && other.span.end_ns > turn.begin);
        }
        self.threads[thread].nesting.clear();
    }

    /// Makes incidents of the long top-level intervals of a thread. Those that began before `since`, within an
    /// earlier turn, are due to a clock step.
    fn settle(&mut self, thread: usize, since: i64) {
        let threshold = self.threshold;
        let state = &mut self.threads[thread];
        state.has_long = false;
        let mut found = Vec::new();
        for tree in state.nesting.trees().filter(|tree| tree.root().interval.length() >= threshold) {
            let root = tree.root();
            let is_turn = state.sleeps.as_ref().and_then(Sleeps::last_end) == Some(root.interval.end);
            if !is_turn && root.interval.begin < since.saturating_sub(STEP) {
                self.stepped += 1;
                continue;
            }
            let kind = if is_turn { IncidentKind::Turn } else { IncidentKind::Interval };
            let mut stall = Stall::new(thread, kind, tree);
            stall.is_incomplete = state.nesting.is_incomplete_since(stall.span.begin_ns);
            found.push(stall);
        }
        found.into_iter().rev().for_each(|stall| self.add(stall, false));
    }

    /// Adds an incident, and begins to look for clients that waited for its end.
    fn add(&mut self, stall: Stall, needs_waiters: bool) {
        let span = stall.span;
        let near = span.length_ns().clamp(*NEAR.start(), *NEAR.end());
        let process = self.threads[stall.thread].process;
        let state = self.process(process);
        let before = Span { begin_ns: span.begin_ns.saturating_sub(near), end_ns: span.begin_ns };
        let cause = stall.cause();
        let culprit = cause.and_then(|cause| cause.client);
        // Within a turn, clients are served one after the other; a client served by another thread has not waited.
        let cause_end = match stall.kind {
            IncidentKind::Turn => Some(cause.map_or(span.end_ns, |cause| cause.end)),
            IncidentKind::Interval | IncidentKind::Starved => None,
            IncidentKind::Silence => Some(span.end_ns),
        };
        let waiting = Waiting::new(&state.clients, before, span, cause_end, culprit);
        let not_served = |stalled: &VecDeque<Span>| {
            let expected = state.clients.expected(stalled, span.begin_ns, near, span.length_ns());
            expected.saturating_sub(state.clients.count(span))
        };
        let stall = Stall { not_served: not_served(&state.stalled), ..stall };
        // Whether the time of pauses counts is known when they are settled, which is before this one is.
        let pauses = state.unsettled_pauses.clone();
        let if_not_paused = match pauses.is_empty() {
            true => stall.not_served,
            false => {
                let others = state.stalled.iter().filter(|other| !pauses.contains(other));
                not_served(&others.copied().collect())
            }
        };
        remember(&mut state.stalled, MOST_STALLED, span);
        if needs_waiters {
            state.unsettled_pauses.push(span);
        }
        let until = span.end_ns.saturating_add(near);
        self.pending.push(Pending { stall, waiting, process, until, needs_waiters, pauses, if_not_paused });
    }

    /// Settles the incidents that ended long enough ago.
    fn settle_pending(&mut self, now: i64, scene: &Scene) {
        while let Some(pending) = self.pending.pop_due(now) {
            self.settle_one(pending, scene);
        }
    }

    fn settle_one(&mut self, pending: Pending, scene: &Scene) {
        let Pending { mut stall, waiting, process, needs_waiters, pauses, if_not_paused, .. } = pending;
        stall.waited = waiting.waited();
        let state = &mut self.processes[process];
        if needs_waiters {
            state.unsettled_pauses.retain(|pause| *pause != stall.span);
            // If few clients come back, the load has changed.
            if stall.waited.clients == 0 || stall.waited.clients * 2 < stall.waited.of {
                state.stalled.retain(|other| *other != stall.span);
                return;
            }
        }
        if !pauses.iter().all(|pause| state.stalled.contains(pause)) {
            stall.not_served = if_not_paused;
        }
        let activities = self.processes.iter().enumerate().map(|(number, state)| (number, &state.activity));
        stall.account = scene.account(stall.thread, &[stall.span]).map(Box::new);
        stall.in_gaps = scene.account(stall.thread, &stall.gaps).map(Box::new);
        stall.meanwhile = self.long.during(stall.span, stall.thread, scene, activities);
        self.tally.add(stall);
    }

    /// Adds clients that were not served although the loop turned, unless another incident explains it.
    fn starved(&mut self, process: usize, thread: usize, group: StarvedGroup) {
        let (threshold, span) = (self.threshold, group.span);
        let state = self.process(process);
        let stalled = total(state.stalled.iter().map(|other| span.overlap_ns(*other)));
        if !state.has_loop || span.length_ns() < threshold || stalled.saturating_mul(2) > span.length_ns() {
            return;
        }
        let near = span.length_ns().clamp(*NEAR.start(), *NEAR.end());
        let before = Span { begin_ns: span.begin_ns.saturating_sub(near), end_ns: span.begin_ns };
        let of = Waiting::new(&state.clients, before, span, None, None).waited().of;
        let expected = state.clients.expected(&state.stalled, span.begin_ns, near, span.length_ns());
        let not_served = expected.saturating_sub(state.clients.count(span));
        let clients = group.clients as u64;
        self.tally.add(Stall {
            kind: IncidentKind::Starved,
            waited: WaitedFinding {
                clients,
                of: of.max(clients),
                longest: Ns(group.longest_ns.max(0) as u128),
            },
            not_served,
            is_selected: group.is_selected,
            ..Stall::silence(thread, span)
        });
    }

    /// Whether an interval of a thread without an event loop took improbably long.
    fn is_improbable(&mut self, thread: usize, interval: &Interval) -> bool {
        let length = interval.length();
        self.usual.take(interval.name, length);
        length >= self.threshold && length > self.limit(thread, interval.name, Usual::limit_so_far)
    }

    /// Judges an interval of a thread without an event loop. Those of its thread that overlap it are the same incident.
    fn judge(&mut self, thread: usize, interval: Interval) {
        if !self.is_improbable(thread, &interval) {
            return;
        }
        let state = &self.threads[thread];
        let Some(tree) = state.nesting.last() else { return };
        let mut stall = Stall::new(thread, IncidentKind::Interval, tree);
        stall.is_incomplete = state.nesting.is_incomplete_since(stall.span.begin_ns);
        let begin = stall.span.begin_ns;
        self.join(stall, |other| other.thread == thread && !other.is_span && other.span.end_ns > begin);
    }

    /// Judges a span, and returns whether it contains others. Those that it contains are the same incident: others that
    /// overlap it are of other requests.
    fn judge_span(&mut self, thread: usize, numbers: SpanNumbers, interval: Interval) -> bool {
        let (threshold, process) = (self.threshold, self.threads[thread].process);
        let is_improbable = self.is_improbable(thread, &interval);
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
    fn join(&mut self, mut stall: Stall, is_same: impl Fn(&Stall) -> bool) {
        while let Some(joined) = self.tally.take_last(&is_same, stall.span.begin_ns) {
            stall.join(joined);
        }
        match self.pending.take_joined(is_same) {
            // Clients that wait for the first wait for all of them.
            Some(mut first) => {
                first.stall.join(stall);
                let near = first.stall.span.length_ns().clamp(*NEAR.start(), *NEAR.end());
                first.until = first.until.max(first.stall.span.end_ns.saturating_add(near));
                self.pending.push(first);
            }
            None => self.add(stall, false),
        }
    }

    /// Remembers a long interval, and adds it to settled incidents that it overlaps.
    fn remember(&mut self, thread: usize, interval: Interval, scene: &Scene) {
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

    fn ended(&mut self, thread: usize, interval: Interval, scene: &Scene) {
        self.settle_pending(interval.end, scene);
        let length = interval.length();
        let figures = grown(&mut self.kinds, interval.name.kind as usize);
        figures.count += 1;
        figures.longest = figures.longest.max(length);
        if length >= self.threshold / 4 {
            self.remember(thread, interval, scene);
        } else {
            self.costs.take(interval.name, length);
        }
        if scene.kinds.of(interval.name).is_outermost {
            return self.turn(thread, interval, scene);
        }
        let threshold = self.threshold;
        let state = self.thread(thread, scene);
        let (process, has_turns) = (state.process, state.sleeps.is_some());
        state.has_long |= length >= threshold;
        state.has_served |= interval.client.is_some();
        let is_larger = match scene.span.filter(|_| !has_turns) {
            Some(numbers) => self.judge_span(thread, numbers, interval),
            None => {
                state.nesting.end(interval, |outer, inner| scene.may_contain(thread, outer, inner));
                state.nesting.last_has_children()
            }
        };
        if let Some(client) = interval.client {
            let state = self.process(process);
            if is_larger {
                state.clients.retract(client, interval.begin);
            }
            state.clients.served(interval.end, client);
            let passes = |gap| scene.silence_passes(&interval, gap);
            let starved = state.starvation.served(client, interval.end, passes);
            self.pending.served(process, interval.end, client);
            if let Some(group) = starved {
                self.starved(process, thread, group);
            }
        }
        if !has_turns && scene.span.is_none() {
            self.judge(thread, interval);
        }
    }

    fn summed(&mut self, thread: usize, sum: Interval, _: &Scene) {
        // It follows the turn that it is about.
        if let Some(stall) = self.pending.turn_before(thread, sum.end)
            && sum.length() <= stall.span.length_ns()
        {
            stall.add_sum(&sum);
        }
    }

    fn lost(&mut self, threads: &mut dyn Iterator<Item = usize>, _: i64, until: i64) {
        for thread in threads {
            if let Some(state) = self.threads.get_mut(thread) {
                state.nesting.lose(until);
                state.sleeps.iter_mut().for_each(Sleeps::forget);
            }
        }
    }
}
