//! A private relay: whatever it writes is removed at the end.

use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use lttng_live::Url;

use super::lttng::{missing, tool};
use super::proc;
use super::process::{OwnedProcess, deadline};
use super::run_folder::RunFolder;
use crate::outcome::Trouble;

/// A relay, with the addresses for session daemons and for viewers.
pub struct Relay {
    /// Where session daemons send to.
    pub collector: String,
    /// Where viewers connect to.
    pub viewer: Url,
    /// Ends when it is dropped.
    _process: OwnedProcess,
}

impl Relay {
    /// Starts a relay that writes into the folder of this run.
    pub fn start(run: &RunFolder) -> Result<Relay, Trouble> {
        let folder = run.subfolder("traces")?;
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
        let mut ports = [0; 3];
        for (port, listener) in ports.iter_mut().zip(&listeners) {
            let address = listener.as_ref().ok().and_then(|listener| listener.local_addr().ok());
            *port = address.ok_or_else(|| Trouble::Failed("this machine has no free port".into()))?.port();
        }
        drop(listeners);
        let mut command = tool("lttng-relayd");
        command.arg(format!("--output={}", folder.display()));
        for (kind, port) in ["control", "data", "live"].iter().zip(ports) {
            command.arg(format!("--{kind}-port=tcp://127.0.0.1:{port}"));
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let started = OwnedProcess::spawn(&mut command, deadline());
        let mut process = started.map_err(|error| missing("lttng-relayd", &error))?;
        run.note(process.id())?;
        let [control, data, live] = ports;
        let viewer = Url { relay: "127.0.0.1".into(), port: live, ..Url::local() };
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
        Ok(Relay { collector, viewer, _process: process })
    }
}
