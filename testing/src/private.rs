//! Running processes where a private daemon serves them, and no other.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, getegid, geteuid, kill_process};

use crate::deadline::{self, CommandInTime as _};
use crate::processes::start_with_default_signals;

/// Where a daemon that serves the whole machine has its sockets.
const MACHINE_WIDE: &str = "/var/run/lttng";

/// A command that runs a program with this home; as root, in a user namespace in which it is not root. A daemon that
/// serves the whole machine is hidden from it: it would trace the program, too.
pub(crate) fn command(program: &OsStr, home: &Path, variables: &[(String, String)]) -> Command {
    start_with_default_signals();
    let mut command = Command::new("unshare");
    if Path::new(MACHINE_WIDE).exists() && *CAN_HIDE {
        let script = format!("{HIDE} && exec {} \"$@\"", become_user());
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]).arg(program);
    } else if geteuid().is_root() {
        command.args(become_user().split(' ').skip(1)).arg(program);
    } else {
        command = Command::new(program);
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.env("LTTNG_HOME", home).env("LTTNG_UST_REGISTER_TIMEOUT", "-1").stdin(Stdio::null());
    command
}

/// The command that ends being root in a user namespace. LTTng names a file in /dev/shm after the user's number. If root made
/// the file of a user of this machine, that user could not record until the next boot.
pub(crate) fn become_user() -> String {
    const NOBODYS: u32 = 99_999;
    let is_root = geteuid().is_root();
    let (user, group) = if is_root { (NOBODYS, NOBODYS) } else { (geteuid().as_raw(), getegid().as_raw()) };
    format!("unshare --user --map-user={user} --map-group={group}")
}

/// Whether programs of a private daemon can find no other.
pub(crate) fn hides_machine_wide_daemon() -> bool {
    !Path::new(MACHINE_WIDE).join("lttng-ust-sock-8").exists() || *CAN_HIDE
}

/// Covers the folder of its sockets by an empty one.
const HIDE: &str = "mount -t tmpfs none /var/run/lttng";

static CAN_HIDE: LazyLock<bool> = LazyLock::new(|| {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", HIDE]);
    unshare.output_in_time().is_ok_and(|output| output.status.success())
});

/// Ends a process by a signal. If it does not end in time, it is killed with all that it started; that is said on
/// standard error, because what hangs is not ours and the test may have seen all it wanted.
pub(crate) fn end(process: &mut Child, signal: Signal, limit: Duration) {
    // Once it has been waited for, its process ID may be another's.
    if let Ok(None) = process.try_wait() {
        let _ = kill_process(Pid::from_child(process), signal);
        // It may have been paused.
        let _ = kill_process(Pid::from_child(process), Signal::CONT);
        if let Ok(Err(stuck)) = deadline::wait(process, limit) {
            // Not by `eprintln!`, which libtest hides while a test passes.
            let _ = writeln!(std::io::stderr(), "process {}: {stuck}", process.id());
        }
    }
}
