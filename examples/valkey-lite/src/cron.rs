//! Periodic work, whatever clients ask for meanwhile.

use std::time::{Duration, Instant};

use indexmap::IndexSet;
use lttng_provider::traced;
use valkey_trace::{valkey_db, valkey_server};

use crate::child::{self, Purpose};
use crate::database::{Database, wall_clock};
use crate::resp::Bytes;
use crate::server::Server;
use crate::stall;
use crate::system::used_memory;

/// The time between two rounds.
pub fn interval(server: &Server) -> Duration {
    Duration::from_micros(1_000_000 / server.config.hz.clamp(1, 500))
}

/// One round.
pub fn cron(server: &mut Server, database: &mut Database) {
    database.now = wall_clock();
    if server.active_expire {
        server.expire.run(database, server.config.hz);
    }
    defragment(server, database);
    child::check(server);
    rewrite_if_wanted(server, database);
}

/// Starts a child that writes the append-only file anew: because it was asked for, or because appending has been
/// turned on, and the file has to begin with the data so far.
fn rewrite_if_wanted(server: &mut Server, database: &mut Database) {
    let is_wanted = server.rewrite_wanted || (server.config.appendonly && !server.append_only.is_open());
    if !is_wanted || server.child.is_some() {
        return;
    }
    server.rewrite_wanted = false;
    if let Err(message) = child::start_rewrite(server, database) {
        eprintln!("valkey-lite: cannot rewrite the append-only file: {message}");
        server.has_failed[Purpose::Rewrite as usize] = true;
    }
}

fn defragment(server: &mut Server, database: &mut Database) {
    server.peak_memory = server.peak_memory.max(used_memory());
    // While a child shares the memory, every page touched here would be copied.
    if server.config.activedefrag && server.child.is_none() {
        server.defrag.cycle(database);
    }
}

/// Keeps the most urgent part of the cron going while a long command or the loading of a file holds up the loop. To be
/// called again and again; does its work as often as the cron would have.
pub fn while_blocked(last: &mut Instant, server: &mut Server, database: &mut Database) {
    if last.elapsed() >= interval(server) {
        *last = Instant::now();
        valkey_server::while_blocked_cron::timed(|| defragment(server, database));
    }
}

/// Keys or values visited between two readings of the clock.
const BATCH: usize = 20;

/// Deletes keys and fields that have expired although no client asks for them. Each cycle visits indexes downwards, so
/// that it misses nothing when keys are deleted.
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
        visit(&mut self.next_key, database, |database| &database.expiring, budget);
    }

    #[traced(valkey_db::expire_cycle_fields)]
    fn fields(&mut self, database: &mut Database, budget: Duration) {
        visit(&mut self.next_hash, database, |database| &database.expiring_fields, budget);
    }
}

/// Visits the keys with an index below `next`, or all of them after a whole round, downwards until the time is up.
fn visit(
    next: &mut usize,
    database: &mut Database,
    keys: fn(&Database) -> &IndexSet<Bytes>,
    budget: Duration,
) {
    let (started, length) = (Instant::now(), keys(database).len());
    *next = if *next == 0 { length } else { length.min(*next) };
    while *next > 0 && started.elapsed() < budget {
        for _ in 0..BATCH.min(*next) {
            *next -= 1;
            if let Some(key) = keys(database).get_index(*next).cloned() {
                database.drop_expired(&key);
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
            for _ in 0..BATCH {
                let Some(value) = database.value_at(self.next) else {
                    self.next = 0;
                    self.compacted += u64::from(database.compact_table());
                    return;
                };
                self.compacted += u64::from(value.compact());
                self.next += 1;
            }
        }
    }
}
