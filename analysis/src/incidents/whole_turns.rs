//! Turns of an event loop that come as a whole, as nearly all do: with all that ended within them, and nothing else in between.
//!
//! Few of them took long. So what ended within them is not nested unless they did, and what concerns all of it is done once.

use super::engine::Engine;
use super::lengths::Nature;
use crate::intervals::{Interval, Scene};

impl Engine {
    /// Handles a run of intervals if it is a whole turn; otherwise it does nothing, and returns false.
    #[inline(always)]
    pub fn whole_turn(&mut self, thread: usize, run: &[Interval], scene: &Scene) -> bool {
        let Some((turn, inner)) = run.split_last() else { return false };
        if !scene.kinds.of(turn.name).is_outermost || !self.is_whole(thread, turn, inner, scene) {
            return false;
        }
        let process = self.threads[thread].process;
        let of_process = self.process(process);
        let tells_clients = of_process.tells_clients;
        of_process.activity.events(run.iter().map(|interval| interval.end));
        for interval in run {
            self.lengths.take(interval, Nature::InLoop, &scene.kinds);
            if interval.length() >= self.lengths.long {
                self.remember(thread, *interval, scene);
            }
        }
        let state = &mut self.threads[thread];
        for interval in inner {
            state.has_long |= interval.length() >= self.threshold;
            if is_request(interval, tells_clients, scene) {
                state.served.push((interval.end, interval.client));
            }
        }
        self.turn(thread, *turn, inner, scene);
        true
    }

    /// Whether a turn is all that has ended since the last one, nothing else is due before its end, and no request is part of
    /// another.
    #[inline(always)]
    fn is_whole(&self, thread: usize, turn: &Interval, inner: &[Interval], scene: &Scene) -> bool {
        let Some(state) = self.threads.get(thread).filter(|state| state.sleeps.is_some()) else {
            return false;
        };
        let is_all = state.nesting.len() == 0 && state.served.is_empty();
        if !is_all || self.pending.is_due(turn.end) || self.memory.is_due(turn.end) {
            return false;
        }
        let tells_clients = self.processes[state.process].tells_clients;
        let mut reached = i64::MIN;
        // Those within a request ended after it had begun.
        (0..inner.len()).all(|place| {
            let interval = &inner[place];
            let overlaps = interval.begin <= std::mem::replace(&mut reached, interval.end);
            !overlaps
                || !is_request(interval, tells_clients, scene)
                || !contains_any(interval, &inner[..place])
        })
    }
}

/// Whether an interval is a request of a process that tells its clients or not.
#[inline(always)]
fn is_request(interval: &Interval, tells_clients: bool, scene: &Scene) -> bool {
    interval.client.is_some() || (!tells_clients && scene.kinds.of(interval.name).is_request)
}

/// Whether any of the intervals that ended before one may lie within it.
fn contains_any(interval: &Interval, before: &[Interval]) -> bool {
    before.iter().rev().take_while(|inner| inner.end >= interval.begin).any(|inner| inner.is_within(interval))
}
