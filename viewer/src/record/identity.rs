//! Processes that a run started, noted so that a later run can tell them from others that got the same ID.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Instant;

use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};

use super::owned_process::{deadline, kill, wait_until};
use super::proc::{self, Stat};

/// A process as it was when it was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub pid: u32,
    /// In ticks since this boot.
    start: u64,
    boot: String,
    executable: PathBuf,
}

/// What has become of a process.
pub enum Fate {
    Gone,
    /// It runs, and is the one that was started.
    Runs(Stat),
    /// A process of this ID and start runs, but nothing proves that it is the one that was started.
    Doubtful(Stat, &'static str),
}

impl Identity {
    /// A process that runs now.
    pub fn of(pid: u32) -> Option<Identity> {
        let stat = Stat::of(pid)?;
        let executable = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        Some(Identity { pid, start: stat.start, boot: boot()?, executable })
    }

    /// As a line of a file: the ID, the start, the boot and the executable.
    pub fn line(&self) -> String {
        format!("{} {} {} {}", self.pid, self.start, self.boot, self.executable.display())
    }

    /// Reads a line back.
    pub fn parse(line: &str) -> Option<Identity> {
        let mut words = line.splitn(4, ' ');
        let (pid, start) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Identity { pid, start, boot: words.next()?.into(), executable: words.next()?.into() })
    }

    /// Whether it runs, and is provably the same.
    pub fn fate(&self) -> Fate {
        let Some(stat) = Stat::of(self.pid).filter(|stat| stat.start == self.start) else {
            return Fate::Gone;
        };
        if boot().is_none_or(|boot| boot != self.boot) {
            return Fate::Gone;
        }
        let folder = format!("/proc/{}", self.pid);
        let owner = fs::metadata(&folder).map(|folder| folder.uid()).ok();
        if owner != Some(geteuid().as_raw()) {
            return Fate::Doubtful(stat, "it belongs to another user");
        }
        match fs::read_link(format!("{folder}/exe")) {
            Ok(executable) if executable == self.executable => Fate::Runs(stat),
            Ok(_) => Fate::Doubtful(stat, "it runs another program"),
            Err(_) => Fate::Doubtful(stat, "its program cannot be read"),
        }
    }

    /// Ends it and what it started, if it is provably the same.
    pub fn end(&self) {
        // A handle, so that the signal cannot reach a later process of the same ID.
        let Some(pid) = Pid::from_raw(self.pid as i32) else { return };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        let Fate::Runs(stat) = self.fate() else { return };
        let family = proc::descendants(self.pid);
        // A stopped process handles no signal until it continues.
        [Signal::TERM, Signal::CONT].iter().for_each(|&signal| _ = pidfd_send_signal(&handle, signal));
        let all: Vec<&Stat> = family.iter().chain([&stat]).collect();
        wait_until(Instant::now() + deadline(), || !all.iter().any(|process| process.is_alive()));
        all.into_iter().for_each(kill);
    }
}

/// The ID of this boot of the machine.
fn boot() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_noted_process_is_ended() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let noted = Identity::of(child.id()).unwrap();
        assert_eq!(Identity::parse(&noted.line()), Some(noted.clone()));
        let others = [
            Identity { start: noted.start + 1, ..noted.clone() },
            Identity { boot: "another".into(), ..noted.clone() },
            Identity { executable: "/bin/true".into(), ..noted.clone() },
        ];
        for other in others {
            assert!(!matches!(other.fate(), Fate::Runs(_)), "{other:?}");
            other.end();
            assert!(child.try_wait().unwrap().is_none(), "{other:?}");
        }
        let waiter = std::thread::spawn(move || child.wait().unwrap());
        noted.end();
        assert!(!waiter.join().unwrap().success());
        assert!(matches!(noted.fate(), Fate::Gone));
    }

    #[test]
    fn lines_that_make_no_sense_are_no_process() {
        for line in ["", "1", "1 2", "1 2 3", "x 2 3 4", "1 -2 3 4", "99999999999 2 3 4", "\u{1b}[2J"] {
            assert_eq!(Identity::parse(line), None, "{line:?}");
        }
    }
}
