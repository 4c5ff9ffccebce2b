//! A relay that belongs to one test.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::not_run::missing;
use crate::private::{command, end};
use crate::{DEADLINE, wait_until};

/// An `lttng-relayd` that nobody else uses, ended when it is dropped.
///
/// ```
/// use lttng_testing::{Daemon, Relay};
///
/// let (relay, daemon) = (Relay::start(), Daemon::start());
/// let session = daemon.live_session(&relay, 200_000);
/// session.enable("valkey_*");
/// session.start();
/// assert!(relay.viewer_url().starts_with("net://127.0.0.1:"));
/// ```
#[derive(Debug)]
pub struct Relay {
    process: Child,
    home: TempDir,
    folder: PathBuf,
    /// Those for control, data and viewers.
    ports: [u16; 3],
}

impl Relay {
    /// Starts a relay and waits until it takes connections.
    pub fn start() -> Relay {
        let home = tempfile::Builder::new().prefix("relay-").tempdir_in("/tmp").expect("a temporary folder");
        let folder = home.path().join("traces");
        std::fs::create_dir(&folder).expect("a folder for traces");
        let ports = free_ports();
        let process = spawn(home.path(), &folder, ports);
        let mut relay = Relay { process, home, folder, ports };
        relay.wait_until_ready();
        relay
    }

    /// Where session daemons send to.
    pub fn collector_url(&self) -> String {
        let [control, data, _] = self.ports;
        format!("net://127.0.0.1:{control}:{data}")
    }

    /// Where viewers connect to.
    pub fn viewer_url(&self) -> String {
        format!("net://127.0.0.1:{}", self.viewer_port())
    }

    /// The port that viewers connect to.
    pub fn viewer_port(&self) -> u16 {
        self.ports[2]
    }

    /// The folder that all traces are written to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends the relay as a crash would.
    pub fn kill(&mut self) {
        end(&mut self.process, Signal::KILL, DEADLINE);
    }

    /// Starts another relay, on the same ports, in the place of one that was killed.
    pub fn restart(&mut self) {
        self.process = spawn(self.home.path(), &self.folder, self.ports);
        self.wait_until_ready();
    }

    /// Stops it where it is, until it is resumed.
    pub fn pause(&self) {
        kill_process(Pid::from_child(&self.process), Signal::STOP).expect("the relay is our child");
    }

    /// Lets a paused relay go on.
    pub fn resume(&self) {
        kill_process(Pid::from_child(&self.process), Signal::CONT).expect("the relay is our child");
    }

    fn wait_until_ready(&mut self) {
        let ports = self.ports;
        wait_until("the relay is ready", || {
            if let Some(status) = self.process.try_wait().expect("the relay is our child") {
                panic!("lttng-relayd ended at once: {status}");
            }
            ports.iter().all(|&port| TcpStream::connect(("127.0.0.1", port)).is_ok())
        });
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        end(&mut self.process, Signal::TERM, DEADLINE);
    }
}

/// Three ports that nobody listens on: all are taken at once, so that they differ.
fn free_ports() -> [u16; 3] {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    listeners.map(|listener| listener.local_addr().expect("it is bound").port())
}

fn spawn(home: &Path, folder: &Path, ports: [u16; 3]) -> Child {
    let mut relay = command("lttng-relayd".as_ref(), home, &[]);
    relay.arg(format!("--output={}", folder.display()));
    for (kind, port) in ["control", "data", "live"].iter().zip(ports) {
        relay.arg(format!("--{kind}-port=tcp://127.0.0.1:{port}"));
    }
    relay
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{}", missing("lttng-relayd", &error)))
}
