//! A private relay: whatever it writes is removed at the end.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use lttng_live::Url;

use super::owned_process::deadline;
use super::proc::{self, Stat};
use super::run::Run;
use crate::outcome::Trouble;

/// A relay, with the addresses for session daemons and for viewers.
pub struct Relay {
    /// Where session daemons send to.
    pub collector: String,
    /// Where viewers connect to.
    pub viewer: Url,
    /// Ends with the run.
    process: Stat,
}

impl Relay {
    /// Starts a relay that writes into the folder of this run.
    pub fn start(run: &Run) -> Result<Relay, Trouble> {
        let folder = run.folder().join("traces");
        fs::create_dir(&folder).map_err(|error| {
            Trouble::Failed(format!("{}: cannot create a folder: {error}", folder.display()))
        })?;
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
        let mut ports = [0; 3];
        for (port, listener) in ports.iter_mut().zip(&listeners) {
            let address = listener.as_ref().ok().and_then(|listener| listener.local_addr().ok());
            *port = address.ok_or_else(|| Trouble::Failed("this machine has no free port".into()))?.port();
        }
        drop(listeners);
        let mut arguments = vec![format!("--output={}", folder.display())];
        for (kind, port) in ["control", "data", "live"].iter().zip(ports) {
            arguments.push(format!("--{kind}-port=tcp://127.0.0.1:{port}"));
        }
        let process = run.start("lttng-relayd", &arguments)?;
        let [control, data, live] = ports;
        let viewer = Url::new("127.0.0.1").with_port(live);
        let collector = format!("net://127.0.0.1:{control}:{data}");
        let begin = Instant::now();
        while !ports.iter().all(|&port| TcpStream::connect(("127.0.0.1", port)).is_ok()) {
            if !process.is_alive() {
                return Err(Trouble::Failed("lttng-relayd ended at once".into()));
            }
            if begin.elapsed() > deadline() {
                return Err(Trouble::Failed(format!(
                    "lttng-relayd was started but does not listen within {} s; {}",
                    deadline().as_secs_f64(),
                    proc::threads(process.pid)
                )));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Relay { collector, viewer, process })
    }

    /// Why it no longer works, if it does not.
    pub fn failure(&self, run: &Run) -> Option<String> {
        let has_died = || format!("lttng-relayd died (process {})", self.process.pid);
        let is_full = || format!("the disk of {} is full", std::env::temp_dir().display());
        (!self.process.is_alive()).then(has_died).or_else(|| run.is_disk_full().then(is_full))
    }
}
