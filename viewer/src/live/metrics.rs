//! Serves metrics over HTTP to a monitor that asks now and then. The thread that analyses computes them only when a client
//! waits for them; before there is one, the sessions are said to be down.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::intake::Intake;
use crate::view::live::Exposition;
use jiff::Timestamp;
use ltt_analysis::live::{LiveAnalysis, Meter, Metrics, SessionFinding};

use super::http::{self, DEADLINE, Handler, Reply};
use super::lock;
use crate::outcome::{Trouble, tell};

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
}

#[derive(Default)]
struct DeskState {
    /// The number of questions so far, and of those that were answered.
    asked: u64,
    answered: u64,
    /// Whether somebody answers.
    is_attended: bool,
    latest: Arc<Metrics>,
}

impl MetricsServer {
    /// Listens for clients, and says where. These sessions are awaited.
    pub fn start(address: SocketAddr, awaited: &[PathBuf]) -> Result<MetricsServer, Trouble> {
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
        let awaited = awaited.iter().map(|url| SessionFinding::awaited(&url.to_string_lossy()));
        lock(&desk.state).latest = Arc::new(Metrics { sessions: awaited.collect(), ..Metrics::default() });
        let thread = {
            let desk = Arc::clone(&desk);
            thread::spawn(move || http::serve(&listener, &desk, &desk.is_closing))
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
            let mut state = lock(&self.state);
            state.is_attended = true;
            if state.asked == state.answered {
                return;
            }
            state.asked
        };
        let now = i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX);
        let (report, sessions) = (intake.report(), intake.sessions());
        let metrics = intake.with_audience(|analysis| meter.read(analysis, &report, sessions, now));
        let mut state = lock(&self.state);
        (state.answered, state.latest) = (asked, Arc::new(metrics));
        self.answered.notify_all();
    }

    /// Asks, and waits for the answer for a while.
    fn ask(&self) -> Arc<Metrics> {
        let mut state = lock(&self.state);
        if !state.is_attended {
            return Arc::clone(&state.latest);
        }
        state.asked += 1;
        let number = state.asked;
        let is_open = |state: &mut DeskState| state.answered < number;
        let waited = self.answered.wait_timeout_while(state, FRESH, is_open);
        Arc::clone(&waited.unwrap_or_else(PoisonError::into_inner).0.latest)
    }
}

impl Handler for Desk {
    fn get(&self, target: &str, head: &str) -> Reply {
        if target != "/metrics" {
            let kind = Exposition::Prometheus.content_type();
            return Reply { status: "404 Not Found", kind, body: "see /metrics\n".into() };
        }
        let form = match head.contains("application/openmetrics-text") {
            true => Exposition::OpenMetrics,
            false => Exposition::Prometheus,
        };
        Reply { status: "200 OK", kind: form.content_type(), body: form.write(&self.ask()) }
    }
}
