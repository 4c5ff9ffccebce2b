//! Expire cycles: deleting keys and fields that have expired although no client asks for them.

use std::time::{Duration, Instant};

use lttng_provider::traced;
use valkey_trace::valkey_db;

use crate::database::Database;

/// Keys visited between two readings of the clock.
const BATCH: usize = 20;

/// Where the cycles continue; each visits indexes downwards, so that it misses nothing when keys are deleted.
#[derive(Default)]
pub struct ExpireCycle {
    next_key: usize,
    next_hash: usize,
}

impl ExpireCycle {
    /// Deletes expired keys and fields, for a quarter of the time between two cycles at most.
    #[traced(valkey_db::expire_cycle)]
    pub fn run(&mut self, database: &mut Database, frequency: u64) {
        let budget = Duration::from_micros(250_000 / frequency.max(1));
        self.keys(database, budget / 2);
        self.fields(database, budget / 2);
    }

    #[traced(valkey_db::expire_cycle_keys)]
    fn keys(&mut self, database: &mut Database, budget: Duration) {
        visit_downwards(&mut self.next_key, database.expiring().len(), budget, |index| {
            if let Some(key) = database.expiring().get_index(index).cloned() {
                database.drop_expired(&key);
            }
        });
    }

    #[traced(valkey_db::expire_cycle_fields)]
    fn fields(&mut self, database: &mut Database, budget: Duration) {
        visit_downwards(&mut self.next_hash, database.expiring_fields().len(), budget, |index| {
            if let Some(key) = database.expiring_fields().get_index(index).cloned() {
                database.drop_expired(&key);
            }
        });
    }
}

/// Visits the indexes below `next`, or below `length` after a whole round, downwards until the time is up.
fn visit_downwards(next: &mut usize, length: usize, budget: Duration, mut visit: impl FnMut(usize)) {
    let started = Instant::now();
    if *next == 0 {
        *next = length;
    }
    *next = (*next).min(length);
    while *next > 0 && started.elapsed() < budget {
        for _ in 0..BATCH.min(*next) {
            *next -= 1;
            visit(*next);
        }
    }
}
