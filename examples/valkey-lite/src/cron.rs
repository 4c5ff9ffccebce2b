//! Periodic work on the data, whatever clients ask for meanwhile.

use std::time::{Duration, Instant};

use indexmap::IndexSet;
use lttng_provider::traced;
use valkey_trace::valkey_db;

use crate::database::{Database, Place};
use crate::stall;

/// Keys visited between two readings of the clock.
const BATCH: usize = 20;

/// Deletes keys and fields that have expired although no client asks for them. Each cycle visits indexes downwards, so
/// that it misses nothing when keys are deleted.
#[derive(Default)]
pub struct ExpireCycle {
    next_key: usize,
    next_field: usize,
}

impl ExpireCycle {
    /// Deletes expired keys and fields, for a quarter of the time between two cycles at most.
    #[traced(valkey_db::expire_cycle)]
    pub fn run(&mut self, database: &mut Database, frequency: u64) {
        let budget = Duration::from_micros(250_000 / frequency);
        self.keys(database, budget / 2);
        self.fields(database, budget / 2);
    }

    #[traced(valkey_db::expire_cycle_keys)]
    fn keys(&mut self, database: &mut Database, budget: Duration) {
        visit(&mut self.next_key, database, |database| &database.expiring_keys, budget);
    }

    #[traced(valkey_db::expire_cycle_fields)]
    fn fields(&mut self, database: &mut Database, budget: Duration) {
        visit(&mut self.next_field, database, |database| &database.expiring_fields, budget);
    }
}

/// Visits what has an index below `next`, or all of it after a whole round, downwards until the time is up.
fn visit(
    next: &mut usize,
    database: &mut Database,
    places: fn(&Database) -> &IndexSet<Place>,
    budget: Duration,
) {
    let (started, length) = (Instant::now(), places(database).len());
    *next = if *next == 0 { length } else { length.min(*next) };
    while *next > 0 && started.elapsed() < budget {
        for _ in 0..BATCH.min(*next) {
            *next -= 1;
            if let Some(place) = places(database).get_index(*next).cloned() {
                database.drop_expired(&place);
            }
        }
    }
}

/// The longest that one cycle of compaction takes, except for the table that it is at.
const DEFRAG_BUDGET: Duration = Duration::from_millis(1);

/// Compaction: returns the capacity that tables keep after their contents are gone.
#[derive(Default)]
pub struct Defrag {
    next: usize,
    /// Tables compacted so far.
    pub compacted: u64,
}

impl Defrag {
    /// Visits values until the time is up; at the end of a round, the table of keys.
    #[traced(valkey_db::active_defrag_cycle)]
    pub fn cycle(&mut self, database: &mut Database) {
        let started = Instant::now();
        stall::DEFRAG.reached();
        while started.elapsed() < DEFRAG_BUDGET {
            let Some(value) = database.value_at(self.next) else {
                self.next = 0;
                self.compacted += u64::from(database.compact_table());
                return;
            };
            value.shrink_to_fit();
            self.next += 1;
        }
    }
}
