//! Forked children: each sees the data as it was at the fork, and writes it somewhere.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use lttng_provider::traced;
use valkey_trace::{valkey_aof, valkey_cluster, valkey_rdb};

use crate::cluster::SlotRange;
use crate::command::{Failure, Outcome};
use crate::config::Config;
use crate::database::Database;
use crate::dump;
use crate::server::Server;
use crate::slot_copy::copy_slots;
use crate::stall::StallPoint;
use crate::system::{Exit, child_exit, fork_child, kill_child};

/// The child that runs.
pub struct Child {
    pid: u32,
    pub purpose: Purpose,
}

/// What a child writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A snapshot file.
    Snapshot,
    /// A new append-only file.
    Rewrite,
    /// The keys of some slots, to another server.
    SlotCopy,
}

/// The file of the last snapshot.
pub const SNAPSHOT: &str = "dump.rdb";

fn snapshot_file(config: &Config, pid: u32) -> PathBuf {
    config.path(&format!("temp-{pid}.rdb"))
}

fn rewritten_file(config: &Config, pid: u32) -> PathBuf {
    config.path(&format!("temp-rewriteaof-bg-{pid}.aof"))
}

/// Writes a snapshot, in the child.
fn save(config: &Config, database: &Database) -> io::Result<()> {
    let temporary = snapshot_file(config, process::id());
    let written = write_file(&temporary, database);
    StallPoint::Snapshot.reached();
    let result = written.and_then(|()| fs::rename(&temporary, config.path(SNAPSHOT)));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Refuses to start a child while another one runs.
pub fn refuse_second(server: &Server) -> Outcome {
    let Some(child) = &server.child else { return Ok(()) };
    Err(Failure::from(match child.purpose {
        Purpose::Snapshot => "ERR Background save already in progress",
        Purpose::Rewrite => "ERR Background append only file rewriting already in progress",
        Purpose::SlotCopy => "ERR Background slot copy already in progress",
    }))
}

/// Starts a child that writes a snapshot.
pub fn start_snapshot(server: &mut Server, database: &Database) -> Outcome {
    let config = &server.config;
    let pid = fork_for_snapshot(|| save(config, database));
    started(server, Purpose::Snapshot, pid)
}

#[traced(valkey_rdb::fork)]
fn fork_for_snapshot(work: impl FnOnce() -> io::Result<()>) -> io::Result<u32> {
    fork_child(work)
}

/// Starts a child that rewrites the append-only file.
pub fn start_rewrite(server: &mut Server, database: &mut Database) -> Outcome {
    // What is journalled before the fork is in the child's copy of the data, and not to be written twice.
    database.journal.enable(true);
    let policy = server.config.appendfsync;
    server.append_only.flush(&mut database.journal, policy, server.child.is_some())?;
    let config = &server.config;
    let pid = fork_for_rewrite(|| write_file(&rewritten_file(config, process::id()), database));
    started(server, Purpose::Rewrite, pid)?;
    server.append_only.begin_rewrite();
    Ok(())
}

#[traced(valkey_aof::fork)]
fn fork_for_rewrite(work: impl FnOnce() -> io::Result<()>) -> io::Result<u32> {
    fork_child(work)
}

/// Starts a child that sends the keys of some slots to another server.
pub fn start_slot_copy(
    server: &mut Server,
    database: &Database,
    slots: SlotRange,
    target: SocketAddr,
) -> Outcome {
    let pid = fork_for_slot_copy(|| copy_slots(database, slots, target));
    started(server, Purpose::SlotCopy, pid)
}

#[traced(valkey_cluster::fork)]
fn fork_for_slot_copy(work: impl FnOnce() -> io::Result<()>) -> io::Result<u32> {
    fork_child(work)
}

fn started(server: &mut Server, purpose: Purpose, pid: io::Result<u32>) -> Outcome {
    let pid = pid.map_err(|error| Failure::from(format!("ERR cannot fork: {error}")))?;
    server.child = Some(Child { pid, purpose });
    Ok(())
}

fn write_file(path: &Path, database: &Database) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    dump::write(database, &mut out, |_| true)?;
    out.into_inner()?.sync_all()
}

/// Kills the child, if there is one of this purpose, and waits for its end.
pub fn kill(server: &mut Server, purpose: Purpose) {
    if let Some(child) = server.child.take_if(|child| child.purpose == purpose) {
        kill_child(child.pid);
        let exit = loop {
            match child_exit(child.pid) {
                Some(exit) => break exit,
                None => std::thread::sleep(Duration::from_micros(100)),
            }
        };
        finish(server, &child, &exit);
    }
}

/// Handles the child's result if it has ended.
pub fn check(server: &mut Server) {
    let Some(exit) = server.child.as_ref().and_then(|child| child_exit(child.pid)) else { return };
    if let Some(child) = server.child.take() {
        finish(server, &child, &exit);
    }
}

fn finish(server: &mut Server, child: &Child, exit: &Exit) {
    let succeeded = *exit == Exit::Success;
    if !succeeded {
        eprintln!("valkey-lite: child {} failed: {exit:?}", child.pid);
    }
    match child.purpose {
        Purpose::Snapshot => {
            if let Exit::Signal(_) = exit {
                unlink_snapshot(&snapshot_file(&server.config, child.pid));
            }
            server.last_snapshot_ok = succeeded;
        }
        Purpose::Rewrite => server.last_rewrite_ok = finish_rewrite(server, child.pid, succeeded),
        Purpose::SlotCopy => server.cluster.last_copy_ok = succeeded,
    }
}

/// Switches to the rewritten file, or removes it. Returns whether it is now in use.
fn finish_rewrite(server: &mut Server, pid: u32, succeeded: bool) -> bool {
    let rewritten = rewritten_file(&server.config, pid);
    if succeeded {
        match server.append_only.finish_rewrite(&rewritten) {
            Ok(()) => return true,
            Err(error) => eprintln!("valkey-lite: cannot put {} in place: {error}", rewritten.display()),
        }
    }
    server.append_only.abandon_rewrite();
    let _ = fs::remove_file(&rewritten);
    false
}

/// Removes the file that a killed child has left, which takes long if it is large.
#[traced(valkey_rdb::rdb_unlink_temp_file)]
fn unlink_snapshot(temporary: &Path) {
    let _ = fs::remove_file(temporary);
}
