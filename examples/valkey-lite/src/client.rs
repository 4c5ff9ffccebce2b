//! One client: its connection, what it sent and is owed, and its state between requests.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::time::Instant;

use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};

use crate::command::Command;
use crate::request::{Bytes, Parser};

/// A client that leaves more bytes of replies unread than this is not served until it has read some.
pub const OUTPUT_LIMIT: usize = 1 << 20;

/// The most bytes kept of further requests of a waiting client; the rest stays in its socket.
pub const INPUT_LIMIT: usize = 1 << 20;

/// How a client is connected.
pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// One end of a connection, and the other, as they are traced.
pub struct Addresses {
    /// The client's.
    pub peer: String,
    /// The server's.
    pub local: String,
}

/// A client, or a file being replayed, which is like a client without a connection.
pub struct Client {
    /// Its index among the clients, and its token at the poll.
    pub slot: usize,
    stream: Option<Stream>,
    pub addresses: Addresses,
    pub input: Bytes,
    pub parser: Parser,
    pub output: Bytes,
    written: usize,
    /// Requests queued since MULTI.
    pub transaction: Option<Transaction>,
    /// What it waits for; its further requests wait, too.
    pub blocked: Option<Blocked>,
    /// Whether the client has closed its side: what is in the socket is then read to the end.
    pub has_sent_all: bool,
    /// Whether to serve it again without the poll asking: something was left unread or undone.
    pub unfinished: bool,
    /// Whether the connection ends once the output is written.
    pub closing: bool,
}

/// Requests between MULTI and EXEC.
#[derive(Default)]
pub struct Transaction {
    pub requests: Vec<(&'static Command, Vec<Bytes>)>,
    /// Whether one of them was refused, so that EXEC must be too.
    pub refused: bool,
}

/// A request that waits for a list to have an element.
pub struct Blocked {
    pub command: &'static Command,
    pub request: Vec<Bytes>,
    pub key: Bytes,
    pub deadline: Option<Instant>,
}

impl Client {
    pub fn new(slot: usize, stream: Stream, addresses: Addresses) -> Self {
        Self { slot, stream: Some(stream), addresses, ..Self::without_connection() }
    }

    /// A file being replayed.
    pub fn without_connection() -> Self {
        Self {
            slot: usize::MAX,
            stream: None,
            addresses: Addresses { peer: String::new(), local: String::new() },
            input: Bytes::new(),
            parser: Parser::default(),
            output: Bytes::new(),
            written: 0,
            transaction: None,
            blocked: None,
            has_sent_all: false,
            unfinished: false,
            closing: false,
        }
    }

    /// The connection, if there is one.
    pub fn stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    /// Whether to read more now; if not, only when the client has read its replies or no longer waits.
    pub fn may_read(&self) -> bool {
        self.unwritten() < OUTPUT_LIMIT && (self.blocked.is_none() || self.input.len() < INPUT_LIMIT)
    }

    /// Reads once. Returns whether there may be more: a read that fills the buffer may have left something in the
    /// socket; a shorter one has emptied it, and the poll reports what comes later, except for the end of the
    /// connection, which it may have reported already.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        let Some(stream) = &mut self.stream else { return Ok(false) };
        let result = match stream {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        };
        match result {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                self.input.extend_from_slice(&buffer[..length]);
                Ok(length == buffer.len() || self.has_sent_all)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Writes as much of the output as the connection takes.
    pub fn write(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        while self.written < self.output.len() {
            let rest = &self.output[self.written..];
            let result = match stream {
                Stream::Tcp(stream) => stream.write(rest),
                Stream::Unix(stream) => stream.write(rest),
            };
            match result {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.output.clear();
        self.output.shrink_to(OUTPUT_LIMIT);
        self.written = 0;
        Ok(())
    }

    /// How much of the output is not yet written.
    pub fn unwritten(&self) -> usize {
        self.output.len() - self.written
    }

    /// Registers this client with the poll.
    pub fn register(&mut self, registry: &Registry) -> io::Result<()> {
        let (token, interest) = (Token(self.slot), Interest::READABLE | Interest::WRITABLE);
        match &mut self.stream {
            Some(Stream::Tcp(stream)) => registry.register(stream, token, interest),
            Some(Stream::Unix(stream)) => registry.register(stream, token, interest),
            None => Ok(()),
        }
    }

    /// Ends the connection. A forked child may hold a copy of it, so closing our own would neither take it out
    /// of the poll nor tell the peer.
    pub fn disconnect(&mut self, registry: &Registry) {
        let _ = match &mut self.stream {
            Some(Stream::Tcp(stream)) => {
                let _ = registry.deregister(stream);
                stream.shutdown(Shutdown::Both)
            }
            Some(Stream::Unix(stream)) => {
                let _ = registry.deregister(stream);
                stream.shutdown(Shutdown::Both)
            }
            None => Ok(()),
        };
        self.stream = None;
    }
}
