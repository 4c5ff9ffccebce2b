//! A private relay: whatever it writes is removed at the end.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
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
    process: OwnedProcess,
    /// Whether it complained that its disk is full.
    is_full: Arc<AtomicBool>,
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
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let started = OwnedProcess::spawn(&mut command, deadline());
        let mut process = started.map_err(|error| missing("lttng-relayd", &error))?;
        run.note(process.id())?;
        let is_full = watch_for_full_disk(&mut process);
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
        Ok(Relay { collector, viewer, process, is_full })
    }

    /// Why it no longer works, if it does not.
    pub fn failure(&mut self) -> Option<String> {
        let has_died = self.process.ended().map(|status| format!("lttng-relayd died ({status})"));
        let is_full = self.is_full.load(Ordering::Relaxed);
        has_died
            .or_else(|| is_full.then(|| format!("the disk of {} is full", std::env::temp_dir().display())))
    }
}

/// Reads what a relay complains about; only a full disk matters.
fn watch_for_full_disk(process: &mut OwnedProcess) -> Arc<AtomicBool> {
    let is_full = Arc::new(AtomicBool::new(false));
    let ([_, errors], found) = (process.pipes(), Arc::clone(&is_full));
    thread::spawn(move || {
        let lines =
            errors.into_iter().flat_map(|errors| BufReader::new(errors).split(b'\n')).map_while(Result::ok);
        let full = b"No space left on device";
        lines.filter(|line| line.windows(full.len()).any(|part| part == full)).for_each(|_| {
            found.store(true, Ordering::Relaxed);
        });
    });
    is_full
}
