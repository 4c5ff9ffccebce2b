//! The event loop: sleep until something happens, do it, and finish all of it before sleeping again.

use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use lttng_provider::traced;
use mio::{Events, Poll};
use valkey_trace::{valkey_aof, valkey_server};

use crate::child::{self, Purpose};
use crate::client::{Client, INPUT_LIMIT, Listeners, OUTPUT_LIMIT};
use crate::config::SyncPolicy;
use crate::cron;
use crate::database::Database;
use crate::execute::{end_wait, process};
use crate::resp::Reply;
use crate::server::Server;
use crate::stall;
use crate::threads::lock;

/// The most bytes read from one client before others get their turn.
const READ_SIZE: usize = 64 * 1024;

/// The loop's own state.
pub struct EventLoop {
    poll: Poll,
    listeners: Listeners,
    next_cron: Instant,
    /// Slots to serve without the poll asking.
    unfinished: Vec<usize>,
    buffer: Vec<u8>,
}

impl EventLoop {
    pub fn new(poll: Poll, listeners: Listeners) -> Self {
        Self {
            poll,
            listeners,
            next_cron: Instant::now(),
            unfinished: Vec::new(),
            buffer: vec![0; READ_SIZE],
        }
    }

    /// Serves clients until SHUTDOWN.
    pub fn run(&mut self, server: &mut Server, shared: &Mutex<Database>) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        while !server.stopping {
            let timeout = self.timeout(server);
            match self.poll.poll(&mut events, Some(timeout)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => events.clear(),
                other => other?,
            }
            // The loop had left the lock to the sampler while it slept.
            let mut database = match server.config.sampler {
                true => valkey_server::module_acquire_gil::timed(|| lock(shared)),
                false => lock(shared),
            };
            self.turn(server, &mut database, &events)?;
        }
        let mut database = lock(shared);
        child::kill(server, &[Purpose::Snapshot, Purpose::Rewrite, Purpose::SlotCopy]);
        server.append_only.finish(&mut database.journal)
    }

    /// How long the loop may sleep.
    fn timeout(&self, server: &Server) -> Duration {
        if !self.unfinished.is_empty() {
            return Duration::ZERO;
        }
        let until =
            server.waiting.next_deadline().map_or(self.next_cron, |(next, _)| next.min(self.next_cron));
        until.saturating_duration_since(Instant::now())
    }

    /// Everything between waking up and falling asleep.
    #[traced(valkey_server::eventloop)]
    fn turn(&mut self, server: &mut Server, database: &mut Database, events: &Events) -> io::Result<()> {
        for slot in std::mem::take(&mut self.unfinished) {
            self.serve(server, database, slot);
        }
        for event in events {
            if Listeners::has(event.token()) {
                self.accept(server, event.token());
                continue;
            }
            let slot = event.token().0;
            if let Some(Some(client)) = server.clients.get_mut(slot) {
                client.has_sent_all |= event.is_read_closed();
            }
            self.serve(server, database, slot);
        }
        self.cron(server, database);
        flush(server, database)?;
        for slot in std::mem::take(&mut server.answered) {
            self.answer(server, slot);
        }
        Ok(())
    }

    /// What is due: periodic work, and the end of waits that were limited.
    #[traced(valkey_server::eventloop_cron)]
    fn cron(&mut self, server: &mut Server, database: &mut Database) {
        if Instant::now() >= self.next_cron {
            cron::cron(server, database);
            self.next_cron = Instant::now() + cron::interval(server);
        }
        while let Some((deadline, slot)) = server.waiting.next_deadline()
            && deadline <= Instant::now()
        {
            end_wait(server, slot);
        }
    }

    fn accept(&mut self, server: &mut Server, token: mio::Token) {
        loop {
            match self.listeners.accept(token) {
                Ok(Some(connection)) => {
                    let slot = server.clients.insert(None);
                    match Client::new(slot, connection, self.poll.registry()) {
                        Ok(client) => server.put_back(Box::new(client)),
                        Err(_) => drop(server.clients.remove(slot)),
                    }
                }
                Ok(None) => return,
                // A client that gave up before it was accepted must not keep others waiting.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    eprintln!("valkey-lite: cannot accept a connection: {error}");
                    return;
                }
            }
        }
    }

    /// Reads what a client has sent, and executes the requests in it.
    fn serve(&mut self, server: &mut Server, database: &mut Database, slot: usize) {
        let Some(mut client) = server.take_client(slot) else { return };
        let mut has_ended = false;
        stall::READ.reached();
        client.unfinished = !client.may_read()
            || match client.read(&mut self.buffer) {
                Ok(more) => more,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    has_ended = true;
                    false
                }
                Err(_) => return self.close(server, client),
            };
        execute_input(server, database, &mut client);
        client.closing |= has_ended && !client.unfinished;
        server.answered.push(slot);
        server.put_back(client);
    }

    /// Writes a client's replies.
    fn answer(&mut self, server: &mut Server, slot: usize) {
        let Some(mut client) = server.take_client(slot) else { return };
        if client.write().is_err() || (client.closing && client.unwritten() == 0) {
            return self.close(server, client);
        }
        if client.unfinished && client.may_read() {
            client.unfinished = false;
            self.unfinished.push(slot);
        }
        server.put_back(client);
    }

    fn close(&mut self, server: &mut Server, mut client: Box<Client>) {
        server.waiting.remove(client.slot);
        client.disconnect(self.poll.registry());
        server.clients.remove(client.slot);
    }
}

/// Executes the whole requests of a client's input, in order, until it has to wait.
fn execute_input(server: &mut Server, database: &mut Database, client: &mut Client) {
    let mut input = std::mem::take(&mut client.input);
    let mut at = 0;
    while !client.is_blocked && !client.closing {
        if client.unwritten() >= OUTPUT_LIMIT {
            client.unfinished = true;
            break;
        }
        match client.parser.next(&input, &mut at) {
            Ok(Some(request)) if request.is_empty() => {}
            Ok(Some(request)) => process(server, database, client, request),
            Ok(None) => break,
            Err(error) => {
                client.output.error(&format!("ERR Protocol error: {error}"));
                client.closing = true;
            }
        }
    }
    input.drain(..at);
    if input.is_empty() {
        input.shrink_to(INPUT_LIMIT);
    }
    client.input = input;
}

/// Writes the append-only file. A change that cannot be made durable as promised must not be answered.
#[traced(valkey_aof::aof_flush)]
fn flush(server: &mut Server, database: &mut Database) -> io::Result<()> {
    let policy = server.config.appendfsync;
    let result = server.append_only.flush(&mut database.journal, policy, server.child.is_some());
    let Err(error) = result else { return Ok(()) };
    let message = format!("cannot write {}: {error}", server.append_only.path.display());
    if policy == SyncPolicy::Always {
        return Err(io::Error::other(message + "; appendfsync always demands it"));
    }
    eprintln!("valkey-lite: {message}");
    Ok(())
}
