//! From a request to its reply: look up, queue or run, journal, and wake up clients that waited for it.

use lttng_provider::traced;
use valkey_trace::valkey_server;

use crate::client::Client;
use crate::command::{Call, Command, Failure, GROWS, IMMEDIATE, WRITE};
use crate::database::{Database, wall_clock};
use crate::evict::{is_within_limit, make_room};
use crate::reply::Reply;
use crate::request::Bytes;
use crate::server::Server;
use crate::trace::CommandMeasurement;
use crate::value::List;

/// Executes one request, or queues it if the client has said MULTI.
pub fn process(server: &mut Server, database: &mut Database, client: &mut Client, request: Vec<Bytes>) {
    database.now = wall_clock();
    let command = match admit(server, database, client, &request) {
        Ok(command) => command,
        Err(Failure(message)) => {
            if let Some(transaction) = &mut client.transaction {
                transaction.refused = true;
            }
            client.output.error(&message);
            return;
        }
    };
    match &mut client.transaction {
        Some(transaction) if !command.is(IMMEDIATE) => {
            transaction.requests.push((command, request));
            client.output.simple("QUEUED");
        }
        _ => {
            call(server, database, client, command, request);
            serve_ready_lists(server, database);
        }
    }
}

/// The request's command, if it may run.
fn admit(
    server: &Server,
    database: &mut Database,
    client: &Client,
    request: &[Bytes],
) -> Result<&'static Command, Failure> {
    let command = Command::find(request)?;
    // What is replayed from a file was admitted once.
    let is_replayed = client.stream().is_none();
    let has_room = is_replayed || is_within_limit(&server.config) || make_room(database, &server.config);
    if !has_room && command.is(GROWS) {
        return Err("OOM command not allowed when used memory > 'maxmemory'.".into());
    }
    Ok(command)
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
    let measurement = CommandMeasurement::start();
    let outcome = command.run(&mut call);
    let journalled = call.journalled.or(request);
    measurement.finish(client, command);
    match outcome {
        Ok(()) if database.changes != changes => database.journal.append(&journalled.unwrap_or_default()),
        Ok(()) => {}
        Err(Failure(message)) => client.output.error(&message),
    }
}

/// Serves clients that wait for lists, first come, first served.
fn serve_ready_lists(server: &mut Server, database: &mut Database) {
    while let Some((key, slots)) = server.waiting.next_ready() {
        for slot in slots {
            if !matches!(database.existing::<List>(&key), Ok(Some(_))) {
                break;
            }
            let Some(mut client) = server.clients.take(slot) else { continue };
            if let Some(blocked) = client.blocked.take() {
                server.waiting.remove(slot, &blocked);
                call(server, database, &mut client, blocked.command, blocked.request);
                server.answered.push(slot);
                client.unfinished = true;
            }
            server.clients.put_back(client);
        }
    }
}

/// Ends a client's waiting without what it waited for: its time is up.
#[traced(valkey_server::command_unblocking)]
pub fn end_wait(server: &mut Server, slot: usize) {
    let Some(mut client) = server.clients.take(slot) else { return };
    if let Some(blocked) = client.blocked.take() {
        server.waiting.remove(slot, &blocked);
        client.output.null_array();
        server.answered.push(slot);
        client.unfinished = true;
    }
    server.clients.put_back(client);
}
