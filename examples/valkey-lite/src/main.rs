//! A small server that speaks RESP2 and does the work of each of Valkey's 35 traced events.
//!
//! It is an example of tracing a service, not a database. `cargo run -p valkey-lite -- --port 7000`, and then
//! `redis-cli -p 7000`.

mod append_only;
mod child;
mod client;
mod cluster;
mod command;
mod commands;
mod config;
mod cron;
mod database;
mod dump;
mod event_loop;
mod evict;
mod execute;
mod resp;
mod server;
mod stall;
mod system;
mod threads;
mod trace;
mod value;

use std::io;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use mio::Poll;

use crate::client::Listeners;
use crate::config::Config;
use crate::database::Database;
use crate::event_loop::EventLoop;
use crate::server::Server;

#[global_allocator]
static ALLOCATOR: system::CountingAllocator = system::CountingAllocator;

fn main() -> ExitCode {
    let result = Config::from_arguments(std::env::args().skip(1)).map_err(io::Error::other).and_then(serve);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("valkey-lite: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(mut config: Config) -> io::Result<()> {
    let poll = Poll::new()?;
    let listeners = Listeners::open(&mut config, poll.registry())?;
    let mut server = Server::new(config)?;
    let mut database = Database::new()?;
    dump::load(&mut server, &mut database)?;
    eprintln!("valkey-lite: {} keys, ready on port {}", database.len(), server.config.port);
    let shared = Arc::new(Mutex::new(database));
    if server.config.sampler {
        threads::start_sampler(&shared)?;
    }
    EventLoop::new(poll, listeners).run(&mut server, &shared)
}
