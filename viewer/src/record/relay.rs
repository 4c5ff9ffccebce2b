//! A relay: the one running on this machine, or else a new one.

use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use lttng_live::{Options, Url, sessions};
use tempfile::TempDir;

use super::lttng::{missing, tool};
use super::proc;
use super::process::{OwnedProcess, deadline};
use crate::outcome::Trouble;

/// A relay, with the addresses for session daemons and for viewers.
pub struct Relay {
    /// Where session daemons send to.
    pub collector: String,
    /// Where viewers connect to.
    pub viewer: Url,
    /// The process, if it was started here, and the folder that it writes to.
    _own: Option<(OwnedProcess, TempDir)>,
}

impl Relay {
    /// Finds the relay running on this machine, or starts a private one.
    pub fn find_or_start() -> Result<Relay, Trouble> {
        let viewer = Url::local();
        if sessions(&viewer, &Options::default()).is_ok() {
            return Ok(Relay { collector: "net://localhost".into(), viewer, _own: None });
        }
        let folder = TempDir::with_prefix("ltt-top-")?;
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
        let mut ports = [0; 3];
        for (port, listener) in ports.iter_mut().zip(&listeners) {
            let address = listener.as_ref().ok().and_then(|listener| listener.local_addr().ok());
            *port = address.ok_or_else(|| Trouble::Failed("this machine has no free port".into()))?.port();
        }
        drop(listeners);
        let mut command = tool("lttng-relayd");
        command.arg(format!("--output={}", folder.path().display()));
        for (kind, port) in ["control", "data", "live"].iter().zip(ports) {
            command.arg(format!("--{kind}-port=tcp://127.0.0.1:{port}"));
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let started = OwnedProcess::spawn(&mut command, deadline());
        let mut process = started.map_err(|error| missing("lttng-relayd", &error))?;
        let [control, data, live] = ports;
        let viewer = Url { relay: "127.0.0.1".into(), port: live, ..viewer };
        let collector = format!("net://127.0.0.1:{control}:{data}");
        let begin = Instant::now();
        while !ports.iter().all(|&port| TcpStream::connect(("127.0.0.1", port)).is_ok()) {
            if let Some(status) = process.ended() {
                return Err(Trouble::Failed(format!("lttng-relayd ended at once ({status})")));
            }
            if begin.elapsed() > deadline() {
                return Err(Trouble::Failed(format!(
                    "lttng-relayd was started but does not listen within {} s; {}",
                    deadline().as_secs_f64(),
                    proc::threads(process.id())
                )));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Relay { collector, viewer, _own: Some((process, folder)) })
    }
}
