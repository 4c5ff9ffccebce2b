//! Other processes, as `/proc` shows them: what a stuck one waits for, what it has started, and the end of both.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use rustix::fs::fstat;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;

/// Makes the processes that this one starts end by the signals that end processes.
///
/// In a background job of a script interrupts are ignored, under `nohup` hangups are, and a child inherits that.
/// What has a handler instead is reset when a child starts.
pub fn start_with_default_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            if ignored & (1 << (signal - 1)) != 0 {
                let always = Arc::new(AtomicBool::new(true));
                register_conditional_shutdown(signal, 128 + signal, always).expect("it can be handled");
            }
        }
    });
}

/// Kills a process and all that it started, and returns what their threads were doing, a line for each.
pub fn kill_tree(root: u32) -> String {
    let tree = tree(root);
    let threads = describe(&tree);
    kill(&tree);
    threads
}

/// Kills all that this process has started and not waited for, and returns what their threads were doing.
pub fn kill_descendants() -> String {
    let own = std::process::id();
    let left: Vec<u32> = tree(own).into_iter().filter(|&id| id != own && !is_zombie(id)).collect();
    let threads = describe(&left);
    kill(&left);
    threads
}

/// Waits for processes that have ended and became children of this one when their parents ended, a child of its own aside:
/// as long as nobody does, they seem to be there.
pub fn reap_orphans(child: u32) {
    let own = std::process::id();
    let ended = parents().into_iter().filter(|&(id, parent)| parent == own && id != child && is_zombie(id));
    for pid in ended.filter_map(|(id, _)| Pid::from_raw(id.cast_signed())) {
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// The name by which `/proc` shows a pipe.
pub(crate) fn pipe(end: &Option<impl AsFd>) -> Option<String> {
    let inode = fstat(end.as_ref()?).ok()?.st_ino;
    Some(format!("pipe:[{inode}]"))
}

/// Kills the processes that have one of these pipes open, this one aside, and returns what their threads were doing.
pub(crate) fn kill_holders(pipes: &[Option<String>]) -> String {
    let own = std::process::id();
    let holds = |&id: &u32| {
        let files = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
        files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|target| pipes.iter().flatten().any(|pipe| target.as_os_str() == pipe.as_str()))
    };
    let holders: Vec<u32> = parents().into_keys().filter(|&id| id != own).filter(holds).collect();
    let threads = describe(&holders);
    kill(&holders);
    threads
}

fn kill(processes: &[u32]) {
    for &id in processes {
        if let Some(pid) = Pid::from_raw(id.cast_signed()) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// A process and its descendants.
fn tree(root: u32) -> Vec<u32> {
    let parents = parents();
    let mut tree = vec![root];
    let mut next = 0;
    while let Some(&parent) = tree.get(next) {
        tree.extend(parents.iter().filter(|(_, of)| **of == parent).map(|(id, _)| *id));
        next += 1;
    }
    tree
}

/// All processes with their parents.
fn parents() -> BTreeMap<u32, u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| Some((id, stat(id)?.split(' ').nth(1)?.parse().ok()?))).collect()
}

/// The cells of `/proc/ID/stat` after the name: state, parent, …
fn stat(id: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.to_owned())
}

fn is_zombie(id: u32) -> bool {
    stat(id).is_none_or(|stat| stat.starts_with('Z'))
}

/// A line for each thread: its process, its name, its state, and where in the kernel it waits.
fn describe(processes: &[u32]) -> String {
    let mut text = String::new();
    for id in processes {
        let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        let mut tasks: Vec<PathBuf> = tasks.map(|task| task.path()).collect();
        tasks.sort();
        for task in tasks {
            let thread = task.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let name = line(&task, "comm");
            let status = fs::read_to_string(task.join("status")).unwrap_or_default();
            let state = status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or("gone").trim();
            let _ = writeln!(text, "  {id}/{thread} {name} {state} in {}", waits_in(&task));
        }
    }
    text
}

/// The kernel's functions where it may be seen, else the one it waits in and the number of the system call.
fn waits_in(task: &Path) -> String {
    let stack = fs::read_to_string(task.join("stack")).unwrap_or_default();
    let functions = stack.lines().filter_map(|line| line.split_whitespace().nth(1)?.split('+').next());
    let functions: Vec<_> = functions.take(4).collect();
    if !functions.is_empty() {
        return functions.join(" < ");
    }
    let call = line(task, "syscall");
    format!("{} (system call {})", line(task, "wchan"), call.split(' ').next().unwrap_or("?"))
}

fn line(task: &Path, file: &str) -> String {
    fs::read_to_string(task.join(file)).unwrap_or_default().trim().to_owned()
}
