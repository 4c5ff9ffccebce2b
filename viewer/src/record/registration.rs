//! Programs that run already register with a session daemon some time after it was started.
//!
//! LTTng-UST looks for a daemon at once only if it was waiting for one: a program that lost a daemon sleeps for 5 s first. So
//! the programs that will register are looked up in `/proc`, and waited for.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

use super::lttng::daemon_file;
use super::offering::{OfferingProcess, offering};
use super::owned_process::deadline;
use super::proc::{self, Stat};
use crate::outcome::{Trouble, tell, warn};

/// How long programs may take to register: longer than they sleep.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// After this time, say what is being waited for.
const SILENCE: Duration = Duration::from_secs(1);

/// Between one look and the next.
pub const PAUSE: Duration = Duration::from_millis(50);

/// A program that has run for longer has come to its `main`, and would have registered.
const YOUTH: Duration = Duration::from_secs(3);

/// Where programs register with a daemon.
const SOCKET: &str = "lttng-ust-sock-8";

/// Waits until every running program that is wanted and can register with the session daemon has done so, and returns what
/// all programs offer. It goes on without those that take too long, and on a signal to stop.
pub fn registered(
    is_wanted: &dyn Fn(&OfferingProcess) -> bool,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Vec<OfferingProcess>, Trouble> {
    let mut expected = traceable();
    expected
        .retain(|process| process.ids().any(|pid| is_wanted(&OfferingProcess::unknown(pid, &process.stat))));
    let begin = Instant::now();
    let mut is_told = false;
    loop {
        let offering = offering()?;
        let is_known = |process: &TraceableProcess| offering.iter().any(|known| process.is(known.pid));
        let missing: Vec<&TraceableProcess> =
            expected.iter().filter(|process| !is_known(process) && process.stat.is_alive()).collect();
        if missing.is_empty() || is_stopped() {
            return Ok(offering);
        }
        let names = || {
            let names: Vec<String> = missing.iter().map(|process| process.to_string()).collect();
            names.join(", ")
        };
        if begin.elapsed() > PATIENCE.min(deadline()) {
            warn(&format!(
                "not registered with the session daemon yet: {}; recorded from when it is",
                names()
            ));
            return Ok(offering);
        }
        if !is_told && begin.elapsed() > SILENCE {
            tell(&format!("waiting until {} registers with the session daemon", names()));
            is_told = true;
        }
        std::thread::sleep(PAUSE);
    }
}

/// The processes that began so lately that they may not have come to register.
pub fn starting() -> Vec<OfferingProcess> {
    let young = proc::pids().filter_map(Stat::of).filter(|stat| stat.age().is_some_and(|age| age < YOUTH));
    young.map(|stat| OfferingProcess::unknown(stat.pid, &stat)).collect()
}

/// Why a process offers no events, in words.
pub fn why_not(pid: u32) -> String {
    match (Stat::of(pid), fs::read_to_string(format!("/proc/{pid}/maps"))) {
        (None, _) => format!("process {pid} does not run"),
        (Some(stat), Ok(maps)) if !maps.contains("liblttng-ust.so") => {
            format!("process {pid} ({}) does not use LTTng-UST: is it built with tracepoints?", stat.name)
        }
        (Some(stat), Ok(_)) => format!(
            "process {pid} ({}) uses LTTng-UST but has not registered with this session daemon: does it run with the same \
             LTTNG_HOME?",
            stat.name
        ),
        (Some(stat), Err(_)) => {
            format!("process {pid} ({}) offers no LTTng-UST events to this user", stat.name)
        }
    }
}

/// A running program that can register with the session daemon.
struct TraceableProcess {
    stat: Stat,
    /// Its ID where it runs, which may be a container.
    inner_pid: u32,
}

impl TraceableProcess {
    fn ids(&self) -> impl Iterator<Item = u32> {
        [self.stat.pid, self.inner_pid].into_iter()
    }

    fn is(&self, pid: u32) -> bool {
        self.ids().any(|own| own == pid)
    }
}

impl std::fmt::Display for TraceableProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} ({})", self.stat.pid, self.stat.name)
    }
}

/// The running programs that can register with the session daemon. A stopped one registers when it continues.
fn traceable() -> Vec<TraceableProcess> {
    let processes = proc::pids().filter_map(TraceableProcess::of);
    processes.filter(|process| !matches!(process.stat.state, 'T' | 't')).collect()
}

/// The ID of a process where it runs, if it uses LTTng and, as far as that can be told, this session daemon: what another
/// user's process has loaded cannot be read, and not every process says which daemon it looks for.
pub fn may_register(pid: u32) -> Option<u32> {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    let is_untold = || environment(&folder).is_none();
    let may = has_listener(&folder) && (TraceableProcess::of(pid).is_some() || is_untold());
    may.then(|| proc::inner_id(&folder).unwrap_or(pid))
}

impl TraceableProcess {
    /// The process with this ID, if it can register.
    fn of(pid: u32) -> Option<TraceableProcess> {
        let socket = fs::metadata(daemon_file(SOCKET)).ok()?;
        let is_socket = |path: PathBuf| {
            fs::metadata(path).is_ok_and(|at| (at.dev(), at.ino()) == (socket.dev(), socket.ino()))
        };
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let stat = Stat::of(pid)?;
        // A child that only forked has no thread that would register it.
        if !has_listener(&folder)
            || !fs::read_to_string(folder.join("maps")).ok()?.contains("liblttng-ust.so")
        {
            return None;
        }
        let inner_pid = proc::inner_id(&folder).unwrap_or(pid);
        let reaches = sockets_of(&folder).into_iter().any(is_socket);
        reaches.then_some(TraceableProcess { stat, inner_pid })
    }
}

/// Whether a process has the threads of LTTng-UST that register it.
fn has_listener(process: &Path) -> bool {
    let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    let mut names = threads.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
    names.any(|name| name.trim_end().ends_with("-ust"))
}

/// Where a process looks for session daemons, as seen from here: that of its user and that of the machine.
fn sockets_of(process: &Path) -> [PathBuf; 2] {
    let home = match environment(process) {
        Some(variables) => {
            let value = |name| variables.iter().find_map(|(key, value)| (key == name).then(|| value.clone()));
            value("LTTNG_HOME").or_else(|| value("HOME")).unwrap_or_default()
        }
        None => env::var("HOME").unwrap_or_default(),
    };
    // Paths below its root folder: a container has another one.
    let within = |folder: &str| process.join("root").join(folder.trim_start_matches('/'));
    [within(&home).join(".lttng").join(SOCKET), within("var/run/lttng").join(SOCKET)]
}

/// The environment that a process was started with, unless it is secret or was overwritten: Redis and Valkey write their
/// title there.
fn environment(process: &Path) -> Option<Vec<(String, String)>> {
    let bytes = fs::read(process.join("environ")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let variables = text.split('\0').filter_map(|entry| entry.split_once('='));
    let variables: Vec<_> = variables.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    (!variables.is_empty()).then_some(variables)
}
