//! The sockets that clients connect to.

use std::fmt::Display;
use std::fs;
use std::io;
use std::net::SocketAddr;

use mio::net::{TcpListener, UnixListener};
use mio::{Interest, Poll, Token};

use crate::client::{Addresses, Stream};
use crate::config::Config;

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
    pub fn open(config: &mut Config, poll: &Poll) -> io::Result<Self> {
        let address = SocketAddr::from(([127, 0, 0, 1], config.port));
        let mut tcp = TcpListener::bind(address).map_err(|error| explain(address, error))?;
        config.port = tcp.local_addr()?.port();
        poll.registry().register(&mut tcp, TCP, Interest::READABLE)?;
        let unix_path = config.unixsocket.clone();
        let unix = if unix_path.is_empty() { None } else { Some(open_unix(&unix_path, poll)?) };
        Ok(Self { tcp, unix, unix_path })
    }

    /// A connection of the listener that `token` stands for, if it is one and there is a connection.
    pub fn accept(&self, token: Token) -> io::Result<Option<(Stream, Addresses)>> {
        let accepted = match (token, &self.unix) {
            (TCP, _) => self.tcp.accept().and_then(|(stream, peer)| {
                stream.set_nodelay(true)?;
                let addresses = Addresses { peer: peer.to_string(), local: stream.local_addr()?.to_string() };
                Ok((Stream::Tcp(stream), addresses))
            }),
            (UNIX, Some(unix)) => unix.accept().map(|(stream, _)| {
                let name = format!("{}:0", self.unix_path);
                (Stream::Unix(stream), Addresses { peer: name.clone(), local: name })
            }),
            _ => return Ok(None),
        };
        match accepted {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            other => other.map(Some),
        }
    }
}

/// Whether the token is a listener's.
pub fn is_listener(token: Token) -> bool {
    token == TCP || token == UNIX
}

fn open_unix(path: &str, poll: &Poll) -> io::Result<UnixListener> {
    // A socket file outlives its server and would be in the way.
    let _ = fs::remove_file(path);
    let mut listener = UnixListener::bind(path).map_err(|error| explain(path, error))?;
    poll.registry().register(&mut listener, UNIX, Interest::READABLE)?;
    Ok(listener)
}

fn explain(address: impl Display, error: io::Error) -> io::Error {
    io::Error::other(format!("cannot listen on {address}: {error}"))
}
