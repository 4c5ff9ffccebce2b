//! Serves metrics over HTTP to a monitor that asks now and then.
//!
//! Clients are not trusted: there are few connections at a time, and a request has a deadline and a largest size. The thread
//! that analyses computes metrics only when a client waits for them.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ltt_top::analysis::live::{Intake, LiveAnalysis, Meter, Metrics};
use ltt_top::view::live::Exposition;

use super::lock;
use crate::outcome::{Trouble, tell};

/// The most connections at a time.
const MOST: usize = 16;

/// The longest request, in bytes.
const LONGEST: usize = 8 << 10;

/// How long a client has for its request, and then for the reply.
const DEADLINE: Duration = Duration::from_secs(5);

/// How long a client waits for new figures before it gets the last ones.
const FRESH: Duration = Duration::from_secs(2);

/// A server, which ends when it is dropped.
pub struct MetricsServer {
    desk: Arc<Desk>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

/// Where clients ask, and are answered.
#[derive(Default)]
pub struct Desk {
    state: Mutex<DeskState>,
    answered: Condvar,
    is_closing: AtomicBool,
    connections: AtomicUsize,
}

#[derive(Default)]
struct DeskState {
    /// The number of questions so far, and of those that were answered.
    asked: u64,
    answered: u64,
    latest: Option<Arc<Metrics>>,
}

impl MetricsServer {
    /// Listens for clients, and says where.
    pub fn start(address: SocketAddr) -> Result<MetricsServer, Trouble> {
        let failed = |error: &io::Error| {
            let remedy = match error.kind() {
                ErrorKind::AddrInUse => "; another program listens there: choose another port",
                ErrorKind::AddrNotAvailable => "; choose an address of this machine",
                ErrorKind::PermissionDenied => "; choose a port above 1023",
                _ => "",
            };
            Trouble::Failed(format!("cannot serve metrics on {address}: {error}{remedy}"))
        };
        let listener = TcpListener::bind(address).map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?;
        let desk = Arc::<Desk>::default();
        let thread = {
            let desk = Arc::clone(&desk);
            thread::spawn(move || accept(&listener, &desk))
        };
        let readers = match address.ip().is_loopback() {
            true => "",
            false => ", for everyone who reaches this address",
        };
        tell(&format!("metrics at http://{address}/metrics{readers}"));
        Ok(MetricsServer { desk, address, thread: Some(thread) })
    }

    /// Where clients ask.
    pub fn desk(&self) -> Arc<Desk> {
        Arc::clone(&self.desk)
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.desk.is_closing.store(true, Ordering::Relaxed);
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        // It looks only after the next connection.
        if TcpStream::connect_timeout(&address, DEADLINE).is_ok() {
            _ = self.thread.take().map(JoinHandle::join);
        }
    }
}

impl Desk {
    /// Answers those that wait, if there are any.
    pub fn answer(&self, meter: &mut Meter, intake: &Intake<'_, LiveAnalysis>) {
        let asked = {
            let state = lock(&self.state);
            if state.asked == state.answered {
                return;
            }
            state.asked
        };
        let now = i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX);
        let (report, sessions) = (intake.report(), intake.sessions());
        let metrics = intake.with_audience(|analysis| meter.read(analysis, &report, sessions, now));
        let mut state = lock(&self.state);
        (state.answered, state.latest) = (asked, Some(Arc::new(metrics)));
        self.answered.notify_all();
    }

    /// Asks, and waits for the answer for a while.
    fn ask(&self) -> Option<Arc<Metrics>> {
        let mut state = lock(&self.state);
        state.asked += 1;
        let number = state.asked;
        let is_open = |state: &mut DeskState| state.answered < number;
        let waited = self.answered.wait_timeout_while(state, FRESH, is_open);
        waited.unwrap_or_else(PoisonError::into_inner).0.latest.clone()
    }
}

fn accept(listener: &TcpListener, desk: &Arc<Desk>) {
    for connection in listener.incoming() {
        if desk.is_closing.load(Ordering::Relaxed) {
            return;
        }
        // Too many open files, for example: others may be closed soon.
        let Ok(connection) = connection else {
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        if desk.connections.fetch_add(1, Ordering::Relaxed) >= MOST {
            desk.connections.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let desk = Arc::clone(desk);
        thread::spawn(move || {
            // A client that goes away or is too slow is none of our business.
            _ = serve(connection, &desk);
            desk.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Answers one request.
fn serve(mut connection: TcpStream, desk: &Desk) -> io::Result<()> {
    let (status, form, body) = match request(&mut connection)? {
        None => ("431 Request Header Fields Too Large", Exposition::Prometheus, "too long\n".to_owned()),
        Some(request) => {
            let head = String::from_utf8_lossy(&request).to_lowercase();
            let mut words = head.split_whitespace();
            let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let form = match head.contains("application/openmetrics-text") {
                true => Exposition::OpenMetrics,
                false => Exposition::Prometheus,
            };
            match (method, target.split('?').next().unwrap_or_default()) {
                ("get", "/metrics") => ("200 OK", form, form.write(desk.ask().as_deref())),
                ("get", _) => ("404 Not Found", Exposition::Prometheus, "see /metrics\n".into()),
                _ => ("405 Method Not Allowed", Exposition::Prometheus, "write GET\n".into()),
            }
        }
    };
    let (kind, length) = (form.content_type(), body.len());
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let reply = [head, body].concat();
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
