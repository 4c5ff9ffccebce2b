//! valkey-lite under load, watched while it works.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use lttng_testing::{Daemon, Program, Relay, wait_until};
use serde_json::Value;

use super::support::{Running, json, ltt_top};

/// A traced valkey-lite; dropping it ends it.
pub struct Server {
    pub process: Child,
    pub port: u16,
}

impl Server {
    /// Starts it where a daemon records it, and waits until it is ready.
    pub fn start(daemon: &Daemon) -> Server {
        let program = Program::binary("valkey-lite", "valkey-lite").traced().build();
        let mut process = daemon
            .command(program)
            .args(["--port", "0", "--dir"])
            .arg(daemon.folder())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut out = BufReader::new(process.stderr.take().expect("its errors are piped"));
        let mut line = String::new();
        wait_until("the server is ready", || {
            line.clear();
            out.read_line(&mut line).expect("it writes");
            line.contains("ready on port")
        });
        let port = line.trim().rsplit(' ').next().and_then(|port| port.parse().ok()).expect("a port");
        Server { process, port }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Sends commands and waits for their answers.
pub fn commands(port: u16, commands: &[&str], rounds: usize) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    let mut answers = BufReader::new(stream.try_clone().expect("a socket"));
    for _ in 0..rounds {
        let all: String = commands.iter().map(|command| format!("{command}\r\n")).collect();
        stream.write_all(all.as_bytes()).expect("it reads");
        for _ in commands {
            let mut line = String::new();
            answers.read_line(&mut line).expect("it answers");
            if let Some(length) =
                line.strip_prefix('$').and_then(|length| length.trim().parse::<usize>().ok())
            {
                let mut value = vec![0; length + 2];
                answers.read_exact(&mut value).expect("it answers in full");
            }
        }
    }
}

#[test]
fn server_under_load_is_summed_up_as_its_folder_is_and_its_stalls_are_told() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = daemon.live_session(&relay, 100_000);
    session.record("valkey_*", &["vpid", "vtid", "procname"]);
    let url = session.url(&relay);
    let mut running = Running::start(ltt_top(["live", &url, "--format", "json", "--interval", "100ms"]));
    running.object();
    // It starts after the viewer.
    let server = Server::start(&daemon);
    let port = server.port;
    std::thread::scope(|scope| {
        (0..4).for_each(|_| _ = scope.spawn(|| commands(port, &["SET a 1", "GET a", "INCR b"], 500)));
    });
    commands(port, &["DEBUG SLEEP 0.05"], 1);
    commands(port, &["GET a"], 200);
    let count = |object: &Value, name: &str| {
        let groups = object["groups"].as_array().expect("groups");
        let group = groups.iter().find(|group| group["key"]["name"] == name);
        group.map_or(0, |group| group["count"].as_u64().expect("a number"))
    };
    let seen = running.until(|object| count(object, "get") >= 2200);
    assert_eq!((count(&seen, "set"), count(&seen, "incr")), (2000, 2000));
    drop(server);
    session.destroy();
    let ended = running.end();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let last: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
    let top = json(ltt_top(["top"]).arg(relay.folder()));
    for part in ["trace", "groups", "hidden_groups", "notes"] {
        assert_eq!(last[part], top[part], "{part}");
    }
}
