//! The server's state beside the data, and its clients.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Instant;

use mio::net::TcpStream;
use valkey_trace::valkey_server::while_blocked_cron;

use crate::append_only::AppendOnly;
use crate::config::Config;
use crate::cron::{Defrag, ExpireCycle};
use crate::database::Database;
use crate::resp::Bytes;
use crate::system::Child;

/// A client.
pub struct Client {
    /// Also its token at the poll.
    pub id: usize,
    pub stream: TcpStream,
    /// The client's address, and the server's.
    pub peer: String,
    pub local: String,
    pub input: Bytes,
    pub output: Bytes,
    /// Requests queued since MULTI.
    pub transaction: Option<Vec<Vec<Bytes>>>,
    /// Whether it waits; its further requests wait, too.
    pub is_blocked: bool,
    /// Whether the connection ends once the output is written.
    pub is_closing: bool,
}

impl Client {
    pub fn new(id: usize, stream: TcpStream) -> io::Result<Self> {
        Ok(Self {
            id,
            peer: stream.peer_addr()?.to_string(),
            local: stream.local_addr()?.to_string(),
            stream,
            input: Bytes::new(),
            output: Bytes::new(),
            transaction: None,
            is_blocked: false,
            is_closing: false,
        })
    }

    /// Reads all that has arrived: the poll tells only of what comes later.
    pub fn read(&mut self) {
        let read = self.stream.read_to_end(&mut self.input);
        self.is_closing |= !read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    }

    /// Writes as much of the output as the connection takes. Returns whether it is of further use.
    pub fn write(&mut self) -> bool {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(length) => drop(self.output.drain(..length)),
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        !self.is_closing || self.is_blocked
    }
}

/// Everything but the data, which the sampler shares.
pub struct Server {
    pub config: Config,
    /// By ID; a client is not among them while it is served.
    pub clients: HashMap<usize, Client>,
    /// Clients that wait, and until when.
    pub waiting: Vec<(Instant, usize)>,
    pub append_only: AppendOnly,
    /// Whether BGREWRITEAOF was asked for; the cron starts it when no child runs.
    pub rewrite_wanted: bool,
    /// The forked child; there is one at a time.
    pub child: Option<Child>,
    pub failed_children: u64,
    pub expire: ExpireCycle,
    pub defrag: Defrag,
    pub is_stopping: bool,
}

impl Server {
    pub fn new(config: Config) -> io::Result<Self> {
        Ok(Self {
            clients: HashMap::new(),
            waiting: Vec::new(),
            append_only: AppendOnly::new(config.dir.join("appendonly.aof"))?,
            rewrite_wanted: false,
            child: None,
            failed_children: 0,
            expire: ExpireCycle::default(),
            defrag: Defrag::default(),
            is_stopping: false,
            config,
        })
    }

    pub fn defragment(&mut self, database: &mut Database) {
        // While a child shares the memory, every page touched here would be copied.
        if self.config.activedefrag && self.child.is_none() {
            self.defrag.cycle(database);
        }
    }

    /// Keeps the most urgent part of the cron going while a long command or the loading of a file holds up the loop. To be
    /// called again and again; does its work as often as the cron would have.
    pub fn while_blocked(&mut self, last: &mut Instant, database: &mut Database) {
        if last.elapsed() >= self.config.interval() {
            *last = Instant::now();
            while_blocked_cron::timed(|| self.defragment(database));
        }
    }
}
