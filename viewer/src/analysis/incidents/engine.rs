//! From intervals in the order of time to incidents: one pass, in bounded memory.
//!
//! ```text
//!  intervals ─> forest of each thread ─> a turn took long ────────────┐
//!                                        an interval took improbably long ─> pending ─> incident
//!                                        a loop slept too long ───────┘   (who is served next?)
//! ```

use std::collections::VecDeque;

use super::super::intervals::{Feed, Interval, IntervalName, Listener, Nesting, total};
use super::activity::Activity;
use super::clients::{Clients, Waiting};
use super::held::{Held, Meanwhile, Sort, Span};
use super::sleeps::{Silence, Sleeps};
use super::tally::IncidentTally;
use super::usual::Usual;

/// How far before and after an incident clients are looked for: as long as it took, but within these.
const NEAR: std::ops::RangeInclusive<i64> = 100_000_000..=1_000_000_000;

/// How many incidents may wait for those who are served after them.
const MOST_PENDING: usize = 4096;

/// How many long intervals are remembered, for what ran at the same time.
const MOST_LONG: usize = 4096;

/// How many of those that ran at the same time are named.
const MEANWHILE: usize = 3;

/// To how many of the last incidents an interval is told that was over only long after them.
const MOST_LATE: usize = 256;

/// How many names have lengths of their own; all others share theirs.
const MOST_NAMES: usize = 1 << 17;

/// A sum belongs to the turn that ended at most this long before it.
const SUM_DELAY: i64 = 1_000_000;

/// A clock that stepped makes an interval begin within an earlier turn; inexact durations do so by less than this.
const STEP: i64 = 1_000_000;

/// Finds incidents.
pub struct Engine {
    /// What is shorter holds nobody up; nanoseconds.
    pub threshold: i64,
    processes: Vec<ProcessState>,
    threads: Vec<ThreadState>,
    pending: VecDeque<Pending>,
    long: VecDeque<(usize, Interval)>,
    usual: Vec<Option<Box<Usual>>>,
    usual_of_kinds: Vec<Usual>,
    pub tally: IncidentTally,
    /// For each kind how many intervals there were, and the longest.
    pub kinds: Vec<KindFigures>,
    /// Intervals that a clock that stepped made up.
    pub stepped: u64,
}

/// What is known of all intervals of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct KindFigures {
    pub count: u64,
    pub longest: i64,
}

#[derive(Debug, Default)]
struct ProcessState {
    clients: Clients,
    activity: Activity,
    /// Whether any of its threads turns.
    has_loop: bool,
    /// The last incidents, for how much of a time was stalled.
    stalled: VecDeque<Span>,
    pending: usize,
}

#[derive(Debug, Default)]
struct ThreadState {
    process: usize,
    nesting: Nesting,
    /// The sleeps between turns; none until the first turn.
    sleeps: Option<Sleeps>,
    /// Whether an interval that is not yet within a turn took long.
    has_long: bool,
}

/// An incident that has ended, until it is known who waited for that.
struct Pending {
    held: Held,
    waiting: Waiting,
    process: usize,
    until: i64,
    /// Whether it counts only if somebody waited.
    needs_waiters: bool,
}

impl Engine {
    /// What takes at least `threshold` nanoseconds holds somebody up.
    pub fn new(threshold: i64) -> Self {
        Engine {
            threshold,
            processes: Vec::new(),
            threads: Vec::new(),
            pending: VecDeque::new(),
            long: VecDeque::new(),
            usual: Vec::new(),
            usual_of_kinds: Vec::new(),
            tally: IncidentTally::default(),
            kinds: Vec::new(),
            stepped: 0,
        }
    }

    /// Waits no longer for anybody: the trace has ended. Intervals that turned out to be usual are let go.
    pub fn finish(&mut self, feed: &Feed) {
        // What a turn that did not end in the trace contains is held up all the same.
        for thread in 0..self.threads.len() {
            if let Some(since) = self.threads[thread].sleeps.as_ref().and_then(Sleeps::last_end) {
                self.settle(thread, since);
            }
        }
        while let Some(pending) = self.pending.pop_front() {
            self.settle_one(pending, feed);
        }
        let mut tally = std::mem::take(&mut self.tally);
        tally.retain(|held| match (held.sort, held.chain.first()) {
            (Sort::Interval, Some(root)) => {
                self.turns(held.thread) || root.length > self.limit(held.thread, root.name, Usual::limit)
            }
            _ => true,
        });
        self.tally = tally;
    }

    /// Whether a thread is known to have turns.
    fn turns(&self, thread: usize) -> bool {
        self.threads[thread].sleeps.is_some()
    }

    /// What is longer than this is improbable for a name: by its own lengths, or by those of its kind where it has few. Where
    /// there are few of both, nothing is usual; but what a thread does beside an event loop then holds nobody up.
    fn limit(&self, thread: usize, name: IntervalName, limit: impl Fn(&Usual) -> i64) -> i64 {
        let own = self.usual.get((name.key as usize).min(MOST_NAMES)).and_then(Option::as_deref);
        let of_kind = self.usual_of_kinds.get(name.kind as usize);
        let known = own.into_iter().chain(of_kind).find(|usual| usual.is_known());
        match known {
            Some(usual) => limit(usual),
            None if self.processes[self.threads[thread].process].has_loop => i64::MAX,
            None => 0,
        }
    }

    fn thread(&mut self, thread: usize, feed: &Feed) -> &mut ThreadState {
        while self.threads.len() <= thread {
            let process = feed.threads[self.threads.len()].process;
            self.threads.push(ThreadState { process, ..ThreadState::default() });
        }
        &mut self.threads[thread]
    }

    fn process(&mut self, process: usize) -> &mut ProcessState {
        if self.processes.len() <= process {
            self.processes.resize_with(process + 1, ProcessState::default);
        }
        &mut self.processes[process]
    }

    /// Takes a turn of an event loop in: it may have been held up, or the loop may have slept too long before it.
    fn turn(&mut self, thread: usize, turn: Interval, feed: &Feed) {
        let threshold = self.threshold;
        let state = self.thread(thread, feed);
        if state.sleeps.is_none() {
            return self.first_turn(thread, turn, feed);
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
            // The loop woke up when it first did something, even if that was before its turn: it may have waited for a lock.
            let begins = state.nesting.trees().map(|tree| tree.root().span.begin);
            let woke_up = begins.filter(|begin| *begin >= before).min().unwrap_or(span.end);
            let silent = Span { end: span.end.min(woke_up), ..span };
            if silent.length() >= threshold && silent.length().saturating_mul(2) > span.length() {
                self.add(Held::silence(thread, silent), needs_waiters);
            }
        }
        let state = &mut self.threads[thread];
        if is_long {
            state.nesting.end(turn, |outer, inner| feed.may_contain(thread, outer, inner));
        }
        if is_long || state.has_long {
            self.settle(thread, before);
        }
        self.threads[thread].nesting.clear();
    }

    /// Takes the first turn of a thread in. What came before it was judged without knowing that the thread turns.
    fn first_turn(&mut self, thread: usize, turn: Interval, feed: &Feed) {
        let threshold = self.threshold;
        let process = self.threads[thread].process;
        self.process(process).has_loop = true;
        let state = &mut self.threads[thread];
        state.sleeps.get_or_insert_default().turn(turn.begin, turn.end, threshold);
        state.has_long = false;
        state.nesting.end(turn, |outer, inner| feed.may_contain(thread, outer, inner));
        if let Some(tree) = state.nesting.last().filter(|_| turn.length() >= threshold) {
            let held = Held::new(thread, Sort::Turn, tree);
            self.join(held);
        }
        self.threads[thread].nesting.clear();
    }

    /// Makes incidents of the long intervals of a thread that nothing contains. Those that began before `since`, when
    /// another turn was not over yet, are the work of a clock that stepped.
    fn settle(&mut self, thread: usize, since: i64) {
        let threshold = self.threshold;
        let state = &mut self.threads[thread];
        state.has_long = false;
        let mut found = Vec::new();
        for tree in state.nesting.trees().filter(|tree| tree.root().span.length() >= threshold) {
            let root = tree.root();
            let is_turn = state.sleeps.as_ref().and_then(Sleeps::last_end) == Some(root.span.end);
            if !is_turn && root.span.begin < since.saturating_sub(STEP) {
                self.stepped += 1;
                continue;
            }
            let sort = if is_turn { Sort::Turn } else { Sort::Interval };
            let mut held = Held::new(thread, sort, tree);
            held.is_incomplete = state.nesting.is_incomplete_since(held.span.begin);
            found.push(held);
        }
        found.into_iter().rev().for_each(|held| self.add(held, false));
    }

    /// Takes an incident in, and begins to look for those who waited for its end.
    fn add(&mut self, held: Held, needs_waiters: bool) {
        let span = held.span;
        let near = span.length().clamp(*NEAR.start(), *NEAR.end());
        let process = self.threads[held.thread].process;
        let state = self.process(process);
        let before = Span { begin: span.begin.saturating_sub(near), end: span.begin };
        let cause = held.cause();
        let culprit = cause.and_then(|cause| cause.client);
        // Within a turn one after the other is served; with other threads, somebody else's service is not a wait.
        let cause_end = match held.sort {
            Sort::Turn => Some(cause.map_or(span.end, |cause| cause.end)),
            Sort::Interval => None,
            Sort::Silence => Some(span.end),
        };
        let waiting = Waiting::new(&state.clients, before, span, cause_end, culprit);
        let stalled = total(state.stalled.iter().map(|other| before.overlap(*other)));
        let expected = state.clients.expected(before, stalled, span.length());
        let not_served = expected.saturating_sub(state.clients.count(span));
        if state.stalled.len() == 32 {
            state.stalled.pop_front();
        }
        state.stalled.push_back(span);
        state.pending += 1;
        let until = span.end.saturating_add(near);
        let held = Held { not_served, ..held };
        self.pending.push_back(Pending { held, waiting, process, until, needs_waiters });
    }

    /// Gives up waiting for those incidents that ended long enough ago.
    fn settle_pending(&mut self, now: i64, feed: &Feed) {
        while self.pending.len() > MOST_PENDING
            || self.pending.front().is_some_and(|pending| pending.until < now)
        {
            let Some(pending) = self.pending.pop_front() else { return };
            self.settle_one(pending, feed);
        }
    }

    fn settle_one(&mut self, pending: Pending, feed: &Feed) {
        let Pending { mut held, waiting, process, needs_waiters, .. } = pending;
        self.processes[process].pending -= 1;
        held.waited = waiting.waited();
        // If few come back, the load has changed.
        if needs_waiters && (held.waited.clients == 0 || held.waited.clients * 2 < held.waited.of) {
            return;
        }
        held.meanwhile = self.meanwhile(&held, process, feed);
        self.tally.add(held);
    }

    /// What ran on other threads of the machine during an incident.
    fn meanwhile(&self, held: &Held, process: usize, feed: &Feed) -> Vec<Meanwhile> {
        let host = |process: usize| feed.processes[process].host;
        let overlap = |interval: &Interval| interval.overlap(held.span.begin, held.span.end);
        let is_here = |(thread, interval): &&(usize, Interval)| {
            *thread != held.thread
                && host(feed.threads[*thread].process) == host(process)
                && overlap(interval).saturating_mul(10) >= held.span.length()
        };
        let mut intervals: Vec<&(usize, Interval)> = self.long.iter().filter(is_here).collect();
        intervals.sort_by_key(|(_, interval)| std::cmp::Reverse(overlap(interval)));
        let mut seen = Vec::new();
        let mut meanwhile = Vec::new();
        for &&(thread, interval) in intervals.iter() {
            if meanwhile.len() < MEANWHILE && !seen.contains(&thread) {
                seen.push(thread);
                let of_thread = intervals.iter().filter(|(other, _)| *other == thread);
                let interval = held.span.most_telling(interval, of_thread.map(|(_, inner)| *inner));
                meanwhile.push(Meanwhile::Interval { thread, interval });
            }
        }
        let others = self.processes.iter().enumerate().filter(|(other, _)| {
            let is_named = seen.iter().any(|&thread| feed.threads[thread].process == *other);
            *other != process && !is_named && host(*other) == host(process)
        });
        let mut others: Vec<(usize, u64)> =
            others.map(|(other, state)| (other, state.activity.count(held.span))).collect();
        others.retain(|(_, events)| *events > 0);
        others.sort_by_key(|(_, events)| std::cmp::Reverse(*events));
        let others = others.into_iter().take(MEANWHILE);
        meanwhile.extend(others.map(|(process, events)| Meanwhile::Process { process, events }));
        meanwhile
    }

    /// Takes in an interval of a thread that is not known to turn.
    fn judge(&mut self, thread: usize, interval: Interval) {
        let length = interval.length();
        self.usual(interval.name).take(length);
        self.usual_of_kinds[interval.name.kind as usize].take(length);
        if length < self.threshold || length <= self.limit(thread, interval.name, Usual::limit_so_far) {
            return;
        }
        let state = &self.threads[thread];
        let Some(tree) = state.nesting.last() else { return };
        let mut held = Held::new(thread, Sort::Interval, tree);
        held.is_incomplete = state.nesting.is_incomplete_since(held.span.begin);
        self.join(held);
    }

    /// What is usual for a name. The numbers of keys are those of all kinds together.
    #[inline]
    fn usual(&mut self, name: IntervalName) -> &mut Usual {
        let place = (name.key as usize).min(MOST_NAMES);
        if self.usual.len() <= place {
            self.usual.resize_with(place + 1, || None);
        }
        self.usual[place].get_or_insert_default()
    }

    /// Takes an incident in. Others of its thread that lie within it, or cross it, are the same.
    fn join(&mut self, mut held: Held) {
        let (thread, begin) = (held.thread, held.span.begin);
        let is_same = |other: &Held| other.thread == thread && other.span.end > begin;
        while let Some(joined) = self.tally.take_last(is_same, begin) {
            held.join(joined);
        }
        let mut first: Option<Pending> = None;
        while let Some(place) = self.pending.iter().position(|pending| is_same(&pending.held)) {
            let Some(same) = self.pending.remove(place) else { break };
            match &mut first {
                Some(first) => {
                    self.processes[same.process].pending -= 1;
                    first.held.join(same.held);
                }
                None => first = Some(same),
            }
        }
        match first {
            // Those who wait for the first wait for all of them.
            Some(mut first) => {
                first.held.join(held);
                let near = first.held.span.length().clamp(*NEAR.start(), *NEAR.end());
                first.until = first.until.max(first.held.span.end.saturating_add(near));
                self.pending.push_back(first);
            }
            None => self.add(held, false),
        }
    }
}

impl Listener for Engine {
    #[inline]
    fn event(&mut self, process: usize, time: i64) {
        self.process(process).activity.event(time);
    }

    fn ended(&mut self, thread: usize, interval: Interval, feed: &Feed) {
        self.settle_pending(interval.end, feed);
        let length = interval.length();
        let kind = interval.name.kind as usize;
        if self.kinds.len() <= kind {
            self.kinds.resize(kind + 1, KindFigures::default());
            self.usual_of_kinds.resize_with(kind + 1, Usual::default);
        }
        let figures = &mut self.kinds[kind];
        figures.count += 1;
        let threshold = self.threshold;
        let state = self.thread(thread, feed);
        let process = state.process;
        let is_long = length >= threshold / 4;
        let turns = state.sleeps.is_some();
        if feed.lexicon.entry(interval.name).is_outermost {
            self.kinds[kind].longest = self.kinds[kind].longest.max(length);
            if is_long {
                self.remember(thread, interval, feed);
            }
            return self.turn(thread, interval, feed);
        }
        state.has_long |= length >= threshold;
        state.nesting.end(interval, |outer, inner| feed.may_contain(thread, outer, inner));
        let is_larger = state.nesting.last_has_children();
        if let Some(client) = interval.client {
            let state = self.process(process);
            if is_larger {
                state.clients.retract(client, interval.begin);
            }
            state.clients.served(interval.end, client);
            if state.pending > 0 {
                let waiting = self.pending.iter_mut().filter(|pending| pending.process == process);
                waiting.for_each(|pending| pending.waiting.served(interval.end, client));
            }
        }
        self.kinds[kind].longest = self.kinds[kind].longest.max(length);
        if is_long {
            self.remember(thread, interval, feed);
        }
        if !turns {
            self.judge(thread, interval);
        }
    }

    fn summed(&mut self, thread: usize, sum: Interval) {
        // It follows the turn that it is about.
        let of_turn = |pending: &&mut Pending| {
            let held = &pending.held;
            let delay = sum.end.saturating_sub(held.span.end);
            held.thread == thread && held.sort == Sort::Turn && (0..SUM_DELAY).contains(&delay)
        };
        if let Some(pending) = self.pending.iter_mut().rev().take(4).find(of_turn)
            && sum.length() <= pending.held.span.length()
        {
            pending.held.sum.get_or_insert((sum.name, sum.length()));
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

impl Engine {
    /// Remembers a long interval, for what runs at the same time. It may have begun long before incidents that are settled.
    fn remember(&mut self, thread: usize, interval: Interval, feed: &Feed) {
        let process = feed.threads[thread].process;
        let host = |thread: usize| feed.processes[feed.threads[thread].process].host;
        for held in self.tally.ended_since(interval.begin).take(MOST_LATE) {
            let overlap = interval.overlap(held.span.begin, held.span.end);
            let is_long = overlap.saturating_mul(10) >= held.span.length();
            if held.thread != thread && host(held.thread) == host(thread) && is_long {
                held.ran_meanwhile(Meanwhile::Interval { thread, interval }, process, MEANWHILE);
            }
        }
        if self.long.len() == MOST_LONG {
            self.long.pop_front();
        }
        self.long.push_back((thread, interval));
    }
}
