//! From the thread that resolves events to the one that follows what happened. Whichever would wait for the other reads ahead.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};

use ctf_reader::{DigestedRun, Helper, InOrder};

use super::happening::Happenings;
use super::resolver::Resolver;

/// How many happenings are handed over at once, and how often before the first must be followed.
const BATCH: usize = 1 << 11;
const BATCHES: usize = 16;

/// So many events are resolved before it is asked whether that is enough.
const PART: usize = 64;

/// Where what happened is handed over.
pub struct ToFollower {
    batches: SyncSender<Happenings>,
    /// What was followed comes back, so that its memory is used again.
    used: Receiver<Happenings>,
    batch: Happenings,
    /// It is the last, as it wakes the other thread up to find that nothing more comes.
    helper: Helper,
}

/// Where it is taken over.
pub struct FromResolver {
    batches: Receiver<Happenings>,
    used: SyncSender<Happenings>,
    helper: Helper,
}

/// What hands over, and takes over, what happened with events.
pub fn handover(events: &mut InOrder<'_>) -> (ToFollower, FromResolver) {
    let (to_follower, from_resolver) = sync_channel(BATCHES);
    let (to_resolver, used) = sync_channel(BATCHES + 2);
    let batch = Happenings::default();
    (
        ToFollower { batches: to_follower, used, batch, helper: events.helper() },
        FromResolver { batches: from_resolver, used: to_resolver, helper: events.helper() },
    )
}

impl ToFollower {
    /// Resolves events, and hands over what happened with them whenever that is enough at once. Nobody takes it only if the other
    /// thread panicked.
    #[inline(always)]
    pub fn resolve(&mut self, run: DigestedRun<'_>, resolver: &mut Resolver) -> ControlFlow<usize> {
        let mut taken = 0;
        while taken < run.len() {
            let part = run.part(taken, PART);
            resolver.run(part, &mut self.batch);
            taken += part.len();
            if !self.batch.has_room_before(BATCH) {
                self.send().map_break(|()| taken)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands over what is left.
    pub fn finish(mut self) {
        self.batch.end_run();
        _ = self.send();
    }

    #[inline(never)]
    fn send(&mut self) -> ControlFlow<()> {
        let mut next = self.used.try_recv().unwrap_or_default();
        self.batch.leave_run(&mut next);
        let mut batch = std::mem::replace(&mut self.batch, next);
        loop {
            batch = match self.batches.try_send(batch) {
                Ok(()) => {
                    self.helper.wake_others();
                    return ControlFlow::Continue(());
                }
                Err(TrySendError::Full(batch)) if self.helper.help() => batch,
                // The other thread is at work on those before.
                Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                    return self.batches.send(batch).map_or(ControlFlow::Break(()), ControlFlow::Continue);
                }
            }
        }
    }
}

impl FromResolver {
    /// Takes over what happened next; none at the end.
    pub fn next(&mut self) -> Option<Happenings> {
        let FromResolver { batches, helper, .. } = self;
        helper.wait_for(|| match batches.try_recv() {
            Ok(batch) => Some(Some(batch)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        })
    }

    /// Gives back what was followed.
    pub fn give_back(&self, mut batch: Happenings) {
        batch.clear();
        _ = self.used.try_send(batch);
    }
}
