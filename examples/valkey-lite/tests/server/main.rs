//! The traced server, driven by clients and recorded by a stock lttng.

mod incidents;
mod traced;

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use lttng_testing::{Connection, Daemon, Program, must_end, wait_until};

/// A running server; killed when it is dropped.
struct Server {
    process: Child,
    port: u16,
    folder: PathBuf,
}

impl Server {
    /// Starts it where a daemon traces it, and waits until it serves.
    fn start(daemon: &Daemon, options: &[&str]) -> Self {
        let program = Program::binary("valkey-lite", "valkey-lite").traced().build();
        let folder = daemon.folder().join("data");
        std::fs::create_dir(&folder).expect("a folder for its data");
        let mut command = daemon.command(program);
        command.args(["--port", "0", "--dir"]).arg(&folder).args(options);
        let mut process = command.stderr(Stdio::piped()).spawn().expect("valkey-lite starts");
        let mut lines = BufReader::new(process.stderr.take().expect("piped above")).lines();
        let mut server = Self { process, port: 0, folder };
        server.port = must_end("the server says that it is ready", move || {
            let line = lines.next().expect("it says so").expect("text");
            // What it says later is of no interest, but must be read, or it would wait for a reader.
            std::thread::spawn(move || lines.for_each(drop));
            line.rsplit(' ').next().and_then(|port| port.parse().ok()).expect("a port")
        });
        server
    }

    fn connect(&self) -> Connection {
        Connection::new(TcpStream::connect(("127.0.0.1", self.port)).expect("the server accepts"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Asks for something that must not fail.
fn ask(client: &mut Connection, request: &str) -> String {
    let reply = client.ask(request);
    assert!(!reply.starts_with('-'), "{request}: {reply}");
    reply
}

fn wait_for_info(client: &mut Connection, name: &str, value: &str) {
    wait_until(&format!("INFO says {name}:{value}"), || client.info(name) == value);
}

/// Has a point of the code take longer the next time.
fn stall(client: &mut Connection, point: &str, microseconds: u64) {
    ask(client, &format!("DEBUG STALL {point} {microseconds}"));
}
