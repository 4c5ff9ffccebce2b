//! A recording session.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{CommandInTime as _, Daemon, Relay, Trace};

/// A recording session, destroyed when it is dropped.
#[derive(Debug)]
pub struct Session<'d> {
    daemon: &'d Daemon,
    name: String,
    folder: PathBuf,
}

impl<'d> Session<'d> {
    fn create(daemon: &'d Daemon, kind: &[&str]) -> Session<'d> {
        let name = next_name();
        let folder = daemon.folder().join(&name);
        let output = format!("--output={}", folder.display());
        daemon.lttng([&["create", &name, &output], kind].concat());
        Session { daemon, name, folder }
    }

    fn create_live(daemon: &'d Daemon, relay: &Relay, timer_us: u32) -> Session<'d> {
        let name = next_name();
        let [timer, url] = [format!("--live={timer_us}"), format!("--set-url={}", relay.collector_url())];
        daemon.lttng(["create", &name, &timer, &url]);
        Session { daemon, name, folder: relay.folder().to_owned() }
    }

    /// Ends the session; what it recorded may still be on its way.
    pub fn destroy(self) {
        // Not to wait: two live sessions of one daemon keep each other waiting in LTTng 2.13.
        self.daemon.lttng(["destroy", "--no-wait", &self.name]);
    }

    /// Runs a command of `lttng` on this session, e.g. `("enable-channel", ["--userspace", "small"])`.
    pub fn lttng<S: AsRef<OsStr>>(&self, command: &str, arguments: impl IntoIterator<Item = S>) -> String {
        let mut all = vec![OsStr::new(command).to_owned(), format!("--session={}", self.name).into()];
        all.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self.daemon.lttng(all)
    }

    /// Records the events with these names; `*` stands for any characters.
    pub fn enable(&self, events: &str) {
        self.enable_with(events, &[]);
    }

    /// Records the events with these names, with further options, e.g. `["--filter", "duration > 1000"]`.
    pub fn enable_with(&self, events: &str, options: &[&str]) {
        self.lttng("enable-event", [&["--userspace", events], options].concat());
    }

    /// Records no more of the events with these names.
    pub fn disable(&self, events: &str) {
        self.lttng("disable-event", ["--userspace", events]);
    }

    /// Records a context with every event, e.g. `vpid`; enable an event before, which makes the channel.
    pub fn add_context(&self, context: &str) {
        self.lttng("add-context", ["--userspace", "--type", context]);
    }

    /// Records the events with these names, each with these contexts, from now on; [`Daemon::recording`] makes such a session
    /// in a folder.
    pub fn record(&self, events: &str, contexts: &[&str]) {
        self.enable(events);
        contexts.iter().for_each(|context| self.add_context(context));
        self.start();
    }

    /// Where a viewer finds a [live session](Daemon::live_session).
    pub fn url(&self, relay: &Relay) -> String {
        format!("{}/{}", relay.viewer_url(), self.name)
    }

    /// Leaves the session to a daemon that will be killed: nothing is left to destroy.
    pub fn abandon(self) {
        std::mem::forget(self);
    }

    /// Starts recording.
    pub fn start(&self) {
        self.daemon.lttng(["start", &self.name]);
    }

    /// Stops recording, waits until all is written, and returns the trace.
    pub fn stop(&self) -> Trace {
        self.daemon.lttng(["stop", &self.name]);
        self.trace()
    }

    /// Archives what was recorded so far in a chunk of its own.
    pub fn rotate(&self) {
        self.daemon.lttng(["rotate", &self.name]);
    }

    /// Writes what a [snapshot session](Daemon::snapshot_session) has in memory.
    pub fn snapshot(&self) {
        self.daemon.lttng(["snapshot", "record", &format!("--session={}", self.name)]);
    }

    /// The name of the session.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder that the session writes to; of a live one, that of all traces of its relay.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was written so far.
    pub fn trace(&self) -> Trace {
        Trace::open(&self.folder)
    }
}

/// The sessions of a daemon.
impl Daemon {
    /// A session that writes to a folder, not started yet.
    pub fn session(&self) -> Session<'_> {
        Session::create(self, &[])
    }

    /// A session that records the events with these names.
    pub fn recording(&self, events: &[&str]) -> Session<'_> {
        self.recording_with(events, &[], &[])
    }

    /// The same with options of the events, e.g. `["--filter", "duration > 1000"]`, and contexts, e.g. `vpid`.
    pub fn recording_with(&self, events: &[&str], options: &[&str], contexts: &[&str]) -> Session<'_> {
        let session = self.session();
        events.iter().for_each(|events| session.enable_with(events, options));
        contexts.iter().for_each(|context| session.add_context(context));
        session.start();
        session
    }

    /// A session that is sent to a relay, which shows it to viewers at the latest after this many microseconds.
    pub fn live_session(&self, relay: &Relay, timer_us: u32) -> Session<'_> {
        Session::create_live(self, relay, timer_us)
    }

    /// A session that keeps the newest events in memory until a snapshot is taken.
    pub fn snapshot_session(&self) -> Session<'_> {
        Session::create(self, &["--snapshot"])
    }

    /// Runs a program to its end while a session records the events with these names. The trace goes with the
    /// daemon.
    pub fn record<S: AsRef<OsStr>>(
        &self,
        events: &[&str],
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Trace {
        let session = self.recording(events);
        self.run(program, arguments);
        session.stop()
    }
}

fn next_name() -> String {
    static CREATED: AtomicUsize = AtomicUsize::new(0);
    format!("session-{}", CREATED.fetch_add(1, Ordering::Relaxed))
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // Not `Daemon::lttng`, which panics: the daemon may have been restarted and know nothing of us.
        let mut destroy = self.daemon.command("lttng");
        destroy.args(["--no-sessiond", "destroy", "--no-wait", &self.name]);
        // A panic while panicking would end all tests of this process.
        if std::thread::panicking() {
            let _ = destroy.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        } else {
            let _ = destroy.output_in_time();
        }
    }
}
