//! A server of its own for each test, and a client that sees the bytes.
#![allow(dead_code, reason = "the benchmark uses a part of it")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use lttng_testing::{must_end, wait_until};
use tempfile::TempDir;

/// A running server with its data folder; killed when it is dropped.
pub struct Server {
    process: Child,
    pub port: u16,
    folder: PathBuf,
    /// Removed with the server, if it is the server's own.
    temporary: Option<TempDir>,
}

impl Server {
    /// Starts a server without data, in a folder that goes with it.
    pub fn temporary(options: &[&str]) -> Self {
        let folder = folder();
        let mut server = Self::start(folder.path(), options);
        server.temporary = Some(folder);
        server
    }

    /// Starts a server in a folder, and waits until it serves.
    pub fn start(folder: &Path, options: &[&str]) -> Self {
        Self::start_as(Command::new(env!("CARGO_BIN_EXE_valkey-lite")), folder, options)
    }

    /// The same with another command, such as one in which it is traced.
    pub fn start_as(mut command: Command, folder: &Path, options: &[&str]) -> Self {
        command.args(["--port", "0", "--dir"]).arg(folder).args(options);
        let mut process = command.stderr(Stdio::piped()).spawn().expect("valkey-lite starts");
        let mut messages = BufReader::new(process.stderr.take().expect("piped above"));
        let mut server = Self { process, port: 0, folder: folder.to_owned(), temporary: None };
        server.port = must_end("the server says that it is ready", move || {
            let mut seen = String::new();
            let port = loop {
                let mut line = String::new();
                messages.read_line(&mut line).expect("messages are text");
                assert!(!line.is_empty(), "the server ended at once: {seen}");
                if let Some((_, port)) = line.trim_end().split_once("ready on port ") {
                    break port.parse().expect("a port");
                }
                seen += &line;
            };
            // What it says later is of no interest, but must be read, or it would wait for a reader.
            std::thread::spawn(move || std::io::copy(&mut messages, &mut std::io::sink()));
            port
        });
        server
    }

    pub fn connect(&self) -> Connection {
        Connection::new(TcpStream::connect(("127.0.0.1", self.port)).expect("the server accepts"))
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Kills it as a crash would: no handler runs, nothing is flushed.
    pub fn kill(mut self) {
        self.process.kill().expect("it was running");
        self.process.wait().expect("it is our child");
    }

    /// Waits for its end, which something else has brought about.
    pub fn wait(mut self) -> ExitStatus {
        let mut status = None;
        wait_until("the server has ended", || {
            status = self.process.try_wait().expect("it is our child");
            status.is_some()
        });
        status.expect("it has ended")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the server says when it refuses to start.
pub fn refused(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_valkey-lite"));
    command.args(arguments);
    let output = must_end("the server refuses to start", move || command.output().expect("valkey-lite runs"));
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).expect("messages are text")
}

/// A folder for one server's data.
pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Files in the folder whose names start like this.
pub fn files_starting(folder: &Path, prefix: &str) -> Vec<String> {
    let names = fs::read_dir(folder).expect("a folder").flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(prefix)).collect()
}

/// A client's connection, on which replies are shown as redis-cli shows them without a terminal: elements of
/// arrays are joined by blanks, null is `(nil)`, and errors start with `-`.
pub struct Connection {
    writer: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
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

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.writer.write_all(bytes.as_ref()).expect("the server reads");
    }

    /// Sends bytes that the server may refuse to take to the end.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.writer.write_all(bytes.as_ref());
    }

    /// Sends a request: words, separated by blanks.
    pub fn request(&mut self, text: &str) {
        let words: Vec<_> = text.split(' ').collect();
        let mut bytes = format!("*{}\r\n", words.len());
        for word in words {
            bytes += &format!("${}\r\n{word}\r\n", word.len());
        }
        self.send(bytes);
    }

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

    /// A line of INFO.
    pub fn info(&mut self, name: &str) -> String {
        let text = self.ask("INFO");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).trim().into()
    }

    /// Whether the server has ended the connection, after whatever it still had to say.
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        // A connection reset counts: the server need not read what it has refused.
        self.reader.read_to_end(&mut rest).is_ok() || rest.is_empty()
    }

    pub fn finish_sending(&self) {
        self.writer.shutdown(Shutdown::Write).expect("a connection");
    }
}
