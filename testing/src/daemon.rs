//! A session daemon that belongs to one test.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::not_run::missing;
use crate::private::{become_user, command, end};
use crate::{CommandInTime as _, DEADLINE, wait_until};

/// How long a daemon may take to end.
const SHUTDOWN: Duration = Duration::from_secs(20);

/// A session daemon that nobody else uses, ended when it is dropped.
///
/// LTTng finds its daemon through `LTTNG_HOME`, except as root, where there is one daemon for the machine.
/// So as root every process of a session runs in a user namespace in which it is not root.
#[derive(Debug)]
pub struct Daemon {
    process: Child,
    home: TempDir,
    variables: Vec<(String, String)>,
    /// What makes its namespaces differ from the machine's.
    setup: Option<String>,
}

impl Daemon {
    /// Starts a daemon and waits until it takes commands and programs.
    pub fn start() -> Daemon {
        Daemon::start_with(&[])
    }

    /// Starts a daemon that has these variables in its environment, as have the programs that it traces.
    pub fn start_with(variables: &[(&str, &str)]) -> Daemon {
        Daemon::start_as(None, variables)
    }

    /// Starts a daemon on a machine of another name: in a namespace in which the host is called so.
    pub fn start_on(hostname: &str) -> Daemon {
        Daemon::start_as(Some(format!("hostname {hostname}")), &[])
    }

    /// Starts a daemon that has this much shared memory for its buffers, in KiB.
    pub fn start_with_shared_memory(kilobytes: u32) -> Daemon {
        Daemon::start_as(Some(format!("mount -t tmpfs -o size={kilobytes}k none /dev/shm")), &[])
    }

    fn start_as(setup: Option<String>, variables: &[(&str, &str)]) -> Daemon {
        // The sockets below it may have paths of at most 108 bytes.
        let home = tempfile::Builder::new().prefix("lttng-").tempdir_in("/tmp").expect("a temporary folder");
        let variables: Vec<_> =
            variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let process = spawn(home.path(), &variables, setup.as_deref());
        let mut daemon = Daemon { process, home, variables, setup };
        daemon.wait_until_ready();
        daemon
    }

    /// Ends the daemon as `systemctl stop` would. One that is still there after 20 seconds is killed, which is said on
    /// standard error: LTTng 2.13 sometimes waits forever for its own sessions.
    pub fn stop(&mut self) {
        end(&mut self.process, Signal::TERM, SHUTDOWN);
    }

    /// Ends the daemon as a crash would, without a chance to clean up.
    pub fn kill(&mut self) {
        end(&mut self.process, Signal::KILL, DEADLINE);
    }

    /// Starts another daemon in the place of one that was stopped or killed.
    pub fn restart(&mut self) {
        self.process = spawn(self.home.path(), &self.variables, self.setup.as_deref());
        self.wait_until_ready();
    }

    /// A folder for whatever the test needs; it goes with the daemon.
    pub fn folder(&self) -> &Path {
        self.home.path()
    }

    /// A command that runs a program where this daemon traces it.
    ///
    /// The program's start-up waits until the daemon knows it, so no event is lost at its beginning.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        command(program.as_ref(), self.home.path(), &self.variables)
    }

    /// Runs a program where this daemon traces it, to its end before [`DEADLINE`], and returns what it prints.
    pub fn run<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = S>,
    ) -> String {
        // The program may be one that is gone when it is dropped.
        self.command(program.as_ref()).args(arguments).succeed()
    }

    /// Runs `lttng` with these arguments and returns what it prints.
    pub fn lttng<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        self.run("lttng", ["--no-sessiond".into()].into_iter().chain(arguments))
    }

    fn wait_until_ready(&mut self) {
        let application_socket = self.home.path().join(".lttng/lttng-ust-sock-8");
        wait_until("the session daemon is ready", || {
            if let Some(status) = self.process.try_wait().expect("the daemon is our child") {
                panic!(
                    "lttng-sessiond ended at once: {status}; as root it needs user namespaces: \
                     if `unshare --user true` fails, run `make test`, which is another user then"
                );
            }
            let mut list = command("lttng".as_ref(), self.home.path(), &[]);
            list.args(["--no-sessiond", "list"]).stdout(Stdio::null()).stderr(Stdio::null());
            application_socket.exists() && list.status_in_time().is_ok_and(|status| status.success())
        });
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(home: &Path, variables: &[(String, String)], setup: Option<&str>) -> Child {
    let mut daemon = match setup {
        None => command("lttng-sessiond".as_ref(), home, variables),
        Some(setup) => {
            let mut daemon = command("unshare".as_ref(), home, variables);
            let script = format!("{setup} && exec {} lttng-sessiond \"$@\"", become_user());
            daemon.args(["--user", "--map-root-user", "--uts", "--mount", "sh", "-c", &script, "sh"]);
            daemon
        }
    };
    daemon
        .arg("--no-kernel")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{}", missing("lttng-sessiond", &error)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::{env, fs};

    use super::*;

    #[test]
    fn daemon_takes_no_file_in_shared_memory_from_a_user_of_the_machine() {
        let number = Daemon::start().run("id", ["-u"]).trim().to_owned();
        let owner = fs::metadata(format!("/dev/shm/lttng-ust-wait-8-{number}")).unwrap().uid();
        let users = fs::read_to_string("/etc/passwd").unwrap();
        let is_user = users.lines().any(|user| user.split(':').nth(2) == Some(&number));
        assert!(!is_user || owner.to_string() == number, "{owner} has the file of {number}");
    }

    /// In place of the real one it starts that, and then does not care for signals.
    const STUCK: &str =
        "#!/bin/sh\ntrap '' TERM\nPATH=${PATH#*:} lttng-sessiond \"$@\" &\nwhile :; do sleep 1; done\n";

    #[test]
    #[ignore = "make check: a daemon has 20 seconds to end"]
    fn daemon_that_ignores_sigterm_is_killed_with_all_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("lttng-sessiond");
        fs::write(&script, STUCK).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", folder.path().display(), env::var("PATH").unwrap());
        let mut daemon = Daemon::start_with(&[("PATH", &path)]);
        let home = daemon.folder().display().to_string();
        daemon.session().enable("any:*");
        assert!(served(&home) >= 3, "the script, the daemon and its consumer");
        daemon.stop();
        wait_until("nothing is left of it", || served(&home) == 0);
    }

    /// The number of processes with this home.
    fn served(home: &str) -> usize {
        let variable = format!("LTTNG_HOME={home}\0");
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let environments = processes.filter_map(|process| fs::read(process.path().join("environ")).ok());
        environments.filter(|text| String::from_utf8_lossy(text).contains(&variable)).count()
    }
}
