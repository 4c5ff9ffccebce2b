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

macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $name:literal;)*) => {
        $($(#[$doc])* pub static $point: StallPoint = StallPoint { name: $name, microseconds: AtomicU64::new(0) };)*
        const ALL: &[&StallPoint] = &[$(&$point),*];
    };
}

points! {
    /// Before a client's request is read, which no event measures.
    READ = "read";
    FORK = "fork";
    /// In the child that writes a snapshot, which inherits the stall.
    SNAPSHOT = "snapshot";
    AOF_WRITE = "aof-write";
    /// A sync of the append-only file that replies wait for.
    AOF_FSYNC = "aof-fsync";
    /// One on the second thread.
    BACKGROUND = "background-fsync";
    /// A sync of the cluster's configuration.
    CLUSTER = "cluster-fsync";
    DEFRAG = "defrag";
    /// The deletion of an expired key.
    EXPIRE = "expire";
    /// The deletion of a key to make room.
    EVICT = "evict";
    /// On the thread that frees large values.
    LAZY_FREE = "lazy-free";
    /// While the sampler holds the lock.
    SAMPLER = "sampler";
}

impl StallPoint {
    /// The point of this name; an error lists the names.
    pub fn named(name: &str) -> Result<&'static StallPoint, String> {
        let names = || ALL.iter().map(|point| point.name).collect::<Vec<_>>().join(", ");
        let point = ALL.iter().find(|point| point.name == name);
        point.copied().ok_or_else(|| format!("ERR stalls are: {}", names()))
    }

    /// Stalls if asked to. To be called at the point.
    #[inline]
    pub fn reached(&self) {
        if self.microseconds.load(Relaxed) > 0 {
            thread::sleep(Duration::from_micros(self.microseconds.swap(0, Relaxed)));
        }
    }
}
