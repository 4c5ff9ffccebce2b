//! Addresses by client, so that the server is asked once for each: it answers by a system call.

use valkey_trace::valkey_commands::Protocol;

/// The number of clients whose addresses are kept. Identifiers are given out one after another and never again, so clients
/// that connect together have different places.
const PLACES: usize = 4096;

/// The longest address that is kept, as in the server.
pub const LONGEST: usize = 64;

/// How a client is connected, and from where.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    id: u64,
    /// The protocol.
    pub protocol: Protocol,
    length: u8,
    text: [u8; LONGEST],
}

impl Client {
    /// Nobody, or the server cannot tell who: recorded as a call without a connection.
    pub const UNKNOWN: Client =
        Client { id: 0, protocol: Protocol::Unlabelled(-1), length: 0, text: [0; LONGEST] };

    /// A client with its address as the server writes it: `host:port`, with brackets around a host that has colons.
    pub fn new(id: u64, protocol: Protocol, host: &[u8], port: u16) -> Client {
        let mut client = Client { id, protocol, ..Client::UNKNOWN };
        let (open, close): (&[u8], &[u8]) = if host.contains(&b':') { (b"[", b"]:") } else { (b"", b":") };
        for part in [open, host, close] {
            client.push(part);
        }
        let mut digits = [0; 5];
        let mut first = digits.len();
        let mut rest = port;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        client.push(&digits[first..]);
        client
    }

    /// The server's number for it; `None` if it is not known.
    pub fn id(&self) -> Option<u64> {
        (self.id != 0).then_some(self.id)
    }

    /// The address; empty if it is not known.
    pub fn address(&self) -> &[u8] {
        &self.text[..usize::from(self.length)]
    }

    /// Adds what fits.
    fn push(&mut self, bytes: &[u8]) {
        let from = usize::from(self.length);
        let length = bytes.len().min(LONGEST - from);
        self.text[from..from + length].copy_from_slice(&bytes[..length]);
        self.length += length as u8;
    }
}

/// The clients that were seen last.
#[derive(Debug)]
pub struct Clients(Box<[Client]>);

impl Clients {
    /// None yet.
    pub fn new() -> Clients {
        Clients(vec![Client::UNKNOWN; PLACES].into())
    }

    /// The place of a client, which `ask` fills if another one has it; `None` if the server does not know the client.
    #[inline]
    pub fn find(&mut self, id: u64, ask: impl FnOnce() -> Option<Client>) -> Option<usize> {
        let place = (id % PLACES as u64) as usize;
        if self.0[place].id != id {
            self.0[place] = ask()?;
        }
        Some(place)
    }

    /// The client at a place.
    #[inline]
    pub fn get(&self, place: usize) -> &Client {
        &self.0[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_written_as_the_server_does() {
        let address = |host: &str, port| {
            String::from_utf8(Client::new(1, Protocol::Socket, host.as_bytes(), port).address().to_vec())
                .unwrap()
        };
        assert_eq!(address("127.0.0.1", 50112), "127.0.0.1:50112");
        assert_eq!(address("::1", 65535), "[::1]:65535");
        assert_eq!(address("/run/redis.sock", 0), "/run/redis.sock:0");
        assert_eq!(address(&"x".repeat(100), 1).len(), LONGEST);
    }

    #[test]
    fn client_is_asked_for_once_until_another_takes_its_place() {
        let mut clients = Clients::new();
        let client = |id| Client::new(id, Protocol::Unix, b"host", 1);
        let place = clients.find(7, || Some(client(7))).unwrap();
        assert_eq!(clients.find(7, || panic!("it is known")), Some(place));
        assert_eq!(clients.find(7 + PLACES as u64, || None), None, "one that the server does not know");
        assert_eq!(clients.find(7, || panic!("it is still there")), Some(place));
        assert_eq!(clients.find(7 + PLACES as u64, || Some(client(7 + PLACES as u64))), Some(place));
        assert_eq!(clients.find(7, || Some(client(7))), Some(place));
    }
}
