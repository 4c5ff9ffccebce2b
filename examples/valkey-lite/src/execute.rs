//! From a request to its reply: look up, queue or run, journal, and wake up clients that waited for it.

use std::collections::VecDeque;
use std::time::Instant;

use lttng_provider::traced;
use valkey_trace::valkey_server;

use crate::client::Client;
use crate::command::{Call, Command, GROWS, IMMEDIATE, WRITE};
use crate::database::{Database, wall_clock};
use crate::evict::{is_within_limit, make_room};
use crate::resp::{Bytes, Reply};
use crate::server::Server;
use crate::trace::{finish_command, start_command};
use crate::value::List;

/// A client's request that waits.
pub struct Waiter {
    pub slot: usize,
    pub command: &'static Command,
    pub request: Vec<Bytes>,
    pub key: Bytes,
    pub deadline: Option<Instant>,
}

/// Who waits for a list to have an element, in the order in which they began to.
#[derive(Default)]
pub struct Waiting {
    pub waiters: Vec<Waiter>,
    ready: VecDeque<Bytes>,
}

impl Waiting {
    /// Takes a client out of the queue, if it waits.
    pub fn remove(&mut self, slot: usize) -> Option<Waiter> {
        let index = self.waiters.iter().position(|waiter| waiter.slot == slot)?;
        Some(self.waiters.remove(index))
    }

    /// Notes that the list at `key` has a new element.
    pub fn signal(&mut self, key: &[u8]) {
        if self.waiters.iter().any(|waiter| waiter.key == key) {
            self.ready.push_back(key.to_vec());
        }
    }

    /// When the next client will have waited long enough, and which one.
    pub fn next_deadline(&self) -> Option<(Instant, usize)> {
        self.waiters.iter().filter_map(|waiter| Some((waiter.deadline?, waiter.slot))).min()
    }
}

/// Executes one request, or queues it if the client has said MULTI.
pub fn process(server: &mut Server, database: &mut Database, client: &mut Client, request: Vec<Bytes>) {
    database.now = wall_clock();
    let found = Command::find(&request).and_then(|command| {
        // What is replayed from a file was admitted once.
        let has_room =
            !client.is_connected() || is_within_limit(&server.config) || make_room(database, &server.config);
        match has_room || !command.is(GROWS) {
            true => Ok(command),
            false => Err("OOM command not allowed when used memory > 'maxmemory'.".into()),
        }
    });
    match (found, &mut client.transaction) {
        (Ok(command), Some(transaction)) if !command.is(IMMEDIATE) => {
            transaction.requests.push((command, request));
            client.output.simple("QUEUED");
        }
        (Ok(command), _) => {
            call(server, database, client, command, request);
            serve_ready_lists(server, database);
        }
        (Err(message), transaction) => {
            transaction.iter_mut().for_each(|transaction| transaction.refused = true);
            client.output.error(&message);
        }
    }
}

/// Runs one command: of a request, of a transaction, or of a client that waited.
pub fn call(
    server: &mut Server,
    database: &mut Database,
    client: &mut Client,
    command: &'static Command,
    arguments: Vec<Bytes>,
) {
    let request = if command.is(WRITE) { database.journal.prepare(&arguments) } else { None };
    let changes = database.changes;
    let mut call = Call { server, database, client, command, arguments, journalled: None };
    let watch = start_command();
    let outcome = (command.run)(&mut call);
    let journalled = call.journalled.or(request);
    finish_command(watch, client, command);
    match outcome {
        Ok(()) if database.changes != changes => database.journal.append(&journalled.unwrap_or_default()),
        Ok(()) => {}
        Err(message) => client.output.error(&message),
    }
}

/// Serves clients that wait for lists, first come, first served.
fn serve_ready_lists(server: &mut Server, database: &mut Database) {
    while let Some(key) = server.waiting.ready.pop_front() {
        let waiters = server.waiting.waiters.iter().filter(|waiter| waiter.key == key);
        for slot in waiters.map(|waiter| waiter.slot).collect::<Vec<_>>() {
            if !matches!(database.existing::<List>(&key), Ok(Some(_))) {
                break;
            }
            let Some((mut client, waiter)) = wake(server, slot) else { continue };
            call(server, database, &mut client, waiter.command, waiter.request);
            server.put_back(client);
        }
    }
}

/// Ends a client's waiting without what it waited for: its time is up.
#[traced(valkey_server::command_unblocking)]
pub fn end_wait(server: &mut Server, slot: usize) {
    if let Some((mut client, _)) = wake(server, slot) {
        client.output.null_array();
        server.put_back(client);
    }
}

/// Takes a client out that waited, to be answered and put back.
fn wake(server: &mut Server, slot: usize) -> Option<(Box<Client>, Waiter)> {
    let waiter = server.waiting.remove(slot)?;
    let mut client = server.take_client(slot)?;
    client.is_blocked = false;
    client.unfinished = true;
    server.answered.push(slot);
    Some((client, waiter))
}
