//! Turns of an event loop that come as a whole, as nearly all do: with all that ended within them, and nothing else in between.
//!
//! Few of them took long. So what ended within them is not nested unless they did, and what concerns all of it is done once.

use super::distinct::Distinct;
use super::engine::{Engine, ThreadState};
use super::lengths::Nature;
use crate::intervals::{BriefInterval, Interval, Scene};

impl Engine {
    /// Handles a run of intervals if it is a whole turn; otherwise it does nothing, and returns false.
    #[inline(always)]
    pub fn whole_turn(&mut self, thread: usize, run: &[BriefInterval], scene: &Scene) -> bool {
        let Some((last, inner)) = run.split_last() else { return false };
        let turn = last.interval();
        if !scene.kinds.of(turn.name).is_outermost || !self.is_whole(thread, turn.end, inner) {
            return false;
        }
        if self.pending.is_due(turn.end) {
            self.settle_pending(turn.end, scene);
        }
        let process = self.threads[thread].process;
        let of_process = self.process(process);
        let tells_clients = of_process.tells_clients;
        of_process.activity.events(run.iter().map(|interval| interval.end));
        let bins = [run[0].end, turn.end].map(|end| self.lengths.bin(end));
        let mut has_long = false;
        for interval in inner.iter().map(BriefInterval::interval) {
            self.length_in_loop(thread, &interval, bins, scene);
            has_long |= interval.length() >= self.threshold;
        }
        self.length_in_loop(thread, &turn, bins, scene);
        self.threads[thread].has_long |= has_long;
        // By itself, as it needs other registers.
        let (mut clients, mut requests) = (Distinct::new(std::mem::take(&mut self.distinct)), 0);
        let (mut last, mut has_parts) = ((i64::MIN, BriefInterval::NOBODY), false);
        for interval in inner.iter().filter(|interval| is_request(interval, tells_clients, scene)) {
            requests += 1;
            has_parts |= may_be_part(last, interval);
            last = (interval.end, interval.client);
            if interval.client != BriefInterval::NOBODY {
                clients.add(interval.client);
            }
        }
        let mut to_nest = inner;
        if has_parts {
            requests = self.nest(thread, inner, tells_clients, scene);
            to_nest = &[];
        }
        self.turn_for(thread, turn, to_nest, (clients.all(), requests), scene);
        true
    }

    /// Records how long an interval took. If the first that ended in its turn and the last are in one bin of time, so is it.
    #[inline(always)]
    fn length_in_loop(&mut self, thread: usize, interval: &Interval, bins: [u64; 2], scene: &Scene) {
        let bin = if bins[0] == bins[1] { bins[0] } else { self.lengths.bin(interval.end) };
        self.lengths.take_in(bin, interval, Nature::InLoop, &scene.kinds);
        if interval.length() >= self.lengths.long {
            self.remember(thread, *interval, scene);
        }
    }

    /// Whether a turn is all that has ended since the last one, and what is due before its end is as well done before all of it.
    #[inline(always)]
    fn is_whole(&self, thread: usize, end: i64, inner: &[BriefInterval]) -> bool {
        let Some(state) = self.threads.get(thread).filter(|state| state.sleeps.is_some()) else {
            return false;
        };
        let is_all = state.nesting.len() == 0 && state.served.is_empty();
        // A long interval is added to other threads' stalls that were settled before it.
        let is_long = |interval: &BriefInterval| i64::from(interval.length) >= self.lengths.long;
        let is_between = || self.pending.is_due_of_others(thread, end) && inner.iter().any(is_long);
        is_all && !self.memory.is_due(end) && !is_between()
    }

    /// Nests what ended in a turn, and returns the number of requests that are no parts of others: only nesting tells that.
    #[inline(never)]
    fn nest(&mut self, thread: usize, inner: &[BriefInterval], tells_clients: bool, scene: &Scene) -> u64 {
        let ThreadState { nesting, served, .. } = &mut self.threads[thread];
        for interval in inner {
            nesting.end(interval.interval(), |outer, of| scene.may_contain(thread, outer, of));
            if is_request(interval, tells_clients, scene) {
                let is_part = |&mut (end, client): &mut (i64, Option<u32>)| {
                    may_be_part((end, client.unwrap_or(BriefInterval::NOBODY)), interval)
                };
                while nesting.last_has_children() && served.pop_if(is_part).is_some() {}
                served.push((interval.end, interval.interval().client));
            }
        }
        let requests = served.len() as u64;
        served.clear();
        requests
    }
}

/// Whether a request that was answered at a time, for a client, is part of another one, if that contains anything.
#[inline(always)]
fn may_be_part((end, client): (i64, u32), other: &BriefInterval) -> bool {
    client == other.client && end >= other.end - i64::from(other.length)
}

/// Whether an interval is a request of a process that tells its clients or not.
#[inline(always)]
fn is_request(interval: &BriefInterval, tells_clients: bool, scene: &Scene) -> bool {
    interval.client != BriefInterval::NOBODY || (!tells_clients && scene.kinds.of(interval.name).is_request)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ctf_reader::Window;

    use super::*;
    use crate::finding::Span;
    use crate::intervals::{IntervalName, KindEntry, Listener, Process, Thread, each_ended};
    use crate::reading::{EventKind, Passes};

    const TURN: u32 = 0;
    const CALL: u32 = 1;
    const FLUSH: u32 = 2;
    const THRESHOLD: i64 = 100_000;

    /// A thread with an event loop, one without, and another one with.
    fn scene() -> Scene {
        let mut scene = Scene::default();
        for (number, name) in ["turn", "call", "flush"].into_iter().enumerate() {
            let kind = EventKind {
                event: name.into(),
                keys: Vec::new(),
                unit: None,
                unit_is_guess: false,
                is_sum: false,
            };
            scene.kinds.enter(KindEntry {
                kind: Arc::new(kind),
                known_as: None,
                is_outermost: number as u32 == TURN,
                is_request: number as u32 == CALL,
                explains: Vec::new(),
            });
        }
        scene.threads.add_process(Process { host: 0, host_name: None, pid: Some(1), name: None });
        (1..4).for_each(|tid| scene.threads.add(Thread { process: 0, tid: Some(tid) }));
        scene
    }

    /// A turn after a time with what ended in it: some took long, some lie within others or cross them.
    fn turn(random: &mut fastrand::Rng, time: &mut i64, tells_clients: bool) -> Vec<Interval> {
        let begin = *time;
        let mut run: Vec<Interval> = Vec::new();
        let most = [4, 4, 40][random.usize(..3)];
        for _ in 0..random.usize(..most) {
            let usual = random.i64(0..4) * 1000;
            let length = match random.u32(..200) {
                0 => random.i64(0..3 * THRESHOLD),
                1 => THRESHOLD / 4,
                _ => usual,
            };
            *time += random.i64(0..2000) + length;
            let (mut client, like) = (None, run.get(random.usize(..=run.len())).copied());
            let from = match random.u32(..12) {
                // All since an earlier one, or a part of the last.
                0 => like.map_or(begin, |of| of.begin),
                // What was called within a script, for the same client.
                3 => {
                    client = like.and_then(|of| of.client);
                    like.map_or(begin, |of| of.begin - random.i64(0..500))
                }
                1 => *time - length - random.i64(0..1500),
                // Since before the turn, as with a clock that was set back.
                2 if random.u32(..20) == 0 => begin - random.i64(0..2 * THRESHOLD),
                _ => *time - length,
            };
            let kind = if random.bool() { CALL } else { FLUSH };
            let told = (kind == CALL && tells_clients && random.u32(..8) > 0).then(|| random.u32(..5));
            let client = told.map(|told| client.unwrap_or(told));
            run.push(interval(IntervalName { kind, key: random.u32(..3) + 1 }, from, *time, client));
        }
        *time += random.i64(0..1000);
        run.push(interval(IntervalName { kind: TURN, key: 0 }, begin, *time, None));
        *time += match random.u32(..10) {
            0 => random.i64(0..40_000_000),
            _ => random.i64(0..20_000),
        };
        run
    }

    fn interval(name: IntervalName, begin: i64, end: i64, client: Option<u32>) -> Interval {
        Interval { begin, end, name, client, passes: Passes::ALL }
    }

    fn brief(intervals: &[Interval]) -> Vec<BriefInterval> {
        intervals.iter().map(|interval| BriefInterval::new(interval).unwrap()).collect()
    }

    /// All that is known in the end.
    fn known(engine: &mut Engine, scene: &Scene, end: i64) -> String {
        engine.finish(scene);
        let all = Span { begin_ns: 0, end_ns: end };
        let process = &engine.processes[0];
        let names = (0..3).flat_map(|kind| (0..4).map(move |key| IntervalName { kind, key }));
        format!(
            "{:#?} {} {:?} {:?} {} {} {:?}",
            engine.tally.stalls().collect::<Vec<_>>(),
            engine.stepped,
            engine.lengths.kinds,
            names.map(|name| engine.lengths.costs.mean(name)).collect::<Vec<_>>(),
            process.services.count(all),
            process.activity.count(all),
            (0..5).map(|client| process.clients.due(client)).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_whole_turn_counts_as_its_intervals_one_by_one() {
        let seed = fastrand::u64(..);
        let (mut stalls, mut whole) = (0, 0);
        for round in 0..40 {
            let mut random = fastrand::Rng::with_seed(seed.wrapping_add(round));
            let (scene, tells_clients) = (scene(), random.bool());
            let mut engines = [(); 2].map(|()| Engine::new(THRESHOLD, Window::default()));
            let mut time = 1_000_000_000;
            for _ in 0..1000 {
                let turn = brief(&turn(&mut random, &mut time, tells_clients));
                let thread = if random.u32(..4) == 0 { 2 } else { 0 };
                let [one_by_one, at_once] = &mut engines;
                each_ended(one_by_one, thread, &turn, &scene);
                // Some are interrupted by something else.
                let cut = if random.u32(..20) == 0 { random.usize(..=turn.len()) } else { 0 };
                at_once.run_ended(thread, &turn[..cut], &scene);
                match at_once.whole_turn(thread, &turn[cut..], &scene) {
                    true => whole += 1,
                    false => each_ended(at_once, thread, &turn[cut..], &scene),
                }
                if random.u32(..10) == 0 {
                    let name = IntervalName { kind: FLUSH, key: 1 };
                    // Nearly always it is brief.
                    let length = if random.u32(..10) == 0 { 10 * THRESHOLD } else { random.i64(0..2000) };
                    let aside = brief(&[interval(name, time - length, time, None)]);
                    each_ended(one_by_one, 1, &aside, &scene);
                    at_once.run_ended(1, &aside, &scene);
                }
            }
            let [one_by_one, at_once] = engines.each_mut().map(|engine| known(engine, &scene, time));
            assert!(one_by_one == at_once, "seed {seed}, round {round}:\n{one_by_one}\nfor\n{at_once}");
            stalls += engines[0].tally.stalls().count();
        }
        assert!(stalls > 100 && whole > 10_000, "{stalls} stalls, {whole} turns");
    }

    #[test]
    fn only_turns_that_are_all_since_the_last_are_whole() {
        let scene = scene();
        let mut engine = Engine::new(THRESHOLD, Window::default());
        let call = |begin, end| interval(IntervalName { kind: CALL, key: 1 }, begin, end, Some(3));
        let turn = |begin, end| interval(IntervalName { kind: TURN, key: 0 }, begin, end, None);
        let run = brief(&[call(10_000, 12_000), turn(9_000, 13_000)]);
        assert!(!engine.whole_turn(0, &run, &scene), "whether it has a loop is not known yet");
        each_ended(&mut engine, 0, &run, &scene);
        assert!(!engine.whole_turn(0, &[], &scene));
        let mut is_whole = |run: &[Interval]| engine.whole_turn(0, &brief(run), &scene);
        assert!(!is_whole(&[call(20_000, 21_000)]), "not a turn");
        let within = [call(30_000, 31_000), call(29_000, 32_000), turn(28_000, 33_000)];
        assert!(is_whole(&within), "one call is part of another");
        assert!(is_whole(&[call(40_000, 42_000), turn(39_000, 43_000)]));
        each_ended(&mut engine, 0, &brief(&[call(50_000, 51_000)]), &scene);
        assert!(!engine.whole_turn(0, &brief(&[turn(49_000, 53_000)]), &scene), "more has ended in it");
    }
}
