//! Several users of one session daemon: none loses events because another begins, ends or is killed, and nothing stays.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use lttng_testing::{Daemon, Random, need_namespaces, wait_until};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use super::record::{assert_nothing_left, in_folder, ltt_top, nowhere, processes};
use super::support::Running;
use crate::tracee::{Tracee, program};

/// A recording by `ltt-top record`, or by LTTng's own tools.
struct User<'d> {
    daemon: &'d Daemon,
    /// Its temporary folder, and what it records.
    folder: TempDir,
    running: Option<Running>,
    is_active: bool,
    /// The number of events that were emitted while it recorded.
    events: usize,
}

impl<'d> User<'d> {
    /// Starts to record; none if this user does it by LTTng's own tools, which start no daemon.
    fn start(daemon: &'d Daemon, is_plain: bool) -> User<'d> {
        let folder = TempDir::new().unwrap();
        let mut record = ltt_top(daemon, &["record", "-e", "tracee:*", "--no-samples", "-o"]);
        record.arg(folder.path().join("trace")).env("TMPDIR", folder.path());
        let mut user = User {
            daemon,
            running: (!is_plain).then(|| Running::start(record)),
            folder,
            is_active: false,
            events: 0,
        };
        if is_plain {
            let output = format!("--output={}", user.folder.path().join("trace").display());
            daemon.lttng(["create", &user.name(), &output]);
            daemon.lttng(["enable-event", "-u", "tracee:*", "-s", &user.name()]);
            daemon.lttng(["start", &user.name()]);
            user.is_active = true;
        }
        user
    }

    /// What its session is called.
    fn name(&self) -> String {
        let is_run = |name: &String| name.starts_with("ltt-top-");
        let names = fs::read_dir(self.folder.path()).unwrap().flatten();
        let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names
            .find(is_run)
            .unwrap_or_else(|| self.folder.path().file_name().unwrap().to_string_lossy().into_owned())
    }

    fn wait_until_active(&mut self) {
        wait_until("it records", || self.is_active || active(self.daemon).contains(&self.name()));
        self.is_active = true;
    }

    /// Ends it, or kills it. All events must be there.
    fn end(mut self, is_killed: bool) {
        let trace = self.folder.path().join("trace");
        let what = format!("killed: {is_killed}, plain: {}", self.running.is_none());
        match self.running.take() {
            None => _ = self.daemon.lttng(["destroy", &self.name()]),
            Some(running) if is_killed => {
                let name = self.name();
                running.signal(Signal::KILL);
                running.end();
                wait_until("its keeper has destroyed its session", || !active(self.daemon).contains(&name));
                wait_until("its keeper has removed its folder", || {
                    fs::read_dir(self.folder.path())
                        .unwrap()
                        .flatten()
                        .all(|entry| entry.file_name() == "trace")
                });
            }
            Some(running) => {
                let ended = running.end_by(Signal::INT);
                assert!(ended.status == Some(0) || self.events == 0, "{ended:?}");
            }
        }
        if self.events > 0 {
            // A session that was destroyed is complete only some time later.
            wait_until(&format!("all events are there ({what})"), || in_folder(&trace) == self.events);
        }
    }
}

/// The sessions that record; none without a daemon.
fn active(daemon: &Daemon) -> Vec<String> {
    let mut list = daemon.command("lttng");
    let listed = list.args(["--no-sessiond", "list"]).stderr(Stdio::null()).output().expect("it runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let active = listed.lines().filter(|line| line.contains("[active]"));
    active
        .filter_map(|line| Some(line.split_whitespace().find(|word| !word.ends_with(')'))?.to_owned()))
        .collect()
}

fn emit(daemon: &Daemon, users: &mut [User<'_>]) {
    users.iter_mut().for_each(User::wait_until_active);
    if !users.is_empty() {
        Tracee::start(daemon).emit("work", 100);
        users.iter_mut().for_each(|user| user.events += 100);
    }
}

/// Up to four users begin, end and are killed, in an order that follows from the seed; some at the same time.
fn any_order(seed: u64, steps: usize) {
    let daemon = nowhere();
    let mut random = Random::new(seed);
    let mut users: Vec<User<'_>> = Vec::new();
    for _ in 0..steps {
        for _ in 0..=random.below(2) {
            let is_end = users.len() == 4 || (!users.is_empty() && random.below(2) == 0);
            if is_end {
                let user = users.swap_remove(random.index(users.len()));
                // As often before it records as while it does.
                user.end(random.below(2) == 0);
            } else {
                let has_daemon = users.iter_mut().any(|user| user.is_active);
                users.push(User::start(&daemon, has_daemon && random.below(3) == 0));
            }
        }
        emit(&daemon, &mut users);
    }
    while let Some(user) = users.pop() {
        user.end(random.below(2) == 0);
    }
    assert_nothing_left(&daemon);
}

#[test]
fn nobody_loses_events_whoever_begins_ends_or_is_killed() {
    any_order(1, 6);
}

#[test]
#[ignore = "make check: minutes"]
fn nobody_loses_events_in_many_orders() {
    (2..12).for_each(|seed| any_order(seed, 10));
}

#[test]
fn daemon_stays_for_the_sessions_of_others_and_then_ends() {
    let daemon = nowhere();
    let mut first = User::start(&daemon, false);
    first.wait_until_active();
    let mut users = vec![User::start(&daemon, false), User::start(&daemon, true)];
    emit(&daemon, &mut users);
    let ended = first.running.take().expect("it runs").end_by(Signal::INT);
    assert!(ended.err.contains("the session daemon stays until its other sessions end"), "{ended:?}");
    emit(&daemon, &mut users);
    users.remove(0).end(false);
    emit(&daemon, &mut users);
    assert!(processes(&daemon).iter().any(|(_, name)| name == "lttng-sessiond"), "for the plain session");
    users.remove(0).end(false);
    assert_nothing_left(&daemon);
}

#[test]
fn recording_whose_daemon_dies_says_so_and_reports_what_it_has() {
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    let mut record = ltt_top(&daemon, &["record", "-e", "tracee:*", "--for", "10m", "-o"]);
    record.arg(folder.path().join("trace"));
    let running = Running::start(record);
    wait_until("it records", || !active(&daemon).is_empty());
    // More than a buffer: the rest of it goes with the daemon, and so does a description that nobody wrote down yet.
    Tracee::start(&daemon).emit("big", 2000);
    let mut reading = ltt_top(&daemon, &["info"]);
    reading.arg(folder.path().join("trace")).stdout(Stdio::null()).stderr(Stdio::null());
    wait_until("its first packets are on the disk", || reading.status().unwrap().success());
    let (victim, _) =
        processes(&daemon).into_iter().find(|(_, name)| name == "lttng-sessiond").expect("it runs");
    kill_process(Pid::from_raw(victim).unwrap(), Signal::KILL).unwrap();
    let ended = running.end();
    assert_eq!(ended.status, Some(3), "{ended:?}");
    assert!(ended.err.contains("the recording ended early: lttng-sessiond died"), "{ended:?}");
    assert!(ended.out.contains("events"), "{ended:?}");
    assert_nothing_left(&daemon);
}

#[test]
fn full_disk_is_named_with_status_3() {
    if !need_namespaces() {
        return;
    }
    let daemon = nowhere();
    let mount = TempDir::new().unwrap();
    for (size, big) in [("12m", 3000), ("1m", 1)] {
        // Of root, the file that LTTng names after user 1000 in shared memory would keep that user from recording.
        let with_little = format!(
            "mount -t tmpfs none /dev/shm && mount -t tmpfs -o size={size} none \"$DISK\" &&
             exec unshare --user --map-user=1000 --map-group=1000 \"$@\""
        );
        let mut record = daemon.command("unshare");
        record
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", &with_little, "sh"])
            .env("DISK", mount.path());
        record.arg(env!("CARGO_BIN_EXE_ltt-top")).env_remove("LTTNG_UST_REGISTER_TIMEOUT");
        record.args(["record", "-e", "tracee:*", "-o"]).arg(mount.path().join("trace"));
        record.args(["--", "sh", "-c", &format!("echo big {big} | {}", program().display())]);
        let ended = Running::start(record).end();
        assert_eq!(ended.status, Some(3), "{ended:?}");
        let full = format!("the disk of {} is full", mount.path().join("trace").display());
        assert!(ended.err.contains(&full), "{ended:?}");
        assert_nothing_left(&daemon);
    }
}

/// What `ltt-top list --clean` says with this temporary folder.
fn clean(daemon: &Daemon, folder: &Path) -> String {
    let mut list = ltt_top(daemon, &["list", "--clean"]);
    list.env("TMPDIR", folder);
    let ended = Running::start(list).end();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    ended.err
}

#[test]
fn planted_folders_are_not_believed() {
    let daemon = nowhere();
    let temporary = TempDir::new().unwrap();
    let mut bystander = Command::new("sleep").arg("600").spawn().unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", bystander.id())).unwrap();
    let start = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let line = |program: &str| format!("{} {start} {} {program}\n", bystander.id(), boot.trim());
    let dead = format!("999999999 1 {} /bin/true\n", boot.trim());
    let plant = |name: &str, mode: u32, record: &str| {
        let folder = temporary.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("processes"), record).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        folder
    };
    let record = format!("{dead}{dead}{}", line("/usr/bin/sleep"));
    // Open to others, of another user, a link, a FIFO, an old format, and a name for the terminal.
    let open = plant("ltt-top-open", 0o777, &record);
    let foreign = plant("ltt-top-other", 0o700, &record);
    if geteuid().is_root() {
        std::os::unix::fs::chown(&foreign, Some(4242), Some(4242)).unwrap();
    } else {
        fs::remove_dir_all(&foreign).unwrap();
    }
    symlink(&open, temporary.path().join("ltt-top-link")).unwrap();
    let waiting = plant("ltt-top-fifo", 0o700, "");
    fs::remove_file(waiting.join("processes")).unwrap();
    let made = Command::new("mkfifo").arg(waiting.join("processes")).status().unwrap();
    assert!(made.success());
    plant("ltt-top-old", 0o700, &format!("1 1 x\n{} {start} sleep\n", bystander.id()));
    // As ours, but not the program that was noted.
    plant("ltt-top-\u{1b}[31m", 0o700, &format!("{dead}{dead}{}", line("/usr/bin/another")));
    let said = clean(&daemon, temporary.path());
    assert!(said.contains(&format!("process {} (sleep) was left alone", bystander.id())), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
    assert!(bystander.try_wait().unwrap().is_none(), "{said}");
    assert!(open.exists() && waiting.exists(), "{said}");
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    if foreign.exists() {
        fs::remove_dir_all(&foreign).unwrap();
    }
    assert_nothing_left(&daemon);
}
