//! Stalls on request: where a slow disk or a busy machine would make work slow, it can be made slow once.
//!
//! Tests ask for stalls by DEBUG STALL, to see that what is recorded tells one cause from another.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// A point in the code that can stall, and how much longer it takes the next time.
pub struct StallPoint {
    name: &'static str,
    /// 0 once it has been reached.
    pub microseconds: AtomicU64,
}

/// Before a client's request is read, which no event measures.
pub static READ: StallPoint = StallPoint::new("read");
/// Within fork.
pub static FORK: StallPoint = StallPoint::new("fork");
/// In the child that writes a snapshot, which inherits the stall.
pub static SNAPSHOT: StallPoint = StallPoint::new("snapshot");
/// Within a write to the append-only file.
pub static AOF_WRITE: StallPoint = StallPoint::new("aof-write");
/// Within a sync of the append-only file that replies wait for.
pub static AOF_FSYNC: StallPoint = StallPoint::new("aof-fsync");
/// Within a sync of the append-only file on the second thread.
pub static BACKGROUND: StallPoint = StallPoint::new("background-fsync");
/// Within a sync of the cluster's configuration.
pub static CLUSTER: StallPoint = StallPoint::new("cluster-fsync");
/// Within a cycle of compaction.
pub static DEFRAG: StallPoint = StallPoint::new("defrag");
/// On the thread that frees large values.
pub static LAZY_FREE: StallPoint = StallPoint::new("lazy-free");
/// While the sampler holds the lock.
pub static SAMPLER: StallPoint = StallPoint::new("sampler");

const ALL: [&StallPoint; 10] =
    [&READ, &FORK, &SNAPSHOT, &AOF_WRITE, &AOF_FSYNC, &BACKGROUND, &CLUSTER, &DEFRAG, &LAZY_FREE, &SAMPLER];

impl StallPoint {
    const fn new(name: &'static str) -> Self {
        Self { name, microseconds: AtomicU64::new(0) }
    }

    /// The point of this name; an error lists the names.
    pub fn named(name: &[u8]) -> Result<&'static StallPoint, String> {
        let point = ALL.into_iter().find(|point| point.name.as_bytes().eq_ignore_ascii_case(name));
        point.ok_or_else(|| format!("ERR stalls are: {}", ALL.map(|point| point.name).join(", ")))
    }

    /// Stalls if asked to. To be called at the point.
    #[inline]
    pub fn reached(&self) {
        if self.microseconds.load(Relaxed) > 0 {
            thread::sleep(Duration::from_micros(self.microseconds.swap(0, Relaxed)));
        }
    }
}
