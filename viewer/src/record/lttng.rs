//! Runs LTTng's own tools.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::geteuid;

use super::owned_process::{OwnedProcess, deadline, wait_until};
use super::proc;
use crate::outcome::Trouble;

/// Where the daemon that serves the whole machine has its files.
const MACHINE_WIDE: &str = "/var/run/lttng";

/// How long a daemon that did not answer before has for another answer.
const SECOND_CHANCE: Duration = Duration::from_secs(2);

/// Runs `lttng` and returns what it prints; what went wrong is one line.
pub fn lttng<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Result<String, Trouble> {
    let output = output(arguments)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message").to_owned();
    Err(Trouble::Failed(format!("lttng: {}", line.trim_start_matches("Error: "))))
}

/// The names of the sessions that the session daemon has.
pub fn sessions() -> Result<Vec<String>, Trouble> {
    let listed = lttng(["--mi", "xml", "list"])?;
    let unexpected = |_| Trouble::Failed("unexpected output of `lttng list`".into());
    let document = roxmltree::Document::parse(&listed).map_err(unexpected)?;
    let sessions = document.descendants().filter(|node| node.tag_name().name() == "session");
    let name = |session: roxmltree::Node<'_, '_>| {
        session.children().find(|child| child.tag_name().name() == "name")?.text().map(str::to_owned)
    };
    Ok(sessions.filter_map(name).collect())
}

/// Whether a session daemon answers.
pub fn answers() -> Result<bool, Trouble> {
    Ok(output(["list"])?.status.success())
}

fn output<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Result<Output, Trouble> {
    static HAS_HUNG: AtomicBool = AtomicBool::new(false);
    let arguments: Vec<OsString> =
        arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
    let mut command = tool("lttng");
    command.arg("--no-sessiond").args(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process =
        OwnedProcess::spawn(&mut command, Duration::ZERO).map_err(|error| missing("lttng", &error))?;
    let [stdout, stderr] = process.pipes().map(|pipe| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            bytes
        })
    });
    let patience = if HAS_HUNG.load(Ordering::Relaxed) { SECOND_CHANCE.min(deadline()) } else { deadline() };
    let mut status = None;
    wait_until(Instant::now() + patience, || {
        status = process.ended();
        status.is_some()
    });
    let Some(status) = status else {
        HAS_HUNG.store(true, Ordering::Relaxed);
        let daemon = match daemon_pid() {
            Some(pid) => {
                format!("the session daemon (process {pid}) does not answer; {}", proc::threads(pid))
            }
            None => "no session daemon runs here".into(),
        };
        process.kill();
        let command = arguments.first().map(|command| command.to_string_lossy()).unwrap_or_default();
        let seconds = patience.as_secs_f64();
        return Err(Trouble::Failed(format!("`lttng {command}` took longer than {seconds} s: {daemon}")));
    };
    let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().unwrap_or_default());
    Ok(Output { status, stdout, stderr })
}

/// A command for one of LTTng's tools, in a separate process group: Ctrl-C must not end it before we do.
pub fn tool(name: &str) -> Command {
    let mut command = Command::new(name);
    command.process_group(0).stdin(Stdio::null());
    command
}

/// What to say if a tool cannot be run.
pub fn missing(tool: &str, error: &std::io::Error) -> Trouble {
    Trouble::Failed(match error.kind() {
        ErrorKind::NotFound => format!("{tool} is not installed: install the package lttng-tools"),
        _ => format!("cannot run {tool}: {error}"),
    })
}

/// Where a session daemon of this user has its files; that of root is the machine's.
pub fn daemon_folder() -> PathBuf {
    let home = ["LTTNG_HOME", "HOME"].iter().find_map(std::env::var_os).filter(|_| !geteuid().is_root());
    home.map_or_else(|| MACHINE_WIDE.into(), |home| PathBuf::from(home).join(".lttng"))
}

/// A file of the session daemon that `lttng` talks to: of this user's or, without one, of the machine's.
pub fn daemon_file(name: &str) -> PathBuf {
    let of_user = Some(daemon_folder().join(name));
    of_user.filter(|path| path.exists()).unwrap_or_else(|| Path::new(MACHINE_WIDE).join(name))
}

/// The process ID of the session daemon.
pub fn daemon_pid() -> Option<u32> {
    fs::read_to_string(daemon_file("lttng-sessiond.pid")).ok()?.trim().parse().ok()
}
