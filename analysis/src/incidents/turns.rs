//! Turns of an event loop: those that took long, and the times between them in which it was kept from serving anybody.

use super::distinct::Distinct;
use super::engine::Engine;
use super::finding::{Evidence, IncidentKind};
use super::held_back::{HeldGroup, is_late};
use super::sleeps::{POLL, SLEPT, Silent, Sleeps};
use super::stall::Stall;
use super::waits::Service;
use crate::finding::Span;
use crate::intervals::{BriefInterval, Interval, Scene};

/// An interval that begins within an earlier turn by more than this is due to a clock step, not to inexact durations;
/// nanoseconds.
const STEP: i64 = 1_000_000;

/// A loop that slept for less was not kept from anything that is worth telling, nor one that was kept for less; nanoseconds.
const LEAST: i64 = 1_000_000;

/// The number of clients that must be late at once, if nothing else shows that a loop was kept from serving them.
const FEWEST_LATE: usize = 2;

/// A loop that went to sleep more often than this while tracing was stopped went on turning.
const MOST_SLEEPS: u64 = 4;

/// The most requests of a turn that are kept apart.
const MOST_SERVED: usize = 1 << 16;

impl Engine {
    /// Records a request that a thread has served. If it is larger than others, these may be parts of it.
    #[inline(always)]
    pub fn request(&mut self, thread: usize, request: &Interval, is_larger: bool, holds_back: bool) {
        let state = &mut self.threads[thread];
        let (process, client, known) = (state.process, request.client, state.served.len());
        if is_larger {
            // The calls of a transaction are parts of one answer.
            let is_part = |&mut (end, of): &mut (i64, Option<u32>)| of == client && end >= request.begin;
            while state.served.pop_if(is_part).is_some() {}
        }
        let parts = (known - state.served.len()) as u64;
        state.served.push((request.end, client));
        if holds_back {
            state.pause = Some(*request);
        }
        if let Some(client) = client.filter(|_| state.sleeps.is_none()) {
            self.served_alone(thread, process, client, request.span(), parts);
        } else if state.served.len() > MOST_SERVED {
            state.served_before += state.served.len() as u64;
            state.served.dedup_by_key(|(_, client)| *client);
            state.served.truncate(MOST_SERVED / 2);
            state.served_before -= state.served.len() as u64;
        }
    }

    /// Handles a turn: it may have taken long, or the loop may have been kept from it. What ended within it has been nested.
    #[inline(never)]
    pub fn turn(&mut self, thread: usize, turn: Interval, scene: &Scene) {
        let mut clients = Distinct::new(std::mem::take(&mut self.distinct));
        let state = self.thread(thread, scene);
        if state.sleeps.is_none() {
            return self.first_turn(thread, turn, scene);
        }
        let requests = std::mem::take(&mut state.served_before) + state.served.len() as u64;
        state.served.drain(..).filter_map(|(_, client)| client).for_each(|client| clients.add(client));
        self.turn_for(thread, turn, &[], (clients.all(), requests), scene);
    }

    /// Handles a turn that served some clients, with a number of requests. What ended within it has been nested, or it is these
    /// intervals.
    #[inline(never)]
    pub fn turn_for(
        &mut self,
        thread: usize,
        turn: Interval,
        inner: &[BriefInterval],
        (clients, answered): (Vec<u32>, u64),
        scene: &Scene,
    ) {
        let is_idle = answered == 0;
        let state = &mut self.threads[thread];
        let (span, process) = (turn.span(), state.process);
        let sleeps = state.sleeps.get_or_insert_default();
        let before = sleeps.last_end();
        if state.is_untraced {
            sleeps.forget();
        }
        let late = sleeps.turn(turn.begin, turn.end, is_idle);
        let pause = state.pause.take();
        let last = || state.nesting.last().map_or(turn.begin, |tree| tree.root().interval.end);
        let written = inner.last().map_or_else(last, |last| last.end).max(turn.begin).min(turn.end);
        let polled = std::mem::replace(&mut state.last_clients, clients.len()) + clients.len();
        let slept = before.map_or(i64::MAX, |before| turn.begin.saturating_sub(before));
        let slept = Some(slept).filter(|slept| *slept >= SLEPT + POLL * polled as i64);
        // A loop that slept is woken up by a request; else it looked for one when its last turn began.
        let looked = if slept.is_some() && before.is_some() { turn.begin } else { state.looked };
        let is_long = turn.length() >= self.threshold;
        if is_long || state.has_long || slept.is_some_and(|slept| slept >= LEAST) {
            let inner = inner.iter().map(BriefInterval::interval);
            state.nesting.end_all(inner, |outer, of| scene.may_contain(thread, outer, of));
        }
        if let Some(slept) = slept {
            self.after_sleep(thread, turn, before, slept, late, scene);
        }
        let service = Service { clients: &clients, turn: span, written };
        if !clients.is_empty() {
            self.served(thread, service, scene);
        } else if !is_idle {
            self.served_untold(thread, service);
        }
        let state = &mut self.threads[thread];
        if is_long {
            state.nesting.end(turn, |outer, inner| scene.may_contain(thread, outer, inner));
        }
        if is_long || state.has_long {
            self.settle(thread, before.unwrap_or(i64::MIN), service, answered);
        } else if turn.length() >= LEAST {
            self.process(process).services.stalled(span);
        }
        let of_process = self.process(process);
        of_process.tells_clients |= !clients.is_empty();
        if let Some(turned) = &mut of_process.turned {
            turned.end_ns = turn.end;
        }
        clients.iter().for_each(|client| of_process.clients.answered(*client, span, looked));
        of_process.services.answered(span, answered);
        let state = &mut self.threads[thread];
        state.looked = turn.begin;
        state.nesting.clear();
        state.is_untraced = false;
        state.held_back.turn(span, is_idle);
        if let Some(pause) = pause {
            state.held_back.pause(pause, turn.end, &self.processes[process].clients);
        }
        self.distinct = clients;
    }

    /// Handles the time before a turn.
    #[inline(never)]
    fn after_sleep(
        &mut self,
        thread: usize,
        turn: Interval,
        before: Option<i64>,
        slept: i64,
        late: Option<Span>,
        scene: &Scene,
    ) {
        // After a long silence a busy machine takes longer to let the thread run on.
        let silent = self.threads[thread].silent.map_or(0, |silent| silent.span.length_ns());
        if slept < silent / 100 {
            return;
        }
        self.pending.slept(thread, slept, self.threads[thread].last_clients);
        if let Some(silent) = self.threads[thread].silent.take() {
            let nobody = Service { clients: &[], turn: silent.turn.span(), written: silent.turn.end };
            self.silence(thread, silent, nobody, false, scene);
        }
        let Some(before) = before.filter(|_| slept >= LEAST) else { return };
        let state = &mut self.threads[thread];
        // The loop woke up at its first activity, even if that was before the turn: it may have waited for a lock.
        let begins = state.nesting.trees().map(|tree| tree.root().interval.begin);
        let woke_up = begins.filter(|begin| *begin >= before).min().unwrap_or(turn.begin).min(turn.begin);
        let span = Span { begin_ns: before, end_ns: woke_up };
        state.silent = Some(Silent { span, late, turn, is_untraced: state.is_untraced, first: None });
    }

    /// Handles the clients that a turn served: they may have been kept waiting for it.
    fn served(&mut self, thread: usize, service: Service<'_>, scene: &Scene) {
        let state = &mut self.threads[thread];
        let process = &self.processes[state.process];
        self.pending.served(thread, &process.clients, service, true);
        let group = state.held_back.judge(&process.clients, service.clients, service.turn);
        let is_explained = group.is_some();
        let is_after_silence = state.silent.is_some();
        if let Some(group) = group {
            self.held_back(thread, group, service);
        }
        if is_after_silence {
            self.served_after_silence(thread, service, is_explained, scene);
        }
    }

    /// Handles the clients that the first turn after a silence served.
    #[inline(never)]
    fn served_after_silence(
        &mut self,
        thread: usize,
        service: Service<'_>,
        is_explained: bool,
        scene: &Scene,
    ) {
        let Some(silent) = self.threads[thread].silent.take() else { return };
        let is_told = self.silence(thread, silent, service, is_explained, scene);
        if let (false, [only], None) = (is_told, service.clients, silent.first) {
            let state = &mut self.threads[thread];
            let due = self.processes[state.process].clients.due(*only);
            let first = due.filter(|due| is_late(due, silent.span.end_ns)).and_then(|due| due.usually);
            state.silent = first.map(|_| Silent { first, ..silent });
        }
    }

    /// Handles the requests that a turn of a server served which does not tell its clients: a command may have held them back.
    fn served_untold(&mut self, thread: usize, service: Service<'_>) {
        let state = &mut self.threads[thread];
        let services = &self.processes[state.process].services;
        let group = state.held_back.judge_untold(service.turn, |span| services.not_served(span, 0));
        if let Some(group) = group {
            self.held_back(thread, group, service);
        }
    }

    /// Judges a time between two turns by what the scheduler did, by the loop's timer, and by the clients that are served after
    /// it: the turn that serves them is the first since, and the loop did not sleep before it. Returns whether it is a stall.
    #[inline(never)]
    fn silence(
        &mut self,
        thread: usize,
        silent: Silent,
        service: Service<'_>,
        is_explained: bool,
        scene: &Scene,
    ) -> bool {
        let span = silent.span;
        if span.length_ns() < LEAST {
            return false;
        }
        let account = scene.account(thread, &[span]).unwrap_or_default();
        let (kept, asleep) = (account.kept(), account.asleep.least);
        let clients = &self.processes[self.threads[thread].process].clients;
        let due = service.clients.iter().filter_map(|client| clients.due(*client));
        let late = due.filter(|due| is_late(due, span.end_ns)).filter_map(|due| due.usually);
        let late: Vec<i64> = silent.first.into_iter().chain(late).collect();
        let asked = late.iter().copied().min().unwrap_or(span.end_ns).max(span.begin_ns);
        // A loop that was seen asleep was not kept from running: nobody asked.
        let is_awake_since = |begin: i64| asleep < (span.end_ns - begin) / 2;
        // It was kept from running just before it ran on, or nobody waited for that.
        // Where events are missing it may have run as well, and waited for its CPU now and then.
        let hardly_ran = account.on_cpu.least.saturating_mul(20) <= kept.least
            && account.voluntary_switches <= MOST_SLEEPS;
        let is_kept = kept.least >= LEAST && (!silent.is_untraced || hardly_ran);
        // A loop that was seen stopped was, if only for a moment.
        let stopped_at = account.stopped_at.filter(|_| !silent.is_untraced);
        let is_kept = is_kept || stopped_at.is_some();
        let since = (span.end_ns - kept.middle()).min(stopped_at.unwrap_or(span.end_ns));
        let kept_since = Some(since).filter(|begin| {
            let then = || scene.account(thread, &[Span { begin_ns: *begin, ..span }]);
            is_kept && then().is_none_or(|then| then.asleep.least < (span.end_ns - begin) / 2)
        });
        let (evidence, begin) = if let Some(begin) = kept_since {
            (Evidence::Scheduler, begin)
        } else if is_explained || silent.is_untraced {
            return false;
        } else if let Some(overdue) = silent.late.filter(|overdue| is_awake_since(overdue.begin_ns)) {
            (Evidence::Timer, overdue.begin_ns.min(asked))
        } else if late.len() >= FEWEST_LATE && late.len() * 2 > service.clients.len() && is_awake_since(asked)
        {
            (Evidence::Clients, asked)
        } else {
            return false;
        };
        let span = Span { begin_ns: begin.max(span.begin_ns), ..span };
        let is_selected = scene.silence_passes(&silent.turn, span.length_ns());
        // What made it ready to run was a request, unless it was stopped or lost its CPU before it slept.
        let kept_since = kept_since.filter(|_| asleep > 0).map(|_| span.end_ns - account.queued.least);
        let stall =
            Stall { is_selected, evidence: Some(evidence), kept_since, ..Stall::silence(thread, span) };
        // It may have been woken up by one of several clients that wait.
        let is_open = service.turn.length_ns() < span.length_ns() / 10;
        self.add(stall, 0, Some(service), is_open);
        true
    }

    /// Adds clients that were not served although the loop turned.
    #[inline(never)]
    fn held_back(&mut self, thread: usize, group: HeldGroup, service: Service<'_>) {
        let HeldGroup { span, clients, by } = group;
        let answered = self.processes[self.threads[thread].process].services.count(span);
        let stall = Stall { kind: IncidentKind::Starved, ..Stall::silence(thread, span) };
        let stall = match by {
            Some(by) => stall.held_by_command(&by),
            None => Stall { evidence: Some(Evidence::Clients), ..stall },
        };
        self.add(stall, answered, Some(Service { clients: &clients, ..service }), false);
    }

    /// Handles the first turn of a thread. What came before it was judged as if the thread had no event loop.
    fn first_turn(&mut self, thread: usize, turn: Interval, scene: &Scene) {
        let threshold = self.threshold;
        let process = self.threads[thread].process;
        let of_process = self.process(process);
        of_process.has_loop = true;
        of_process.turned.get_or_insert(turn.span());
        let state = &mut self.threads[thread];
        self.memory.release(&state.nesting);
        state.sleeps.get_or_insert_default().turn(turn.begin, turn.end, false);
        state.has_long = false;
        state.nesting.end(turn, |outer, inner| scene.may_contain(thread, outer, inner));
        if let Some(tree) = state.nesting.last().filter(|_| turn.length() >= threshold) {
            let stall = Stall::new(thread, IncidentKind::Turn, tree);
            self.join(stall, |other| other.thread == thread && other.span.end_ns > turn.begin);
        }
        let state = &mut self.threads[thread];
        state.nesting.clear();
        state.served.clear();
    }

    /// Makes incidents of the long top-level intervals of a thread, whose last turn served some clients. Those that began before
    /// `since`, within an earlier turn, went on beside the loop, or are due to a clock step.
    pub fn settle(&mut self, thread: usize, since: i64, service: Service<'_>, answered: u64) {
        let threshold = self.threshold;
        let state = &mut self.threads[thread];
        state.has_long = false;
        let end = state.sleeps.as_ref().and_then(Sleeps::last_end);
        let mut found = Vec::new();
        for tree in state.nesting.trees().filter(|tree| tree.root().interval.length() >= threshold) {
            let root = tree.root();
            let is_turn = end == Some(root.interval.end);
            if !is_turn && root.interval.begin < since.saturating_sub(STEP) {
                self.stepped += 1;
                continue;
            }
            let kind = if is_turn { IncidentKind::Turn } else { IncidentKind::Interval };
            let mut stall = Stall::new(thread, kind, tree);
            stall.is_incomplete = state.nesting.is_incomplete_since(stall.span.begin_ns);
            found.push(stall);
        }
        for stall in found.into_iter().rev() {
            let is_turn = stall.kind == IncidentKind::Turn;
            let turn = match is_turn {
                true => stall.span,
                false => Span { begin_ns: stall.span.end_ns, end_ns: end.unwrap_or(stall.span.end_ns) },
            };
            let is_open = is_turn || service.clients.is_empty();
            let written = service.written.max(turn.begin_ns).min(turn.end_ns);
            let service = Service { turn, written, ..service };
            self.add(stall, if is_turn { answered } else { 0 }, Some(service), is_open);
        }
    }
}
