//! What is done to a server while clients ask.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lttng_testing::{Daemon, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use super::super::server::Server;
use super::load::{Client, now};
use super::number;

/// Something that keeps clients waiting, or seems to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing is done.
    Nothing,
    /// The process is stopped by SIGSTOP.
    Stop,
    /// DEBUG SLEEP.
    Sleep,
    /// Tracing is stopped, which keeps nobody waiting.
    Untraced,
    /// Busy loops on all cores, four on each.
    Hog,
    /// CLIENT PAUSE.
    Pause,
    /// KEYS of many keys.
    Keys,
    /// A script that counts.
    Eval,
    /// PUBLISH to many subscribers.
    Publish,
    /// SET and GET of many megabytes.
    Large,
    /// REPLICAOF: it loads the data of another server, and refuses what clients ask for meanwhile.
    Replicate,
}

impl Act {
    /// What any server does.
    pub const ALL: [Act; 4] = [Act::Stop, Act::Sleep, Act::Untraced, Act::Hog];
    /// What only a real one does.
    pub const REAL: [Act; 6] = [Act::Pause, Act::Keys, Act::Eval, Act::Publish, Act::Large, Act::Replicate];

    /// The names of the command, one of which must be the cause if it kept clients waiting; none if it is not a command.
    pub fn events(self) -> &'static [&'static str] {
        match self {
            // valkey-lite has the name of the sub-command.
            Act::Sleep => &["debug", "sleep"],
            Act::Pause => &["pause"],
            Act::Keys => &["keys"],
            Act::Eval => &["eval"],
            Act::Publish => &["publish"],
            Act::Nothing | Act::Stop | Act::Untraced | Act::Hog | Act::Large | Act::Replicate => &[],
        }
    }
}

/// What was done, and when: nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    pub act: Act,
    pub begin: i64,
    pub end: i64,
}

/// A traced server with a private daemon.
pub struct Traced {
    pub server: Server,
    pub daemon: Daemon,
    pub is_real: bool,
    subscribers: Vec<Client>,
    /// Another server, whose data it can load.
    other: Option<Server>,
    replicas: Vec<Server>,
}

impl Traced {
    /// Starts valkey-lite, or the program that `TRUTH_SERVER` names.
    pub fn start() -> Traced {
        let daemon = Daemon::start();
        let program = std::env::var_os("TRUTH_SERVER").map(PathBuf::from);
        let server = match &program {
            None => Server::start(&daemon),
            Some(program) => real_server(&daemon, program),
        };
        let mut traced = Traced {
            server,
            daemon,
            is_real: program.is_some(),
            subscribers: Vec::new(),
            other: None,
            replicas: Vec::new(),
        };
        if let Some(program) = &program {
            let other = real_server(&traced.daemon, program);
            Client::new(other.port).ask("DEBUG POPULATE 500000").expect("it answers");
            traced.other = Some(other);
            let mut client = traced.client();
            client.ask("DEBUG POPULATE 300000").expect("it answers");
            let subscribe = |_| {
                let mut client = traced.client();
                client.ask("SUBSCRIBE news").expect("it answers");
                client
            };
            traced.subscribers = (0..500).map(subscribe).collect();
            for _ in 0..number("TRUTH_REPLICAS").unwrap_or(0) {
                let replica = real_server(&traced.daemon, program);
                Client::new(replica.port)
                    .ask(&format!("REPLICAOF 127.0.0.1 {}", traced.server.port))
                    .expect("it answers");
                traced.replicas.push(replica);
            }
        }
        traced
    }

    /// Ends valkey-lite, and starts it again.
    pub fn restart(&mut self) {
        _ = self.server.process.kill();
        _ = self.server.process.wait();
        self.server = Server::start(&self.daemon);
    }

    pub fn client(&self) -> Client {
        Client::new(self.server.port)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.server.process), signal).expect("it runs");
    }

    /// Does something for about as long as it is asked to.
    pub fn act(&mut self, act: Act, length: Duration) -> Done {
        let mut client = self.client();
        let begin = now();
        let command = match act {
            Act::Stop => {
                self.signal(Signal::STOP);
                std::thread::sleep(length);
                self.signal(Signal::CONT);
                String::new()
            }
            Act::Untraced => {
                self.lttng("stop");
                std::thread::sleep(length);
                self.lttng("start");
                String::new()
            }
            Act::Hog => {
                hog(length);
                String::new()
            }
            Act::Nothing => {
                std::thread::sleep(length);
                String::new()
            }
            Act::Sleep => format!("DEBUG SLEEP {}", length.as_secs_f64()),
            Act::Pause => format!("CLIENT PAUSE {}", length.as_millis()),
            Act::Keys => "KEYS *".to_owned(),
            Act::Eval => {
                format!("EVAL \"local i = 0; while i < {} do i = i + 1 end\" 0", length.as_micros() * 50)
            }
            Act::Publish => format!("PUBLISH news {}", "x".repeat(10_000)),
            Act::Large => "GET large".to_owned(),
            Act::Replicate => {
                let port = self.other.as_ref().map_or(0, |other| other.port);
                client.ask(&format!("REPLICAOF 127.0.0.1 {port}")).expect("it answers");
                wait_until("it has loaded", || {
                    client.ask("INFO replication").is_ok_and(|info| info.contains("master_link_status:up"))
                });
                "REPLICAOF NO ONE".to_owned()
            }
        };
        if act == Act::Large {
            let size = 32 << 20;
            let header = format!("*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n${size}\r\n");
            let text = [header.as_bytes(), &vec![b'x'; size], b"\r\n"].concat();
            client.stream.write_all(&text).expect("it reads");
            client.answer().expect("it answers");
        }
        if !command.is_empty() {
            client.ask(&command).expect("it answers");
        }
        if act == Act::Pause {
            client.ask("PING").expect("it answers again");
        }
        let end = now();
        if act == Act::Publish {
            self.subscribers.iter_mut().for_each(|client| _ = client.answer().expect("it gets the news"));
        }
        Done { act, begin, end }
    }

    /// Stops or starts tracing.
    fn lttng(&self, what: &str) {
        let lttng = || {
            let mut command = self.daemon.command("lttng");
            command.arg("--no-sessiond");
            command
        };
        let listed = lttng().arg("list").output().expect("it runs");
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let session =
            listed.split_whitespace().find(|word| word.starts_with("ltt-top-")).expect("it records");
        let done = lttng().args([what, session]).output().expect("it runs");
        assert!(done.status.success(), "{done:?}");
    }
}

/// Keeps all cores busy for a time.
fn hog(length: Duration) {
    let is_over = AtomicBool::new(false);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores * 4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        std::thread::sleep(length);
        is_over.store(true, Ordering::Relaxed);
    });
}

/// A server that is not ours, on a port that nobody has.
fn real_server(daemon: &Daemon, program: &Path) -> Server {
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
    let port_text = port.to_string();
    let options = [
        "--port",
        &port_text,
        "--save",
        "",
        "--enable-debug-command",
        "yes",
        "--repl-diskless-sync-delay",
        "0",
        "--dir",
    ];
    let mut process = daemon.command(program);
    let process = process.args(options).arg(daemon.folder()).stdout(Stdio::piped()).spawn();
    let mut process = process.expect("it runs");
    let out = process.stdout.take().expect("its output is piped");
    std::thread::spawn(move || BufReader::new(out).lines().for_each(drop));
    wait_until("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    Server { process, port }
}
