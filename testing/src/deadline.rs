//! Processes with a deadline: what does not end in time is killed with all that it started, and the test fails with a
//! message that says what its threads were waiting for.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{available_parallelism, sleep, spawn};
use std::time::{Duration, Instant};

use crate::not_run::missing;
use crate::processes;

/// What takes longer than this does not end at all, on a machine that is not [busy](patience).
pub const DEADLINE: Duration = Duration::from_secs(60);

/// The deadline of what compiles a crate and its dependencies.
pub const BUILD_DEADLINE: Duration = Duration::from_secs(600);

/// A deadline on this machine as it is now: where more wants to run than there are processors, all takes longer. At most
/// ten times, so that what hangs is found on a machine that is always busy.
pub fn patience(limit: Duration) -> Duration {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default();
    let processors = available_parallelism().map_or(1, usize::from);
    limit.mul_f64((load / processors as f64).clamp(1.0, 10.0))
}

/// Commands that end before their deadline, or fail the test.
///
/// ```
/// use std::process::Command;
/// use lttng_testing::CommandInTime as _;
///
/// assert_eq!(Command::new("echo").arg("hello").succeed(), "hello\n");
/// ```
pub trait CommandInTime {
    /// As [`Command::output`], before [`DEADLINE`]. Both outputs are always captured.
    fn output_in_time(&mut self) -> io::Result<Output>;
    /// As [`Command::output`], within a time.
    fn output_within(&mut self, limit: Duration) -> io::Result<Output>;
    /// As [`Command::status`], before [`DEADLINE`].
    fn status_in_time(&mut self) -> io::Result<ExitStatus>;
    /// What it prints, if it succeeds before [`DEADLINE`]; anything else fails the test.
    fn succeed(&mut self) -> String;
    /// The same within a time.
    fn succeed_within(&mut self, limit: Duration) -> String;
}

/// Processes that end before their deadline, or fail the test.
pub trait ChildInTime: Sized {
    /// As [`Child::wait`], before [`DEADLINE`].
    fn wait_in_time(&mut self) -> io::Result<ExitStatus>;
    /// As [`Child::wait_with_output`], before [`DEADLINE`].
    fn output_in_time(self) -> io::Result<Output>;
}

impl CommandInTime for Command {
    #[track_caller]
    fn output_in_time(&mut self) -> io::Result<Output> {
        self.output_within(DEADLINE)
    }

    #[track_caller]
    fn output_within(&mut self, limit: Duration) -> io::Result<Output> {
        processes::start_with_default_signals();
        let child = self.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        output(child, &format!("{self:?}"), limit)
    }

    #[track_caller]
    fn status_in_time(&mut self) -> io::Result<ExitStatus> {
        processes::start_with_default_signals();
        let mut child = self.spawn()?;
        wait(&mut child, DEADLINE)?.map_err(|stuck| panic!("{self:?}: {stuck}"))
    }

    #[track_caller]
    fn succeed(&mut self) -> String {
        self.succeed_within(DEADLINE)
    }

    #[track_caller]
    fn succeed_within(&mut self, limit: Duration) -> String {
        let output = self.output_within(limit);
        let output = output
            .unwrap_or_else(|error| panic!("{}", missing(&self.get_program().to_string_lossy(), &error)));
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(output.status.success(), "{self:?}: {}\n{out}{err}", output.status);
        out.into_owned()
    }
}

impl ChildInTime for Child {
    #[track_caller]
    fn wait_in_time(&mut self) -> io::Result<ExitStatus> {
        // As `wait` does: a process that reads to the end of its input would never end.
        drop(self.stdin.take());
        wait(self, DEADLINE)?.map_err(|stuck| panic!("{stuck}"))
    }

    #[track_caller]
    fn output_in_time(self) -> io::Result<Output> {
        let name = format!("process {}", self.id());
        output(self, &name, DEADLINE)
    }
}

/// Waits for a process. One that takes longer is killed with all that it started; what it was doing is the error.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> io::Result<Result<ExitStatus, String>> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    while start.elapsed() < limit || start.elapsed() < patience(limit) {
        if let Some(status) = child.try_wait()? {
            return Ok(Ok(status));
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
    let threads = processes::kill_tree(child.id());
    child.wait()?;
    let seconds = start.elapsed().as_secs();
    Ok(Err(format!("no end after {seconds} s, so it was killed. Its threads:\n{threads}")))
}

#[track_caller]
fn output(mut child: Child, name: &str, limit: Duration) -> io::Result<Output> {
    drop(child.stdin.take());
    let start = Instant::now();
    let pipes = [processes::pipe(&child.stdout), processes::pipe(&child.stderr)];
    let outputs = [read(child.stdout.take()), read(child.stderr.take())];
    let status = match wait(&mut child, limit)? {
        Ok(status) => status,
        Err(stuck) => {
            let [stdout, stderr] = outputs.map(|output| {
                String::from_utf8_lossy(&output.recv_timeout(Duration::from_secs(1)).unwrap_or_default())
                    .into_owned()
            });
            panic!("{name}: {stuck}{stdout}{stderr}");
        }
    };
    // A process that it left behind may keep its output open.
    let rest = || patience(limit).saturating_sub(start.elapsed()).max(Duration::from_secs(5));
    let [stdout, stderr] = outputs.map(|output| {
        output.recv_timeout(rest()).unwrap_or_else(|_| {
            let left = processes::kill_holders(&pipes);
            panic!("{name} has ended, but what it started kept its output open and was killed:\n{left}")
        })
    });
    Ok(Output { status, stdout, stderr })
}

/// Reads all in a thread: a full pipe would stop the process.
fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait_until;
    use std::path::Path;

    fn sh(script: &str) -> Command {
        let mut sh = Command::new("sh");
        sh.arg("-c").arg(script);
        sh
    }

    #[test]
    fn process_that_ends_in_time_returns_all_it_wrote() {
        let output = sh("seq 100000; seq 100000 >&2; exit 3").output_in_time().unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert!(output.stdout.ends_with(b"\n100000\n") && output.stdout == output.stderr);
    }

    #[test]
    fn process_that_ignores_signals_is_killed_with_its_children_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut stuck = sh("trap '' TERM INT; sleep 1000 & echo $! > child; wait; sleep 1000");
        let mut child = stuck.current_dir(folder.path()).spawn().unwrap();
        let sleeping = folder.path().join("child");
        let mut id = String::new();
        wait_until("the child runs", || {
            id = std::fs::read_to_string(&sleeping).unwrap_or_default();
            id.ends_with('\n')
        });
        let message = wait(&mut child, Duration::from_millis(100)).unwrap().unwrap_err();
        let named = |name: &str| message.lines().any(|line| line.contains(name));
        assert!(named(" sh ") && named(" sleep "), "{message}");
        wait_until("nothing is left of it", || is_gone(id.trim()));
    }

    #[test]
    #[should_panic(expected = "kept its output open")]
    fn process_that_keeps_the_output_of_another_is_killed() {
        let _ = sh("sleep 1000 &").output_within(Duration::from_secs(1));
    }

    fn is_gone(id: &str) -> bool {
        let stat = std::fs::read_to_string(Path::new("/proc").join(id).join("stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    }
}
