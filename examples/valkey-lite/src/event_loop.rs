//! The event loop: sleep until something happens, do it, and finish all of it before sleeping again.

use std::io;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use lttng_provider::traced;
use mio::{Events, Poll};
use valkey_trace::{valkey_aof, valkey_server};

use crate::child::{self, Purpose};
use crate::client::{Client, INPUT_LIMIT, OUTPUT_LIMIT};
use crate::config::SyncPolicy;
use crate::cron;
use crate::database::Database;
use crate::execute::{end_wait, process};
use crate::listener::{Listeners, is_listener};
use crate::reply::Reply;
use crate::sampler::lock;
use crate::server::Server;
use crate::stall::StallPoint;
use crate::trace::CronSum;

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
            let mut database = wake_up(server, shared);
            self.turn(server, &mut database, &events)?;
        }
        let mut database = lock(shared);
        for purpose in [Purpose::Snapshot, Purpose::Rewrite, Purpose::SlotCopy] {
            child::kill(server, purpose);
        }
        server.append_only.finish(&mut database.journal)
    }

    /// How long the loop may sleep.
    fn timeout(&self, server: &Server) -> Duration {
        if !self.unfinished.is_empty() {
            return Duration::ZERO;
        }
        let until = server.waiting.next_deadline().map_or(self.next_cron, |next| next.min(self.next_cron));
        until.saturating_duration_since(Instant::now())
    }

    /// Everything between waking up and falling asleep.
    #[traced(valkey_server::eventloop)]
    fn turn(&mut self, server: &mut Server, database: &mut Database, events: &Events) -> io::Result<()> {
        let mut cron_sum = CronSum::start();
        for slot in std::mem::take(&mut self.unfinished) {
            self.serve(server, database, slot);
        }
        for event in events {
            if is_listener(event.token()) {
                self.accept(server, event.token());
                continue;
            }
            let slot = event.token().0;
            if event.is_read_closed() {
                server.clients.note_last_bytes(slot);
            }
            self.serve(server, database, slot);
        }
        if Instant::now() >= self.next_cron {
            cron_sum.add(|| cron::cron(server, database));
            self.next_cron = Instant::now() + cron::interval(server);
        }
        cron_sum.add(|| end_overdue_waits(server));
        flush(server, database)?;
        for slot in std::mem::take(&mut server.answered) {
            self.answer(server, slot);
        }
        cron_sum.finish();
        Ok(())
    }

    fn accept(&mut self, server: &mut Server, token: mio::Token) {
        loop {
            match self.listeners.accept(token) {
                Ok(Some((stream, addresses))) => {
                    let slot = server.clients.reserve();
                    let mut client = Client::new(slot, stream, addresses);
                    if client.register(self.poll.registry()).is_ok() {
                        server.clients.put_back(Box::new(client));
                    } else {
                        server.clients.release(slot);
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
        let Some(mut client) = server.clients.take(slot) else { return };
        let mut has_ended = false;
        StallPoint::Read.reached();
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
        server.clients.put_back(client);
    }

    /// Writes a client's replies.
    fn answer(&mut self, server: &mut Server, slot: usize) {
        let Some(mut client) = server.clients.take(slot) else { return };
        if client.write().is_err() || (client.closing && client.unwritten() == 0) {
            return self.close(server, client);
        }
        if client.unfinished && client.may_read() {
            client.unfinished = false;
            self.unfinished.push(slot);
        }
        server.clients.put_back(client);
    }

    fn close(&mut self, server: &mut Server, mut client: Box<Client>) {
        if let Some(blocked) = client.blocked.take() {
            server.waiting.remove(client.slot, &blocked);
        }
        client.disconnect(self.poll.registry());
        server.clients.release(client.slot);
    }
}

/// Takes the lock that the loop had left to the sampler while it slept.
fn wake_up<'a>(server: &Server, shared: &'a Mutex<Database>) -> MutexGuard<'a, Database> {
    match server.config.sampler {
        true => valkey_server::module_acquire_gil::timed(|| lock(shared)),
        false => lock(shared),
    }
}

/// Executes the whole requests of a client's input, in order, until it has to wait.
fn execute_input(server: &mut Server, database: &mut Database, client: &mut Client) {
    let mut input = std::mem::take(&mut client.input);
    let mut at = 0;
    while client.blocked.is_none() && !client.closing {
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

fn end_overdue_waits(server: &mut Server) {
    while let Some(slot) = server.waiting.overdue(Instant::now()) {
        end_wait(server, slot);
    }
}

/// Writes the append-only file. A change that cannot be made durable as promised must not be answered.
#[traced(valkey_aof::aof_flush)]
fn flush(server: &mut Server, database: &mut Database) -> io::Result<()> {
    let policy = server.config.appendfsync;
    let result = server.append_only.flush(&mut database.journal, policy, server.child.is_some());
    match result {
        Err(error) if policy == SyncPolicy::Always => {
            let path = server.append_only.path().display();
            Err(io::Error::other(format!("cannot write {path}, as appendfsync always demands: {error}")))
        }
        Err(error) => {
            eprintln!("valkey-lite: cannot write {}: {error}", server.append_only.path().display());
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
