//! A small HTTP server for clients that are not trusted.
//!
//! Connections and requests in service are bounded, and each has deadlines. A client that says nothing keeps nobody away: where
//! there is no room for another connection, the one that has been silent for the longest is closed. A request that comes
//! while too many are in service is answered with 503.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::lock;

/// The most connections, and the most requests in service, at a time.
const CONNECTIONS: usize = 128;
const SERVICES: usize = 64;

/// The longest request, in bytes.
const LONGEST: usize = 8 << 10;

/// How long a client has for its request, and then for the reply.
pub const DEADLINE: Duration = Duration::from_secs(5);

/// The memory for the stack of a connection's thread.
const STACK: usize = 256 << 10;

/// A reply: its status, the type of its body, and the body.
pub struct Reply {
    pub status: &'static str,
    pub kind: &'static str,
    pub body: String,
}

/// Answers requests.
pub trait Handler: Send + Sync + 'static {
    /// Answers a GET of a target without its query; `head` is all of the request in small letters.
    fn get(&self, target: &str, head: &str) -> Reply;
}

/// The open connections.
#[derive(Default)]
struct Room {
    next: u64,
    /// Those that have not asked yet, the oldest first.
    silent: Vec<(u64, TcpStream)>,
    connections: usize,
    services: usize,
}

/// Serves connections until `is_closing` is set, which it looks at after each.
pub fn serve(listener: &TcpListener, handler: &Arc<impl Handler>, is_closing: &AtomicBool) {
    let room = Arc::new(Mutex::new(Room::default()));
    for connection in listener.incoming() {
        if is_closing.load(Ordering::Relaxed) {
            return;
        }
        // Too many open files, for example: others may be closed soon.
        let Ok(connection) = connection else {
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        let Some(number) = lock(&room).enter(&connection) else { continue };
        let (handler, of_thread) = (Arc::clone(handler), Arc::clone(&room));
        let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
            // A client that goes away or is too slow is none of our business.
            _ = answer(connection, number, &of_thread, &*handler);
            lock(&of_thread).leave(number);
        });
        if thread.is_err() {
            lock(&room).leave(number);
        }
    }
}

impl Room {
    /// Lets a connection in, if need be by closing the one that has been silent for the longest.
    fn enter(&mut self, connection: &TcpStream) -> Option<u64> {
        if self.connections >= CONNECTIONS {
            // Without a silent one, all have asked and will be answered in time.
            let (_, oldest) = (!self.silent.is_empty()).then(|| self.silent.remove(0))?;
            _ = oldest.shutdown(Shutdown::Both);
        }
        let own = connection.try_clone().ok()?;
        self.next += 1;
        self.connections += 1;
        self.silent.push((self.next, own));
        Some(self.next)
    }

    /// Notes that a connection has asked, and says whether it may be served.
    fn ask(&mut self, number: u64) -> bool {
        self.silent.retain(|(silent, _)| *silent != number);
        let may = self.services < SERVICES;
        self.services += usize::from(may);
        may
    }

    fn leave(&mut self, number: u64) {
        self.silent.retain(|(silent, _)| *silent != number);
        self.connections -= 1;
    }
}

/// Answers one request.
fn answer(
    mut connection: TcpStream,
    number: u64,
    room: &Mutex<Room>,
    handler: &dyn Handler,
) -> io::Result<()> {
    let request = request(&mut connection)?;
    let may = lock(room).ask(number);
    let plain = |status, body: &str| Reply { status, kind: "text/plain; charset=utf-8", body: body.into() };
    let head = request.as_deref().map(|request| String::from_utf8_lossy(request).to_lowercase());
    let mut words = head.as_deref().unwrap_or_default().split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let reply = match (&head, method) {
        _ if !may => plain("503 Service Unavailable", "too many requests at once\n"),
        (None, _) => plain("431 Request Header Fields Too Large", "too long\n"),
        (Some(head), "get" | "head") => handler.get(target.split('?').next().unwrap_or_default(), head),
        _ => plain("405 Method Not Allowed", "write GET\n"),
    };
    let written = write(&mut connection, &reply, method == "head");
    if may {
        lock(room).services -= 1;
    }
    // What was not read would make the system discard the reply.
    connection.shutdown(Shutdown::Write)?;
    let deadline = Instant::now() + DEADLINE / 5;
    let mut rest = [0; 1024];
    while let Ok(left) = left(deadline) {
        connection.set_read_timeout(Some(left))?;
        if connection.read(&mut rest)? == 0 {
            break;
        }
    }
    written
}

fn write(connection: &mut TcpStream, reply: &Reply, is_head: bool) -> io::Result<()> {
    let Reply { status, kind, body } = reply;
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let retry = if status.starts_with("503") { "Retry-After: 1\r\n" } else { "" };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{allow}{retry}Connection: close\r\n\r\n"
    );
    let reply = [head.as_str(), if is_head { "" } else { body }].concat();
    let deadline = Instant::now() + DEADLINE;
    let mut rest = reply.as_bytes();
    while !rest.is_empty() {
        connection.set_write_timeout(Some(left(deadline)?))?;
        let written = connection.write(rest)?;
        rest = &rest[written..];
    }
    Ok(())
}

/// The time until a deadline; fails after it.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// A request up to the empty line after its headers; none if it is too long.
fn request(connection: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let deadline = Instant::now() + DEADLINE;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if request.len() > LONGEST {
            return Ok(None);
        }
        connection.set_read_timeout(Some(left(deadline)?))?;
        match connection.read(&mut part)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            length => request.extend_from_slice(&part[..length]),
        }
    }
    Ok(Some(request))
}
