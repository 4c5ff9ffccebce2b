//! Stalls on request: where a slow disk or a busy machine would make work slow, it can be made slow once.
//!
//! Tests ask for stalls by DEBUG STALL, to see that what is recorded tells one cause from another.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// A point in the code that can stall.
#[derive(Clone, Copy)]
pub enum StallPoint {
    /// Before a client's request is read, which no event measures.
    Read,
    /// Within fork.
    Fork,
    /// In the child that writes a snapshot, which inherits the stall.
    Snapshot,
    /// Within a write to the append-only file.
    AppendOnlyWrite,
    /// Within a sync of the append-only file that replies wait for.
    AppendOnlySync,
    /// Within a sync of the append-only file on the second thread.
    BackgroundSync,
    /// Within a sync of the cluster's configuration.
    ClusterSync,
    /// Within a cycle of compaction.
    Defrag,
    /// While the sampler holds the lock.
    Sampler,
}

/// The points by their names.
const POINTS: [(&str, StallPoint); 9] = [
    ("read", StallPoint::Read),
    ("fork", StallPoint::Fork),
    ("snapshot", StallPoint::Snapshot),
    ("aof-write", StallPoint::AppendOnlyWrite),
    ("aof-fsync", StallPoint::AppendOnlySync),
    ("background-fsync", StallPoint::BackgroundSync),
    ("cluster-fsync", StallPoint::ClusterSync),
    ("defrag", StallPoint::Defrag),
    ("sampler", StallPoint::Sampler),
];

/// How much longer each point takes the next time, in microseconds.
static PENDING: [AtomicU64; POINTS.len()] = [const { AtomicU64::new(0) }; POINTS.len()];

impl StallPoint {
    /// The point of this name.
    pub fn named(name: &[u8]) -> Option<StallPoint> {
        POINTS.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name)).map(|&(_, point)| point)
    }

    /// All names, for an error message.
    pub fn names() -> String {
        POINTS.map(|(name, _)| name).join(", ")
    }

    /// Makes this point take longer the next time.
    pub fn stall_once(self, microseconds: u64) {
        PENDING[self as usize].store(microseconds, Relaxed);
    }

    /// How much longer this point takes the next time, in microseconds: 0 once it has been reached.
    pub fn pending(self) -> u64 {
        PENDING[self as usize].load(Relaxed)
    }

    /// Stalls if asked to. To be called at the point.
    #[inline]
    pub fn reached(self) {
        if self.pending() > 0 {
            thread::sleep(Duration::from_micros(PENDING[self as usize].swap(0, Relaxed)));
        }
    }
}
