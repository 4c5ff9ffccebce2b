//! Making room when more memory is used than allowed.

use std::thread;
use std::time::{Duration, Instant};

use lttng_provider::traced;
use valkey_trace::valkey_db;

use crate::config::{Config, EvictionPolicy};
use crate::database::Database;
use crate::system::used_memory;

/// The longest that one request waits for room; the rest is left to the next. As in Valkey, a tenacity of 10 is half a
/// millisecond, from there on it grows by 15 % a step, and 100 knows no limit.
fn time_limit(config: &Config) -> Duration {
    match config.maxmemory_eviction_tenacity {
        tenacity @ 0..=10 => Duration::from_micros(50 * tenacity),
        tenacity @ 11..100 => Duration::from_micros(500).mul_f64(1.15_f64.powi(tenacity as i32 - 10)),
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
    let only_expiring = config.maxmemory_policy == EvictionPolicy::VolatileLru;
    while !is_within_limit(config) {
        let Some(key) = database.least_recently_used(config.maxmemory_samples as usize, only_expiring) else {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_tenacity_never_means_less_time() {
        let limit =
            |tenacity| time_limit(&Config { maxmemory_eviction_tenacity: tenacity, ..Config::default() });
        assert!((0..150).all(|tenacity| limit(tenacity) <= limit(tenacity + 1)));
        assert_eq!((limit(0), limit(10)), (Duration::ZERO, Duration::from_micros(500)));
        assert!(limit(99) > Duration::from_secs(60) && limit(100) == Duration::MAX);
    }
}
