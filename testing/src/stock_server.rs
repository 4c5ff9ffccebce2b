//! A stock Redis or Valkey of the test's own, traced by the module, and a client that sees the bytes.

use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use crate::{Daemon, Program, wait_until};

/// A running server with the module; killed when it is dropped.
#[derive(Debug)]
pub struct StockServer {
    process: Child,
    /// On the loopback interface.
    pub port: u16,
    log: PathBuf,
}

impl StockServer {
    /// Starts a Redis with the module, where a daemon traces it.
    pub fn start(daemon: &Daemon, options: &[&str]) -> StockServer {
        let program = StockServer::redis(daemon.folder());
        StockServer::start_as(daemon.command(program), daemon.folder(), options)
    }

    /// The server of the package redis-tools, whose `redis-check-rdb` is a whole server if it is called so. Unlike the
    /// package redis-server it starts no service. A test asks [`need`](crate::need) for `redis-check-rdb` before.
    pub fn redis(folder: &Path) -> PathBuf {
        let link = folder.join("redis-server");
        if !link.exists() {
            let path = env::var_os("PATH").unwrap_or_default();
            let found = env::split_paths(&path)
                .map(|folder| folder.join("redis-check-rdb"))
                .find(|path| path.is_file());
            symlink(found.expect("the test has asked for it"), &link).expect("a link");
        }
        link
    }

    /// The same with another command, in a folder that its data and its log go to.
    pub fn start_as(command: Command, folder: &Path, options: &[&str]) -> StockServer {
        StockServer::start_with(command, folder, Some(&StockServer::module()), options)
    }

    /// The same with another module, or none.
    pub fn start_with(
        mut command: Command,
        folder: &Path,
        module: Option<&Path>,
        options: &[&str],
    ) -> StockServer {
        let port = free_port();
        let data = folder.join(format!("server-{port}"));
        fs::create_dir(&data).expect("a folder for its data");
        let log = data.join("log");
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir"]).arg(&data);
        command.args(["--save", "", "--enable-debug-command", "yes", "--enable-module-command", "yes"]);
        if let Some(module) = module {
            command.arg("--loadmodule").arg(module);
        }
        command.args(options);
        let process = command.stdout(File::create(&log).expect("a log")).spawn().expect("the server starts");
        let mut server = StockServer { process, port, log };
        wait_until("the server serves", || {
            let ended = server.process.try_wait().expect("it is our child");
            assert!(ended.is_none(), "the server ended at once:\n{}", server.log());
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        wait_until("the data are loaded", || server.connect().ask("PING") == "PONG");
        server
    }

    /// The module.
    pub fn module() -> PathBuf {
        Program::dynamic_library("valkey-trace-module").traced().build()
    }

    /// How long its main thread has been on a processor, and ready for one without having it; nanoseconds.
    pub fn scheduled_ns(&self) -> [u64; 2] {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", self.pid())).expect("it runs");
        let mut times = text.split_whitespace().map(|time| time.parse().expect("a time"));
        [(); 2].map(|()| times.next().expect("two times"))
    }

    /// A client.
    pub fn connect(&self) -> Connection {
        Connection::new(TcpStream::connect(("127.0.0.1", self.port)).expect("the server accepts"))
    }

    /// What the server has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("its log")
    }

    /// The lines that the module has logged.
    pub fn said(&self) -> Vec<String> {
        self.log().lines().filter_map(|line| Some(line.split_once("valkey_trace: ")?.1.to_owned())).collect()
    }

    /// Its process ID.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for StockServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A port that nobody listened on a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// A client's connection, on which replies are shown as redis-cli shows them without a terminal: elements of
/// arrays are joined by blanks, null is `(nil)`, and errors start with `-`.
#[derive(Debug)]
pub struct Connection {
    writer: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Connection {
    /// A client on this connection.
    pub fn new(stream: TcpStream) -> Self {
        for set in [TcpStream::set_read_timeout, TcpStream::set_write_timeout] {
            set(&stream, Some(Duration::from_secs(60))).expect("a timeout that is not zero");
        }
        let reader = BufReader::new(stream.try_clone().expect("a second handle"));
        Self { writer: stream, reader }
    }

    /// The client's side of the connection.
    pub fn address(&self) -> SocketAddr {
        self.writer.local_addr().expect("a connection")
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.writer.write_all(bytes.as_ref()).expect("the server reads");
    }

    /// Sends a request: words, separated by blanks.
    pub fn request(&mut self, text: &str) {
        self.send(request(&text.split(' ').collect::<Vec<_>>()));
    }

    /// Reads a reply.
    pub fn reply(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a reply within a minute");
        assert!(line.ends_with("\r\n"), "the connection ended: {line:?}");
        let line = line.trim_end();
        let (kind, rest) = line.split_at(1);
        match (kind, rest) {
            ("+" | ":", _) => rest.into(),
            ("-", _) => line.into(),
            ("$" | "*", "-1") => "(nil)".into(),
            ("$", _) => {
                let mut bytes = vec![0; rest.parse::<usize>().expect("a length") + 2];
                self.reader.read_exact(&mut bytes).expect("a whole reply");
                bytes.truncate(bytes.len() - 2);
                String::from_utf8_lossy(&bytes).into_owned()
            }
            ("*", _) => {
                let count = rest.parse().expect("a count");
                (0..count).map(|_: usize| self.reply()).collect::<Vec<_>>().join(" ")
            }
            _ => panic!("no reply: {line}"),
        }
    }

    /// Sends a request and waits for its reply.
    pub fn ask(&mut self, text: &str) -> String {
        self.request(text);
        self.reply()
    }

    /// Sends a request of words that may have blanks, and waits for its reply.
    pub fn ask_words(&mut self, words: &[&str]) -> String {
        self.send(request(words));
        self.reply()
    }

    /// A line of INFO.
    pub fn info(&mut self, name: &str) -> String {
        let text = self.ask("INFO everything");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).trim().into()
    }
}

/// A request as it is sent.
fn request(words: &[&str]) -> String {
    let mut bytes = format!("*{}\r\n", words.len());
    for word in words {
        bytes += &format!("${}\r\n{word}\r\n", word.len());
    }
    bytes
}
