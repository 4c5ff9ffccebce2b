//! The event loop: sleep until something happens, do it, and finish all of it before sleeping again.

use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr};
use std::sync::Mutex;
use std::time::Instant;

use lttng_provider::traced;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use valkey_trace::{valkey_aof, valkey_server};

use crate::child;
use crate::commands::process;
use crate::config::Config;
use crate::database::Database;
use crate::resp::{Reply, next_request};
use crate::sampler::lock;
use crate::server::{Client, Server};
use crate::stall;
use crate::system::Purpose;

/// The listener's token; those of clients are their IDs.
const LISTENER: Token = Token(0);

/// The loop's own state.
pub struct EventLoop {
    poll: Poll,
    listener: TcpListener,
    last_id: usize,
    next_cron: Instant,
    /// Clients with replies to write before the loop sleeps.
    answered: Vec<usize>,
}

impl EventLoop {
    /// Listens. With port 0 the system chooses one, which `config` then has.
    pub fn new(config: &mut Config) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], config.port)))?;
        config.port = listener.local_addr()?.port();
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self { poll, listener, last_id: 0, next_cron: Instant::now(), answered: Vec::new() })
    }

    /// Serves clients until SHUTDOWN.
    pub fn run(&mut self, server: &mut Server, shared: &Mutex<Database>) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        while !server.is_stopping {
            let deadlines = server.waiting.iter().map(|(deadline, _)| *deadline);
            let next = deadlines.min().map_or(self.next_cron, |next| next.min(self.next_cron));
            match self.poll.poll(&mut events, Some(next.saturating_duration_since(Instant::now()))) {
                Err(error) if error.kind() == ErrorKind::Interrupted => events.clear(),
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
        child::check(server, &[Purpose::Snapshot, Purpose::Rewrite, Purpose::SlotCopy]);
        server.append_only.finish(&mut database.journal)
    }

    /// Everything between waking up and falling asleep.
    #[traced(valkey_server::eventloop)]
    fn turn(&mut self, server: &mut Server, database: &mut Database, events: &Events) -> io::Result<()> {
        for event in events {
            match event.token() {
                LISTENER => {
                    while let Ok((mut stream, _)) = self.listener.accept() {
                        self.last_id += 1;
                        let both = Interest::READABLE | Interest::WRITABLE;
                        self.poll.registry().register(&mut stream, Token(self.last_id), both)?;
                        server.clients.insert(self.last_id, Client::new(self.last_id, stream)?);
                    }
                }
                Token(id) => self.serve(server, database, id),
            }
        }
        self.cron(server, database);
        flush(server, database)?;
        for id in std::mem::take(&mut self.answered) {
            let ended = server.clients.get_mut(&id).is_some_and(|client| !client.write());
            if let Some(mut client) = ended.then(|| server.clients.remove(&id)).flatten() {
                // A forked child may hold a copy, so closing ours would neither take it out of the poll nor tell the peer.
                let _ = self.poll.registry().deregister(&mut client.stream);
                let _ = client.stream.shutdown(Shutdown::Both);
            }
        }
        Ok(())
    }

    /// What is due: periodic work, and the end of waits.
    #[traced(valkey_server::eventloop_cron)]
    fn cron(&mut self, server: &mut Server, database: &mut Database) {
        if Instant::now() >= self.next_cron {
            server.expire.run(database, server.config.hz);
            server.defragment(database);
            child::check(server, &[]);
            if server.rewrite_wanted && server.child.is_none() {
                server.rewrite_wanted = false;
                server.failed_children += u64::from(child::start_rewrite(server, database).is_err());
            }
            self.next_cron = Instant::now() + server.config.interval();
        }
        let is_over = |(deadline, _): &mut (Instant, usize)| *deadline <= Instant::now();
        for (_, id) in server.waiting.extract_if(.., is_over).collect::<Vec<_>>() {
            end_wait(server, id);
            self.serve(server, database, id);
        }
    }

    /// Reads what a client has sent, and executes the requests in it, in order, until it has to wait.
    fn serve(&mut self, server: &mut Server, database: &mut Database, id: usize) {
        let Some(mut client) = server.clients.remove(&id) else { return };
        stall::READ.reached();
        client.read();
        let mut at = 0;
        while !client.is_blocked {
            let reply = match next_request(&client.input[at..]) {
                Ok(None) => break,
                Ok(Some((request, length))) => {
                    at += length;
                    process(server, database, &mut client, request)
                }
                Err(error) => {
                    client.is_closing = true;
                    at = client.input.len();
                    Reply::Error(format!("ERR Protocol error: {error}"))
                }
            };
            reply.write(&mut client.output);
        }
        client.input.drain(..at);
        self.answered.push(id);
        server.clients.insert(id, client);
    }
}

/// Ends a client's waiting: its time is up.
#[traced(valkey_server::command_unblocking)]
fn end_wait(server: &mut Server, id: usize) {
    if let Some(client) = server.clients.get_mut(&id) {
        client.is_blocked = false;
        Reply::Integer(0).write(&mut client.output);
    }
}

/// Writes the append-only file. A change that cannot be made durable as promised must not be answered.
#[traced(valkey_aof::aof_flush)]
fn flush(server: &mut Server, database: &mut Database) -> io::Result<()> {
    server.append_only.flush(&mut database.journal, server.config.sync_always, server.child.is_some())
}
