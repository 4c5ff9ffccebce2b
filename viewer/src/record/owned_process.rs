//! Processes that are started here: each has a limit for its end, and nothing of it is left behind.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ltt_analysis::unit::parse_duration;
use rustix::process::{Pid, Signal, kill_process};

use super::proc::{self, Stat};
use crate::outcome::warn;

/// How often to look whether a process has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// How long LTTng's tools may take to start, to answer and to stop.
pub fn deadline() -> Duration {
    static DEADLINE: OnceLock<Duration> = OnceLock::new();
    *DEADLINE.get_or_init(|| {
        let given = std::env::var("LTT_TOP_DEADLINE").ok().and_then(|text| parse_duration(&text));
        let given = given.and_then(|nanoseconds| u64::try_from(nanoseconds).ok()).map(Duration::from_nanos);
        given.unwrap_or(Duration::from_secs(20))
    })
}

/// A process that was started here. Dropping it ends it and everything that it started.
pub struct OwnedProcess {
    child: Child,
    name: String,
    /// How long it may take to end.
    patience: Duration,
    has_ended: bool,
}

impl OwnedProcess {
    /// Starts a process that has this long to end when it is asked to.
    pub fn spawn(command: &mut Command, patience: Duration) -> io::Result<OwnedProcess> {
        let name = command.get_program().to_string_lossy().into_owned();
        Ok(OwnedProcess { child: command.spawn()?, name, patience, has_ended: false })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended by itself, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok().flatten();
        self.has_ended |= status.is_some();
        status
    }

    /// Its output and its errors, where they are piped.
    pub fn pipes(&mut self) -> [Option<Box<dyn Read + Send>>; 2] {
        let stdout = self.child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        let stderr = self.child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>);
        [stdout, stderr]
    }

    /// Kills it at once.
    pub fn kill(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        self.has_ended = true;
    }

    /// Asks it to end, and kills it and what it started if they do not.
    pub fn end(&mut self) {
        if self.has_ended || self.ended().is_some() {
            return;
        }
        let id = self.id();
        let mut family = proc::descendants(id);
        // A stopped process handles no signal until it continues.
        let asked = [Signal::TERM, Signal::CONT];
        asked.iter().for_each(|&signal| _ = kill_process(Pid::from_child(&self.child), signal));
        let until = Instant::now() + self.patience;
        if !wait_until(until, || self.ended().is_some()) {
            warn(&format!(
                "{} (process {id}) did not end within {} s and was killed; {}",
                self.name,
                self.patience.as_secs_f64(),
                proc::threads(id)
            ));
            family.extend(proc::descendants(id));
            self.kill();
            family.iter().for_each(kill);
        }
        // What it started is not our child, and ends soon after it if all is well.
        if !wait_until(until.max(Instant::now() + PAUSE), || !family.iter().any(Stat::is_alive)) {
            for other in family.iter().filter(|other| other.is_alive()) {
                warn(&format!(
                    "{} (process {}), which {} started, did not end and was killed; {}",
                    other.name,
                    other.pid,
                    self.name,
                    proc::threads(other.pid)
                ));
                kill(other);
            }
        }
    }
}

impl Drop for OwnedProcess {
    fn drop(&mut self) {
        self.end();
    }
}

/// Kills a process, if it is still the same.
pub fn kill(process: &Stat) {
    if process.is_alive()
        && let Some(pid) = Pid::from_raw(process.pid as i32)
    {
        _ = kill_process(pid, Signal::KILL);
    }
}

/// Waits until a condition holds, and says whether it did in time.
pub fn wait_until(until: Instant, mut condition: impl FnMut() -> bool) -> bool {
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}
