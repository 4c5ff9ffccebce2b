//! Nothing piles up and nothing stays: while it records, when its output is blocked, and after it was killed.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use lttng_testing::{Daemon, must_end, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::record::{assert_nothing_left, is_recording, ltt_top, nowhere, processes};
use super::support::Running;
use crate::tracee::Tracee;

/// The number of bytes of all files in a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

fn is_empty(folder: &TempDir) -> bool {
    fs::read_dir(folder.path()).unwrap().next().is_none()
}

#[test]
fn events_that_are_watched_take_bounded_space_and_none_is_lost() {
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    let mut live = ltt_top(&daemon, &["live", "-e", "tracee:*", "--format", "json", "--interval", "50ms"]);
    live.env("TMPDIR", folder.path());
    let mut running = Running::start(live);
    running.object();
    let mut program = Tracee::start(&daemon);
    let mut largest = 0;
    for round in 1..=22 {
        // 8 KB each.
        program.emit("big", 1000);
        let seen = running.until(|object| object["trace"]["events"] == round * 1000);
        assert_eq!(seen["trace"]["lost_packets"], 0);
        largest = largest.max(size(folder.path()));
    }
    assert!(largest > 10 << 20, "{largest}");
    assert!(largest < 140 << 20, "{} MiB", largest >> 20);
    let ended = running.end_by(Signal::INT);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(is_empty(&folder), "{:?}", fs::read_dir(folder.path()).unwrap().collect::<Vec<_>>());
    drop(program);
    assert_nothing_left(&daemon);
}

#[test]
fn output_that_is_blocked_does_not_keep_it_from_cleaning_up() {
    let daemon = nowhere();
    let folder = TempDir::new().unwrap();
    let mut live = ltt_top(&daemon, &["live", "-e", "tracee:*", "--plain", "--interval", "10ms"]);
    // Nobody reads.
    let (reader, writer) = std::io::pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    let mut process = live.env("TMPDIR", folder.path()).stdout(writer).stderr(Stdio::null()).spawn().unwrap();
    wait_until("it records", || is_recording(&daemon));
    std::thread::spawn(move || std::io::Write::write_all(&mut filler, &[b'x'; 1 << 17]));
    wait_until("it waits for its reader", || {
        let place = fs::read_to_string(format!("/proc/{}/task/{0}/wchan", process.id()));
        place.is_ok_and(|place| place.contains("pipe_write"))
    });
    let mut is_asked = false;
    wait_until("it ends", || {
        if !std::mem::replace(&mut is_asked, true) {
            kill_process(Pid::from_child(&process), Signal::TERM).expect("it runs");
        }
        process.try_wait().unwrap().is_some()
    });
    drop(reader);
    assert!(is_empty(&folder));
    assert_nothing_left(&daemon);
}

#[test]
fn what_a_run_killed_with_its_keeper_has_left_is_named_and_removed_on_request() {
    let daemon = nowhere();
    for kind in ["record -o $OUT/trace", "live --plain"] {
        let (folder, output) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        // In one namespace, as for users: what a process runs is seen only there.
        let script = format!(
            "\"$LTT_TOP\" {kind} -e 'tracee:*' > /dev/null 2>&1 & RUN=$!\n\
             until lttng --no-sessiond list 2>&1 | grep -q 'ltt-top-.*active'; do sleep 0.05; done\n\
             for child in /proc/[0-9]*; do\n\
             case \"$(cat $child/stat)\" in *\") \"?\" $RUN \"*) kill -9 $RUN ${{child#/proc/}};; esac\n\
             done 2> /dev/null; wait\n\
             \"$LTT_TOP\" list 2> \"$OUT/named\"; lttng --no-sessiond list > \"$OUT/sessions\"\n\
             \"$LTT_TOP\" list --clean 2> \"$OUT/cleaned\""
        );
        let mut shell = daemon.command("bash");
        shell.args(["-c", &script]).env("OUT", output.path()).env("TMPDIR", folder.path());
        shell.env("LTT_TOP", env!("CARGO_BIN_EXE_ltt-top")).env_remove("LTTNG_UST_REGISTER_TIMEOUT");
        must_end("the script", move || shell.output().expect("it runs"));
        let read = |name: &str| fs::read_to_string(output.path().join(name)).unwrap();
        let said = read("named");
        assert!(said.contains("died and left its session ltt-top-") && said.contains("--clean"), "{said}");
        assert!(said.contains("lttng-sessiond (process "), "{said}");
        assert!(read("sessions").contains("active"), "it is only named");
        let said = read("cleaned");
        assert!(!said.contains("died") && !said.contains("left"), "{said}");
        assert!(is_empty(&folder));
        assert_nothing_left(&daemon);
    }
}

#[test]
fn session_of_a_killed_run_is_removed_from_a_daemon_of_another() {
    let daemon = Daemon::start();
    let (folder, output) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut record = ltt_top(&daemon, &["record", "-e", "tracee:*", "-o"]);
    record.arg(output.path().join("trace")).env("TMPDIR", folder.path());
    let running = Running::start(record);
    wait_until("it records", || is_recording(&daemon));
    running.signal(Signal::KILL);
    running.end();
    wait_until("its keeper has removed all", || is_empty(&folder));
    assert!(!daemon.lttng(["list"]).contains("ltt-top-"));
}

#[test]
fn daemon_that_dies_ends_it_with_status_3() {
    let daemon = nowhere();
    for tool in ["lttng-sessiond", "lttng-relayd"] {
        let live = ltt_top(&daemon, &["live", "-e", "tracee:*", "--format", "json", "--interval", "50ms"]);
        let mut running = Running::start(live);
        running.object();
        let mut program = Tracee::start(&daemon);
        program.emit("work", 10);
        running.until(|object| object["trace"]["events"] == 10);
        let (victim, _) = processes(&daemon).into_iter().find(|(_, name)| name == tool).expect("it runs");
        kill_process(Pid::from_raw(victim).unwrap(), Signal::KILL).unwrap();
        if tool == "lttng-relayd" {
            // It may come back, as far as a viewer knows.
            running.until(|object| object["sessions"][0]["state"] == "lost");
            running.signal(Signal::INT);
        }
        let ended = running.end();
        assert_eq!(ended.status, Some(3), "{ended:?}");
        assert!(ended.err.contains(&format!("ended early: {tool} died")), "{ended:?}");
        drop(program);
        assert_nothing_left(&daemon);
    }
}
