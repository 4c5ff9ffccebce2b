//! Compaction: returning the capacity that tables keep after their contents are gone.

use std::time::{Duration, Instant};

use lttng_provider::traced;
use valkey_trace::valkey_db;

use crate::database::Database;
use crate::stall::StallPoint;

/// The longest that one cycle takes, except for the table that it is at.
const BUDGET: Duration = Duration::from_millis(1);
/// Values visited between two readings of the clock.
const BATCH: usize = 64;

/// Where the next cycle continues.
#[derive(Default)]
pub struct Defrag {
    next: usize,
    /// Tables compacted so far.
    pub compacted: u64,
}

impl Defrag {
    /// Visits values until the time is up; at the end of a round, the tables of keys.
    #[traced(valkey_db::active_defrag_cycle)]
    pub fn cycle(&mut self, database: &mut Database) {
        let started = Instant::now();
        StallPoint::Defrag.reached();
        while started.elapsed() < BUDGET {
            for _ in 0..BATCH {
                let Some(value) = database.value_at(self.next) else {
                    self.next = 0;
                    self.compacted += u64::from(database.compact_tables());
                    return;
                };
                self.compacted += u64::from(value.compact());
                self.next += 1;
            }
        }
    }
}
