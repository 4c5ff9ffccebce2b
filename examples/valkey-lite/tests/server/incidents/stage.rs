//! A traced server under a light load, on which something is made to go wrong.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle, available_parallelism};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lttng_testing::{Daemon, Program, Session, wait_until};

use super::oracle::Oracle;
use super::report::Report;
use crate::support::{Connection, Server};

/// Clients that ask all the time.
const CLIENTS: u64 = 4;

/// Turns before the fault, so that the loop is known to be busy.
const WARM_UP: u64 = 100;

/// The server, and the client that makes it go wrong.
pub struct Scene {
    pub server: Server,
    pub culprit: Connection,
    pub culprit_address: SocketAddr,
    /// Another server on the same machine, recorded with it.
    pub neighbour: Server,
}

impl Scene {
    /// What the culprit is told; an error is not an answer.
    pub fn ask(&mut self, request: &str) -> String {
        let reply = self.culprit.ask(request);
        assert!(!reply.starts_with('-'), "{request}: {reply}");
        reply
    }

    /// Waits until a place that was to stall has done so.
    pub fn wait_for_stall(&mut self, place: &str) {
        wait_until(&format!("{place} has stalled"), || self.ask(&format!("DEBUG STALL {place}")) == "0");
    }

    /// A set of many members.
    pub fn fill_set(&mut self, key: &str, members: usize) {
        for first in (0..members).step_by(10_000) {
            let words: Vec<String> =
                (first..first + 10_000).map(|member| format!("member:{member}")).collect();
            self.ask(&format!("SADD {key} {}", words.join(" ")));
        }
    }
}

/// What is long.
pub enum Long {
    Milliseconds(i64),
    /// Half as long as the longest interval of this label that was recorded: real work, with which a fast machine is soon
    /// done.
    HalfOf(&'static str),
}

/// What is to go wrong, and how to look at it.
pub struct Play<'a> {
    /// Options of the server.
    pub options: &'a [&'a str],
    /// What `ltt-top` takes for long.
    pub long: Long,
    /// What is done before anything is recorded.
    pub prepare: &'a dyn Fn(&mut Scene),
    /// What goes wrong.
    pub provoke: &'a dyn Fn(&mut Scene),
}

impl Default for Play<'_> {
    fn default() -> Self {
        Self { options: &[], long: Long::Milliseconds(20), prepare: &|_| {}, provoke: &|_| {} }
    }
}

/// What was recorded of a play, and what `ltt-top` makes of it.
pub struct Recording {
    pub oracle: Oracle,
    pub report: Report,
    /// What is long, in nanoseconds.
    pub threshold: i64,
    /// The time in which it went wrong: nanoseconds since 1970.
    pub begin: i64,
    pub end: i64,
    pub pid: i64,
    pub neighbour: i64,
    pub culprit: String,
}

impl Play<'_> {
    /// Records it.
    pub fn record(&self) -> Recording {
        let daemon = Daemon::start();
        let session = session(&daemon);
        let mut scene = self.start(&daemon);
        (self.prepare)(&mut scene);
        session.start();
        let load = Load::start(&scene.server);
        load.wait_for_more();
        let begin = now();
        (self.provoke)(&mut scene);
        let end = now();
        load.wait_for_more();
        load.stop();
        let trace = session.stop();
        let oracle = Oracle::new(&trace.events());
        let microseconds = match self.long {
            Long::Milliseconds(milliseconds) => milliseconds * 1000,
            Long::HalfOf(label) => (oracle.longest(label).length() / 2000).max(1),
        };
        Recording {
            oracle,
            report: Report::on(trace.folder(), microseconds),
            threshold: microseconds * 1000,
            begin,
            end,
            pid: scene.server.pid().into(),
            neighbour: scene.neighbour.pid().into(),
            culprit: scene.culprit_address.to_string(),
        }
    }

    fn start(&self, daemon: &Daemon) -> Scene {
        let program = Program::binary("valkey-lite", "valkey-lite").traced().build();
        let start = |name: &str, options: &[&str]| {
            let folder = daemon.folder().join(name);
            fs::create_dir(&folder).expect("a folder for the data");
            Server::start_as(daemon.command(&program), &folder, options)
        };
        let (server, neighbour) = (start("server", self.options), start("neighbour", &[]));
        let culprit = server.connect();
        let culprit_address = culprit.address();
        Scene { server, culprit, culprit_address, neighbour }
    }
}

/// A session that records everything that incidents are made of, with room for many events at once.
fn session(daemon: &Daemon) -> Session<'_> {
    let session = daemon.session();
    // Each processor has buffers, and several sessions share the memory of the machine.
    let processors = available_parallelism().map_or(2, usize::from).next_power_of_two();
    let size = format!("--subbuf-size={}", ((8 << 20) / processors).clamp(256 << 10, 4 << 20));
    session.lttng("enable-channel", ["--userspace", &size, "--num-subbuf=4", "large"]);
    session.enable_with("valkey_*", &["--channel=large"]);
    for context in ["vpid", "vtid", "procname"] {
        session.lttng("add-context", ["--userspace", "--channel=large", "--type", context]);
    }
    session
}

/// Clients that ask, wait for the answer and a little longer, and ask again.
struct Load {
    is_over: Arc<AtomicBool>,
    served: Arc<Vec<AtomicU64>>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn start(server: &Server) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let served: Arc<Vec<AtomicU64>> = Arc::new((0..CLIENTS).map(|_| AtomicU64::new(0)).collect());
        let client = |number: u64| {
            let mut connection = server.connect();
            let (is_over, served) = (Arc::clone(&is_over), Arc::clone(&served));
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    connection.ask("GET nothing");
                    served[number as usize].fetch_add(1, Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(1));
                }
            })
        };
        let threads = (0..CLIENTS).map(client).collect();
        Self { is_over, served, threads }
    }

    /// Waits until every client has been served some times more.
    fn wait_for_more(&self) {
        let counts = || self.served.iter().map(|count| count.load(Ordering::Relaxed)).collect::<Vec<_>>();
        let before = counts();
        let has_more = |(now, before): (&u64, &u64)| *now >= *before + WARM_UP;
        wait_until("all clients are served", || counts().iter().zip(&before).all(has_more));
    }

    fn stop(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().expect("a client ends"));
    }
}

/// Nanoseconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970").as_nanos() as i64
}
