//! Connections: the sockets that clients connect to, and what each client sent, is owed and waits for.

use std::fmt::Display;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};

use mio::event::Source;
use mio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use mio::{Interest, Registry, Token};
use valkey_trace::valkey_commands::Protocol;

use crate::command::Command;
use crate::config::Config;
use crate::resp::{Bytes, Parser};

/// A client that leaves more bytes of replies unread than this is not served until it has read some.
pub const OUTPUT_LIMIT: usize = 1 << 20;

/// The maximum of bytes kept of further requests of a waiting client; the rest stays in its socket.
pub const INPUT_LIMIT: usize = 1 << 20;

/// A connection of either kind.
pub trait Stream: Read + Write + Source {
    /// Tells the peer that the connection is over.
    fn end(&self) -> io::Result<()>;
}

impl Stream for TcpStream {
    fn end(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Both)
    }
}

impl Stream for UnixStream {
    fn end(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Both)
    }
}

/// How a client is connected, as it is traced.
#[derive(Default)]
pub struct Route {
    /// `None`: it is not.
    pub protocol: Option<Protocol>,
    /// The client's address.
    pub peer: String,
    /// The server's address.
    pub local: String,
}

/// A client; by default a file being replayed, which is like a client without a connection.
#[derive(Default)]
pub struct Client {
    /// Its index among the clients, and its token at the poll.
    pub slot: usize,
    stream: Option<Box<dyn Stream>>,
    pub route: Route,
    pub input: Bytes,
    pub parser: Parser,
    pub output: Bytes,
    written: usize,
    /// Requests queued since MULTI.
    pub transaction: Option<Transaction>,
    /// Whether it waits for a list; its further requests wait, too.
    pub is_blocked: bool,
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

impl Client {
    /// A client whose connection the poll watches.
    pub fn new(
        slot: usize,
        (mut stream, route): (Box<dyn Stream>, Route),
        registry: &Registry,
    ) -> io::Result<Self> {
        registry.register(&mut stream, Token(slot), Interest::READABLE | Interest::WRITABLE)?;
        Ok(Self { slot, stream: Some(stream), route, ..Self::default() })
    }

    /// Whether it is a real client, and not a file being replayed.
    pub fn is_connected(&self) -> bool {
        self.stream.is_some()
    }

    /// Whether to read more now; if not, only when the client has read its replies or no longer waits.
    pub fn may_read(&self) -> bool {
        self.unwritten() < OUTPUT_LIMIT && (!self.is_blocked || self.input.len() < INPUT_LIMIT)
    }

    /// Reads once. Returns whether there may be more: a read that fills the buffer may have left something in the
    /// socket; a shorter one has emptied it, and the poll reports what comes later, except for the end of the
    /// connection, which it may have reported already.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        let Some(stream) = &mut self.stream else { return Ok(false) };
        match stream.read(buffer) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                self.input.extend_from_slice(&buffer[..length]);
                Ok(length == buffer.len() || self.has_sent_all)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Writes as much of the output as the connection takes.
    pub fn write(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        while self.written < self.output.len() {
            match stream.write(&self.output[self.written..]) {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
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

    /// Ends the connection. A forked child may hold a copy of it, so closing our own would neither take it out
    /// of the poll nor tell the peer.
    pub fn disconnect(&mut self, registry: &Registry) {
        if let Some(mut stream) = self.stream.take() {
            let _ = registry.deregister(&mut stream);
            let _ = stream.end();
        }
    }
}

/// Tokens of the listeners; those of clients are their slots.
const TCP: Token = Token(usize::MAX - 1);
const UNIX: Token = Token(usize::MAX - 2);

/// A TCP socket and, if one is configured, a UNIX socket.
pub struct Listeners {
    tcp: TcpListener,
    unix: Option<UnixListener>,
    unix_path: String,
}

impl Listeners {
    /// Opens both. With port 0 the system chooses one, which `config` then has.
    pub fn open(config: &mut Config, registry: &Registry) -> io::Result<Self> {
        let address = SocketAddr::from(([127, 0, 0, 1], config.port));
        let mut tcp = TcpListener::bind(address).map_err(|error| explain(address, error))?;
        config.port = tcp.local_addr()?.port();
        registry.register(&mut tcp, TCP, Interest::READABLE)?;
        let unix_path = config.unixsocket.clone();
        let mut unix = None;
        if !unix_path.is_empty() {
            // A socket file outlives its server and would be in the way.
            let _ = fs::remove_file(&unix_path);
            let listener = UnixListener::bind(&unix_path).map_err(|error| explain(&unix_path, error))?;
            registry.register(unix.insert(listener), UNIX, Interest::READABLE)?;
        }
        Ok(Self { tcp, unix, unix_path })
    }

    /// Whether the token is a listener's.
    pub fn has(token: Token) -> bool {
        token == TCP || token == UNIX
    }

    /// A connection of the listener that `token` stands for, if there is one.
    pub fn accept(&self, token: Token) -> io::Result<Option<(Box<dyn Stream>, Route)>> {
        let accepted: io::Result<(Box<dyn Stream>, Route)> = match (token, &self.unix) {
            (TCP, _) => self.tcp.accept().and_then(|(stream, peer)| {
                stream.set_nodelay(true)?;
                let (peer, local) = (peer.to_string(), stream.local_addr()?.to_string());
                Ok((Box::new(stream) as _, Route { protocol: Some(Protocol::Socket), peer, local }))
            }),
            (UNIX, Some(unix)) => unix.accept().map(|(stream, _)| {
                let name = format!("{}:0", self.unix_path);
                let route = Route { protocol: Some(Protocol::Unix), peer: name.clone(), local: name };
                (Box::new(stream) as _, route)
            }),
            _ => return Ok(None),
        };
        match accepted {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            other => other.map(Some),
        }
    }
}

fn explain(address: impl Display, error: io::Error) -> io::Error {
    io::Error::other(format!("cannot listen on {address}: {error}"))
}
