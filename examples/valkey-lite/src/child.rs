//! Forked children: each sees the data as it was at the fork, and writes it somewhere.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::ops::RangeInclusive;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{self, ExitStatus};
use std::thread;

use valkey_trace::{valkey_aof, valkey_cluster, valkey_rdb};

use crate::cluster::slot_of;
use crate::command::{Failure, Outcome};
use crate::database::Database;
use crate::dump;
use crate::server::Server;
use crate::stall;
use crate::system::{child_exit, fork_child, kill_child};

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

/// What a child writes until it is done.
fn temporary(folder: &Path, pid: u32, extension: &str) -> PathBuf {
    folder.join(format!("temp-{pid}.{extension}"))
}

/// Starts a child that writes a snapshot.
pub fn start_snapshot(server: &mut Server, database: &Database) -> Outcome {
    let folder = server.config.path("");
    start(server, Purpose::Snapshot, || {
        let file = temporary(&folder, process::id(), "rdb");
        let written = write_file(&file, database);
        stall::SNAPSHOT.reached();
        let result = written.and_then(|()| fs::rename(&file, folder.join(SNAPSHOT)));
        if result.is_err() {
            let _ = fs::remove_file(&file);
        }
        result
    })
}

/// Starts a child that rewrites the append-only file.
pub fn start_rewrite(server: &mut Server, database: &mut Database) -> Outcome {
    // What is journalled before the fork is in the child's copy of the data, and not to be written twice.
    database.journal.enable(true);
    let policy = server.config.appendfsync;
    let flushed = server.append_only.flush(&mut database.journal, policy, server.child.is_some());
    flushed.map_err(|error| format!("ERR {error}"))?;
    let folder = server.config.path("");
    start(server, Purpose::Rewrite, || write_file(&temporary(&folder, process::id(), "aof"), database))?;
    server.append_only.begin_rewrite();
    Ok(())
}

/// Starts a child that sends the keys of some slots to another server as requests. With one error among the replies
/// the copy has failed. They are read meanwhile, on a thread, because a server stops reading from a client that
/// leaves them unread.
pub fn start_slot_copy(
    server: &mut Server,
    database: &Database,
    slots: RangeInclusive<u16>,
    target: SocketAddr,
) -> Outcome {
    start(server, Purpose::SlotCopy, || {
        let stream = TcpStream::connect(target)?;
        let replies = BufReader::new(stream.try_clone()?);
        let reader = thread::spawn(|| {
            replies.lines().try_for_each(|line| match line?.starts_with('-') {
                true => Err(io::Error::other("the target refused a key")),
                false => Ok(()),
            })
        });
        let mut out = BufWriter::new(stream);
        dump::write(database, &mut out, |key| slots.contains(&slot_of(key)))?;
        out.into_inner()?.shutdown(Shutdown::Write)?;
        reader.join().unwrap_or_else(|_| Err(io::Error::other("reading replies has panicked")))
    })
}

/// Starts a child unless another one runs.
fn start(server: &mut Server, purpose: Purpose, work: impl FnOnce() -> io::Result<()>) -> Outcome {
    if let Some(child) = &server.child {
        return Err(Failure::from(match child.purpose {
            Purpose::Snapshot => "ERR Background save already in progress",
            Purpose::Rewrite => "ERR Background append only file rewriting already in progress",
            Purpose::SlotCopy => "ERR Background slot copy already in progress",
        }));
    }
    let fork = || fork_child(work);
    let pid = match purpose {
        Purpose::Snapshot => valkey_rdb::fork::timed(fork),
        Purpose::Rewrite => valkey_aof::fork::timed(fork),
        Purpose::SlotCopy => valkey_cluster::fork::timed(fork),
    };
    let pid = pid.map_err(|error| format!("ERR cannot fork: {error}"))?;
    server.child = Some(Child { pid, purpose });
    Ok(())
}

fn write_file(path: &Path, database: &Database) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    dump::write(database, &mut out, |_| true)?;
    out.into_inner()?.sync_all()
}

/// Kills the child, if there is one and its purpose is among these.
pub fn kill(server: &mut Server, purposes: &[Purpose]) {
    if let Some(child) = server.child.take_if(|child| purposes.contains(&child.purpose)) {
        let exit = kill_child(child.pid);
        finish(server, &child, exit);
    }
}

/// Handles the child's result if it has ended.
pub fn check(server: &mut Server) {
    let Some(exit) = server.child.as_ref().and_then(|child| child_exit(child.pid)) else { return };
    if let Some(child) = server.child.take() {
        finish(server, &child, exit);
    }
}

fn finish(server: &mut Server, child: &Child, exit: ExitStatus) {
    let mut has_failed = !exit.success();
    if has_failed {
        eprintln!("valkey-lite: child {} failed: {exit}", child.pid);
    }
    let folder = server.config.path("");
    match child.purpose {
        // Removing what a killed child has left takes long if it is large.
        Purpose::Snapshot if exit.signal().is_some() => {
            let file = temporary(&folder, child.pid, "rdb");
            let _ = valkey_rdb::rdb_unlink_temp_file::timed(|| fs::remove_file(file));
        }
        Purpose::Rewrite => {
            let rewritten = temporary(&folder, child.pid, "aof");
            if let Err(error) = server.append_only.finish_rewrite(&rewritten, has_failed) {
                eprintln!("valkey-lite: cannot put {} in place: {error}", rewritten.display());
                has_failed = true;
            }
        }
        _ => {}
    }
    server.has_failed[child.purpose as usize] = has_failed;
}
