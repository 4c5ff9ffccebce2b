//! Making room when more memory is used than allowed.

use std::thread;
use std::time::{Duration, Instant};

use lttng_provider::traced;
use valkey_trace::valkey_db;

use crate::config::{Config, EvictionPolicy};
use crate::database::Database;
use crate::system::used_memory;

/// Keys of which the least recently used is evicted.
const SAMPLES: usize = 5;

/// The longest that one request waits for room; the rest is left to the next. As in Valkey, a tenacity of 10 is half a
/// millisecond, and 100 means no limit.
fn time_limit(config: &Config) -> Duration {
    match config.maxmemory_eviction_tenacity {
        tenacity @ 0..100 => Duration::from_micros(50 * tenacity),
        _ => Duration::MAX,
    }
}

/// Whether no more memory is used than allowed.
pub fn is_within_limit(config: &Config) -> bool {
    config.maxmemory == 0 || used_memory() <= config.maxmemory
}

/// Evicts keys until the memory used is within the limit. Returns whether a command may take more.
#[cold]
pub fn make_room(database: &mut Database, config: &Config) -> bool {
    config.maxmemory_policy != EvictionPolicy::NoEviction && evict_until_within_limit(database, config)
}

/// One pass. Running out of time is fine, running out of keys is not.
#[traced(valkey_db::eviction_cycle)]
fn evict_until_within_limit(database: &mut Database, config: &Config) -> bool {
    let (started, limit) = (Instant::now(), time_limit(config));
    while !is_within_limit(config) {
        let Some(key) = database.least_recently_used(SAMPLES) else {
            return wait_for_lazy_free(database, config, started);
        };
        database.evict(&key);
        if started.elapsed() > limit {
            break;
        }
    }
    true
}

/// Nothing is left to evict, but the second thread may be about to free enough.
#[traced(valkey_db::eviction_lazyfree)]
fn wait_for_lazy_free(database: &Database, config: &Config, started: Instant) -> bool {
    while database.lazy_free.pending() > 0 && started.elapsed() < time_limit(config) {
        if is_within_limit(config) {
            return true;
        }
        thread::sleep(Duration::from_micros(100));
    }
    is_within_limit(config)
}
