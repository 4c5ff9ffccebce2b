//! Stalls that have ended, until it is known who waited for that.

use std::collections::VecDeque;

use super::clients::Waiting;
use super::finding::IncidentKind;
use super::stall::Stall;
use crate::analysis::finding::Span;
use crate::analysis::reading::grown::grown;

/// The most stalls that may be pending.
const MOST: usize = 4096;

/// A sum belongs to the turn that ended at most this long before it, in nanoseconds.
const SUM_DELAY: i64 = 1_000_000;

/// A stall that has ended, until it is known who waited for that.
pub struct Pending {
    pub stall: Stall,
    pub waiting: Waiting,
    pub process: usize,
    /// Up to when clients may come back.
    pub until: i64,
    /// Whether it counts only if a client waited.
    pub needs_waiters: bool,
    /// Pauses before it that may turn out not to be incidents, and what was not served then.
    pub pauses: Vec<Span>,
    pub if_not_paused: u64,
}

/// The stalls that are pending, in the order in which they became so.
#[derive(Default)]
pub struct PendingStalls {
    queue: VecDeque<Pending>,
    /// Their number for each process.
    of_process: Vec<usize>,
}

impl PendingStalls {
    /// Adds a stall.
    pub fn push(&mut self, pending: Pending) {
        *grown(&mut self.of_process, pending.process) += 1;
        self.queue.push_back(pending);
    }

    /// Removes the first stall.
    pub fn pop(&mut self) -> Option<Pending> {
        let first = self.queue.pop_front()?;
        self.of_process[first.process] -= 1;
        Some(first)
    }

    /// Removes the first stall if its time is over, or if there are too many.
    pub fn pop_due(&mut self, now: i64) -> Option<Pending> {
        let is_due = self.queue.len() > MOST || self.queue.front().is_some_and(|first| first.until < now);
        if is_due { self.pop() } else { None }
    }

    /// Removes all stalls that are the same, and returns the first with the others joined to it.
    pub fn take_joined(&mut self, is_same: impl Fn(&Stall) -> bool) -> Option<Pending> {
        let mut first: Option<Pending> = None;
        while let Some(place) = self.queue.iter().position(|pending| is_same(&pending.stall)) {
            let Some(same) = self.queue.remove(place) else { break };
            self.of_process[same.process] -= 1;
            match &mut first {
                Some(first) => first.stall.join(same.stall),
                None => first = Some(same),
            }
        }
        first
    }

    /// Records that a process served a client.
    pub fn served(&mut self, process: usize, end: i64, client: u32) {
        if self.of_process.get(process).is_some_and(|&count| count > 0) {
            let waiting = self.queue.iter_mut().filter(|pending| pending.process == process);
            waiting.for_each(|pending| pending.waiting.served(end, client));
        }
    }

    /// The turn of a thread that an event at a time sums up: the one that ended just before.
    pub fn turn_before(&mut self, thread: usize, time: i64) -> Option<&mut Stall> {
        let of_turn = |stall: &&mut Stall| {
            let delay = time.saturating_sub(stall.span.end_ns);
            stall.thread == thread && stall.kind == IncidentKind::Turn && (0..SUM_DELAY).contains(&delay)
        };
        self.queue.iter_mut().rev().take(4).map(|pending| &mut pending.stall).find(of_turn)
    }
}
