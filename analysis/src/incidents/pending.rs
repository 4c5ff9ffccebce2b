//! Stalls that have ended, until it is known who waited for that and what was answered after it.

use std::collections::VecDeque;

use super::clients::Clients;
use super::finding::IncidentKind;
use super::stall::Stall;
use super::waits::{Service, Waits};

/// The most stalls that may be pending.
const MOST: usize = 4096;

/// A sum belongs to the turn that ended at most this long before it, in nanoseconds.
const SUM_DELAY: i64 = 1_000_000;

/// A loop that slept is woken up by one client, and hardly ever finds this number of them.
const SEVERAL: usize = 8;

/// It never finds this number of them, unless they ask at one moment.
const MANY: usize = 64;

/// A stall that has ended.
pub struct Pending {
    pub stall: Stall,
    pub process: usize,
    /// Up to when answers tell what was not served.
    pub until: i64,
    /// The number of requests that were answered in it.
    pub answered: u64,
    /// Whether clients that the next turn serves have waited for its end.
    pub is_open: bool,
    /// Who waited, and the number of clients that were active.
    pub waits: Waits,
    pub active: u64,
}

/// The stalls that are pending, in the order in which they became so.
#[derive(Default)]
pub struct PendingStalls {
    queue: VecDeque<Pending>,
    /// The number of those that are open.
    open: usize,
    /// When the last turn ended that was among them.
    last_turn: i64,
}

impl PendingStalls {
    /// Adds a stall.
    pub fn push(&mut self, pending: Pending) {
        self.open += usize::from(pending.is_open);
        if pending.stall.kind == IncidentKind::Turn {
            self.last_turn = self.last_turn.max(pending.stall.span.end_ns);
        }
        self.queue.push_back(pending);
    }

    /// Removes the first stall.
    pub fn pop(&mut self) -> Option<Pending> {
        let first = self.queue.pop_front()?;
        self.open -= usize::from(first.is_open);
        Some(first)
    }

    /// Whether the time of the first stall is over, or there are too many.
    #[inline]
    pub fn is_due(&self, now: i64) -> bool {
        self.queue.front().is_some_and(|first| first.until < now) || self.queue.len() > MOST
    }

    /// Whether any stall is due that is of another thread than this one.
    #[inline]
    pub fn is_due_of_others(&self, thread: usize, now: i64) -> bool {
        let is_of_others = |pending: &Pending| pending.stall.thread != thread;
        self.is_due(now)
            && (self.queue.len() > MOST
                || self.queue.iter().take_while(|pending| pending.until < now).any(is_of_others))
    }

    /// Removes the first stall if it is due.
    pub fn pop_due(&mut self, now: i64) -> Option<Pending> {
        if self.is_due(now) { self.pop() } else { None }
    }

    /// Removes all stalls that are the same, and returns the first with the others joined to it.
    pub fn take_joined(&mut self, is_same: impl Fn(&Stall) -> bool) -> Option<Pending> {
        let mut first: Option<Pending> = None;
        while let Some(place) = self.queue.iter().position(|pending| is_same(&pending.stall)) {
            let Some(same) = self.queue.remove(place) else { break };
            self.open -= usize::from(same.is_open);
            match &mut first {
                Some(first) => first.stall.join(same.stall),
                None => first = Some(same),
            }
        }
        first
    }

    /// A thread has slept for this long, in nanoseconds, before it served some clients: these were not ready before. After a long
    /// stall a small part of it is not a sleep, and the larger a one, the more it serves: a busy machine takes that long to let the
    /// thread run on.
    #[inline]
    pub fn slept(&mut self, thread: usize, time: i64, clients: usize) {
        let part = match clients {
            MANY.. => 4,
            SEVERAL.. => 20,
            _ => 100,
        };
        self.for_open(thread, |pending| time < pending.stall.span.length_ns() / part);
    }

    /// A turn of a thread served clients, without a sleep since the stalls that are open ended. After an event loop's turn all
    /// clients that were ready are served; other threads serve one after the other until they sleep.
    #[inline]
    pub fn served(&mut self, thread: usize, clients: &Clients, service: Service<'_>, is_loop: bool) {
        self.for_open(thread, |pending| {
            pending.waits.serve(&pending.stall, clients, service);
            let span = pending.stall.span;
            !is_loop && service.turn.end_ns.saturating_sub(span.end_ns) < span.length_ns()
        });
    }

    /// Does something with the open stalls of a thread; those for which it returns `false` are closed.
    #[inline]
    fn for_open(&mut self, thread: usize, mut stays_open: impl FnMut(&mut Pending) -> bool) {
        if self.open == 0 {
            return;
        }
        // They are among the last ones.
        for pending in self.queue.iter_mut().rev().filter(|pending| pending.is_open).take(self.open) {
            if pending.stall.thread == thread && !stays_open(pending) {
                pending.is_open = false;
                self.open -= 1;
            }
        }
    }

    /// The turn of a thread that an event at a time sums up: the one that ended just before.
    #[inline]
    pub fn turn_before(&mut self, thread: usize, time: i64) -> Option<&mut Stall> {
        // Nearly always it did not take long, and there are others from before.
        if time.saturating_sub(self.last_turn) < SUM_DELAY { self.find_turn(thread, time) } else { None }
    }

    fn find_turn(&mut self, thread: usize, time: i64) -> Option<&mut Stall> {
        let of_turn = |stall: &&mut Stall| {
            let delay = time.saturating_sub(stall.span.end_ns);
            stall.thread == thread && stall.kind == IncidentKind::Turn && (0..SUM_DELAY).contains(&delay)
        };
        self.queue.iter_mut().rev().take(4).map(|pending| &mut pending.stall).find(of_turn)
    }
}
