//! A small server that speaks RESP2 and does the work of each of Valkey's 35 traced events.
//!
//! It is an example of tracing a service, not a database: it writes its files for the sake of the work, and never reads them.
//! `cargo run -p valkey-lite -- --port 7000`, and then `redis-cli -p 7000`.

mod append_only;
mod child;
mod cluster;
mod commands;
mod config;
mod cron;
mod database;
mod event_loop;
mod resp;
mod sampler;
mod server;
mod stall;
mod system;
mod trace;
mod worker;

use std::io;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use crate::config::Config;
use crate::database::Database;
use crate::event_loop::EventLoop;
use crate::server::Server;

fn main() -> ExitCode {
    let served = Config::from_arguments(std::env::args().skip(1)).map_err(io::Error::other).and_then(serve);
    let Err(error) = served else { return ExitCode::SUCCESS };
    eprintln!("valkey-lite: {error}");
    ExitCode::FAILURE
}

fn serve(mut config: Config) -> io::Result<()> {
    let mut event_loop = EventLoop::new(&mut config)?;
    let mut server = Server::new(config)?;
    let mut database = Database::new()?;
    if server.config.appendonly {
        server.append_only.open()?;
        database.journal = Some(Vec::new());
    }
    eprintln!("valkey-lite: ready on port {}", server.config.port);
    let shared = Arc::new(Mutex::new(database));
    if server.config.sampler {
        sampler::start_sampler(&shared)?;
    }
    event_loop.run(&mut server, &shared)
}
