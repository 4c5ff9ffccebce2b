//! A connection to a relay. Every reply has a deadline, so that a relay that stalls or trickles cannot block us.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::protocol::{self, AttachReply, IndexReply, Input, PacketReply, Request, Session, Stream, Updates};
use crate::{Error, Seek, Url};

/// A relay must send at least this many bytes a second of a long reply.
const SLOWEST: u64 = 1 << 20;

/// How much of a reply is read at a time, where it is short.
const BUFFER: usize = 16 << 10;

/// How much room is reserved for a reply before its bytes arrive.
const RESERVED: usize = 1 << 20;

/// How much of a reply is read at a time, where it is long.
const PIECE: usize = 64 << 10;

/// A connection on which one request is made at a time.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    timeout: Duration,
    /// When the reply must have arrived.
    deadline: Instant,
    /// What has arrived of the reply and has not been taken yet.
    arrived: Vec<u8>,
    taken: usize,
}

impl Connection {
    /// Connects to a relay and agrees on the protocol.
    pub fn open(url: &Url, timeout: Duration) -> Result<Connection, Error> {
        let mut failure = io::Error::new(ErrorKind::NotFound, "the host has no address");
        for address in (url.relay.as_str(), url.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, timeout) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_write_timeout(Some(timeout))?;
                    let (deadline, arrived) = (Instant::now(), Vec::new());
                    let mut connection = Connection { stream, timeout, deadline, arrived, taken: 0 };
                    connection.ask(Request::Connect)?;
                    protocol::connected(&mut connection)?;
                    return Ok(connection);
                }
                Err(error) => failure = error,
            }
        }
        Err(failure.into())
    }

    /// A handle that another thread can shut the connection down with.
    pub fn handle(&self) -> io::Result<TcpStream> {
        self.stream.try_clone()
    }

    /// The sessions that the relay has.
    pub fn sessions(&mut self) -> Result<Vec<Session>, Error> {
        self.ask(Request::List)?;
        protocol::sessions(self)
    }

    /// Attaches to a session.
    pub fn attach(&mut self, session: u64, seek: Seek) -> Result<AttachReply, Error> {
        self.ask(Request::CreateSession)?;
        protocol::created(self)?;
        self.ask(Request::Attach { session, seek })?;
        protocol::attached(self)
    }

    /// Streams that have come since the last time; `None` if the session has ended.
    pub fn new_streams(&mut self, session: u64) -> Result<Option<Vec<Stream>>, Error> {
        self.ask(Request::NewStreams { session })?;
        protocol::new_streams(self)
    }

    /// What metadata has grown by.
    pub fn metadata(&mut self, stream: u64, room: usize) -> Result<Vec<u8>, Error> {
        self.ask(Request::Metadata { stream })?;
        protocol::metadata(self, room)
    }

    /// What a stream has next.
    pub fn next_index(&mut self, stream: u64) -> Result<(IndexReply, Updates), Error> {
        self.ask(Request::NextIndex { stream })?;
        protocol::next_index(self)
    }

    /// A packet, in memory that is used again.
    pub fn packet(
        &mut self,
        stream: u64,
        offset: u64,
        length: u32,
        memory: Vec<u8>,
    ) -> Result<PacketReply, Error> {
        self.ask(Request::Packet { stream, offset, length })?;
        protocol::packet(self, length, memory)
    }

    /// Detaches from a session. Whether the relay receives that does not matter.
    pub fn detach(&mut self, session: u64) {
        _ = self.ask(Request::Detach { session });
    }

    fn ask(&mut self, request: Request) -> Result<(), Error> {
        self.deadline = Instant::now() + self.timeout;
        Ok(self.stream.write_all(&request.encode())?)
    }

    /// Reads up to the buffer's length before the deadline.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

impl Input for Connection {
    fn take_into(&mut self, mut bytes: Vec<u8>, length: usize) -> Result<Vec<u8>, Error> {
        self.deadline += Duration::from_secs(length as u64 / SLOWEST);
        if self.taken == self.arrived.len() && (1..BUFFER).contains(&length) {
            // Nothing follows a reply before the next request, so this reads no further.
            let mut arrived = std::mem::take(&mut self.arrived);
            arrived.resize(BUFFER, 0);
            let read = self.read(&mut arrived)?;
            arrived.truncate(read);
            (self.arrived, self.taken) = (arrived, 0);
        }
        let ready = (self.arrived.len() - self.taken).min(length);
        // What memory that is used again has is overwritten, and need not be cleared.
        bytes.truncate(length);
        if bytes.len() < ready {
            bytes.resize(ready, 0);
        }
        bytes[..ready].copy_from_slice(&self.arrived[self.taken..][..ready]);
        self.taken += ready;
        let mut at = ready;
        while at < length {
            if at == bytes.len() {
                // Memory is only reserved as bytes arrive, whatever length the relay claims.
                if at == bytes.capacity() {
                    bytes.reserve(RESERVED.max(at).min(length - at));
                }
                // In pieces that are still in the processor's cache when they are filled.
                bytes.resize(length.min(bytes.capacity()).min(at + PIECE), 0);
            }
            at += self.read(&mut bytes[at..])?;
        }
        Ok(bytes)
    }
}
