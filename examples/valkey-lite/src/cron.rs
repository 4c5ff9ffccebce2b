//! Periodic work, whatever clients ask for meanwhile.

use std::time::{Duration, Instant};

use lttng_provider::traced;
use valkey_trace::valkey_server;

use crate::child;
use crate::command::Failure;
use crate::database::{Database, wall_clock};
use crate::server::Server;
use crate::system::used_memory;

/// The time between two rounds.
pub fn interval(server: &Server) -> Duration {
    Duration::from_micros(1_000_000 / server.config.hz.clamp(1, 500))
}

/// One round.
pub fn cron(server: &mut Server, database: &mut Database) {
    database.now = wall_clock();
    update_memory_statistics(server);
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
    if let Err(Failure(message)) = child::start_rewrite(server, database) {
        eprintln!("valkey-lite: cannot rewrite the append-only file: {message}");
        server.last_rewrite_ok = false;
    }
}

fn update_memory_statistics(server: &mut Server) {
    server.peak_memory = server.peak_memory.max(used_memory());
}

fn defragment(server: &mut Server, database: &mut Database) {
    // While a child shares the memory, every page touched here would be copied.
    if server.config.activedefrag && server.child.is_none() {
        server.defrag.cycle(database);
    }
}

/// Keeps the most urgent part of the cron going while a long command or the loading of a file holds up the loop.
pub struct WhileBlocked {
    last: Instant,
}

impl WhileBlocked {
    pub fn new() -> Self {
        Self { last: Instant::now() }
    }

    /// To be called again and again; does its work as often as the cron would have.
    pub fn cron(&mut self, server: &mut Server, database: &mut Database) {
        if self.last.elapsed() >= interval(server) {
            self.last = Instant::now();
            while_blocked(server, database);
        }
    }
}

#[traced(valkey_server::while_blocked_cron)]
fn while_blocked(server: &mut Server, database: &mut Database) {
    defragment(server, database);
    update_memory_statistics(server);
}
