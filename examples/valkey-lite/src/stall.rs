//! Stalls on request: where work is done that a slow disk or a full machine draws out, it can be made to take long once.
//!
//! Tests ask for them by DEBUG STALL, to see that what is recorded tells one cause from another.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// A place that can stall.
#[derive(Clone, Copy)]
pub enum Place {
    /// Before a client's request is read, which no event measures.
    Read,
    /// Within fork.
    Fork,
    /// Within a write to the append-only file.
    AppendOnlyWrite,
    /// Within a sync of the append-only file that replies wait for.
    AppendOnlySync,
    /// Within a sync of the cluster's configuration.
    ClusterSync,
    /// Within a cycle of compaction.
    Defrag,
    /// While the sampler holds the lock.
    Sampler,
}

/// The places by their names.
const PLACES: [(&str, Place); 7] = [
    ("read", Place::Read),
    ("fork", Place::Fork),
    ("aof-write", Place::AppendOnlyWrite),
    ("aof-fsync", Place::AppendOnlySync),
    ("cluster-fsync", Place::ClusterSync),
    ("defrag", Place::Defrag),
    ("sampler", Place::Sampler),
];

/// How long each place will take the next time, in microseconds.
static PENDING: [AtomicU64; PLACES.len()] = [const { AtomicU64::new(0) }; PLACES.len()];

impl Place {
    /// The place of this name.
    pub fn named(name: &[u8]) -> Option<Place> {
        PLACES.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name)).map(|&(_, place)| place)
    }

    /// All names, for whoever gave another.
    pub fn names() -> String {
        PLACES.map(|(name, _)| name).join(", ")
    }

    /// Has this place take longer the next time.
    pub fn stall_once(self, microseconds: u64) {
        PENDING[self as usize].store(microseconds, Relaxed);
    }

    /// How long this place will take the next time, in microseconds: 0 once it has been reached.
    pub fn pending(self) -> u64 {
        PENDING[self as usize].load(Relaxed)
    }

    /// Takes as long as was asked for. To be called at the place.
    #[inline]
    pub fn reached(self) {
        if self.pending() > 0 {
            thread::sleep(Duration::from_micros(PENDING[self as usize].swap(0, Relaxed)));
        }
    }
}
