//! A private session.

use std::path::Path;

use super::buffers;
use super::daemon::Daemon;
use super::lttng::lttng;
use super::proc::Stat;
use super::relay::Relay;
use super::run::Run;
use super::run_folder::session_name;
use crate::outcome::{Trouble, warn};

/// The channel that events are recorded in.
const CHANNEL: &str = "ltt-top";

/// What is recorded with every event.
const CONTEXTS: [&str; 3] = ["vpid", "vtid", "procname"];

/// How often what is recorded becomes visible, in microseconds.
const LIVE_TIMER: u32 = 200_000;

/// The disk space for the events of a session that is watched live, and its bounds for a file; in bytes.
const RING: usize = 128 << 20;
const RING_FILE: std::ops::RangeInclusive<usize> = (4 << 20)..=(16 << 20);

/// The number of files for each CPU: while the newest is written, the viewer reads the ones before.
const RING_FILES: usize = 4;

/// Options of a channel that overwrites its oldest files: a viewer needs the newest events only.
fn ring() -> [String; 2] {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let size = (RING / cpus / RING_FILES).clamp(*RING_FILE.start(), *RING_FILE.end());
    [format!("--tracefile-size={size}"), format!("--tracefile-count={RING_FILES}")]
}

/// A private session, destroyed when it is dropped.
pub struct Session {
    name: String,
    /// The process of its daemon: without that, it is gone.
    daemon: Option<Stat>,
}

/// What to record.
pub struct SessionScope<'w> {
    /// Patterns for the names of events.
    pub events: &'w [String],
    /// The processes to record; all if empty.
    pub pids: &'w [u32],
}

impl Session {
    /// A session that is recorded into a folder.
    pub fn into_folder(
        run: &Run,
        daemon: &Daemon,
        folder: &Path,
        wanted: &SessionScope<'_>,
    ) -> Result<Session, Trouble> {
        Session::create(run, daemon, &[format!("--output={}", folder.display())], &[], wanted)
    }

    /// A session that is sent to a relay.
    pub fn to_relay(
        run: &Run,
        daemon: &Daemon,
        relay: &Relay,
        wanted: &SessionScope<'_>,
    ) -> Result<Session, Trouble> {
        let kind = [format!("--live={LIVE_TIMER}"), format!("--set-url={}", relay.collector)];
        Session::create(run, daemon, &kind, &ring(), wanted)
    }

    fn create(
        run: &Run,
        daemon: &Daemon,
        kind: &[String],
        ring: &[String],
        wanted: &SessionScope<'_>,
    ) -> Result<Session, Trouble> {
        let buffers = buffers::options()?;
        let name = session_name(run.folder());
        let create = ["create".to_owned(), name.clone()];
        lttng(create.iter().chain(kind))?;
        let session = Session { name, daemon: daemon.process().cloned() };
        let options = buffers.iter().chain(ring).map(String::as_str);
        let channel: Vec<&str> = ["--userspace", CHANNEL].into_iter().chain(options).collect();
        session.lttng("enable-channel", &channel)?;
        for pid in wanted.pids {
            session.lttng("track", &["--userspace", "--vpid", &pid.to_string()])?;
        }
        for pattern in wanted.events {
            session.lttng("enable-event", &["--userspace", pattern, "--channel", CHANNEL])?;
        }
        for context in CONTEXTS {
            session.lttng("add-context", &["--userspace", "--channel", CHANNEL, "--type", context])?;
        }
        Ok(session)
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts recording.
    pub fn start(&self) -> Result<(), Trouble> {
        lttng(["start", &self.name]).map(|_| ())
    }

    /// Stops recording, and waits until all is written.
    pub fn stop(&self) -> Result<(), Trouble> {
        lttng(["stop", &self.name]).map(|_| ())
    }

    fn lttng(&self, command: &str, arguments: &[&str]) -> Result<(), Trouble> {
        let session = format!("--session={}", self.name);
        lttng([&[command, &session], arguments].concat()).map(|_| ())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Err(trouble) = lttng(["destroy", "--no-wait", &self.name])
            && self.daemon.as_ref().is_none_or(Stat::is_alive)
        {
            let name = &self.name;
            warn(&format!(
                "the session {name} may be left: {trouble}; remove it with `lttng destroy {name}`"
            ));
        }
    }
}
