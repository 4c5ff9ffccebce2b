//! Forked children: each sees the data as it was at the fork, and writes it somewhere.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{self, ExitStatus};

use valkey_trace::{valkey_aof, valkey_cluster, valkey_rdb};

use crate::database::Database;
use crate::server::Server;
use crate::stall;
use crate::system::{Child, Purpose, child_exit, fork_child};

/// What a child writes until it is done.
fn temporary(folder: &Path, pid: u32, extension: &str) -> PathBuf {
    folder.join(format!("temp-{pid}.{extension}"))
}

/// Starts a child that writes a snapshot.
pub fn start_snapshot(server: &mut Server, database: &Database) -> Result<(), String> {
    let folder = server.config.dir.clone();
    start(server, Purpose::Snapshot, || {
        let file = temporary(&folder, process::id(), "rdb");
        write_file(&file, database)?;
        stall::SNAPSHOT.reached();
        fs::rename(&file, folder.join("dump.rdb"))
    })
}

/// Starts a child that rewrites the append-only file.
pub fn start_rewrite(server: &mut Server, database: &Database) -> Result<(), String> {
    let folder = server.config.dir.clone();
    start(server, Purpose::Rewrite, || write_file(&temporary(&folder, process::id(), "aof"), database))
}

/// Starts a child that sends all keys to another server as requests, as slots are that move there.
pub fn start_slot_copy(server: &mut Server, database: &Database, target: SocketAddr) -> Result<(), String> {
    start(server, Purpose::SlotCopy, || {
        let mut stream = TcpStream::connect(target)?;
        write_requests(&mut stream, database)?;
        stream.shutdown(Shutdown::Write)?;
        // Closing a connection with unread replies could take back what was sent.
        io::copy(&mut stream, &mut io::sink()).map(drop)
    })
}

/// Starts a child unless another one runs.
fn start(server: &mut Server, purpose: Purpose, work: impl FnOnce() -> io::Result<()>) -> Result<(), String> {
    if server.child.is_some() {
        return Err("ERR a child is already in progress".into());
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
    let mut file = File::create(path)?;
    write_requests(&mut file, database)?;
    file.sync_all()
}

fn write_requests(out: impl Write, database: &Database) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    database.requests().try_for_each(|request| out.write_all(&request))?;
    out.flush()
}

/// Handles the child's result if it has ended; one whose purpose is among these is killed.
pub fn check(server: &mut Server, killed: &[Purpose]) {
    let Some(child) = server.child.take() else { return };
    match child_exit(child.pid, killed.contains(&child.purpose)) {
        Some(exit) => finish(server, &child, exit),
        None => server.child = Some(child),
    }
}

fn finish(server: &mut Server, child: &Child, exit: ExitStatus) {
    let done = match child.purpose {
        // Removing what a killed child has left takes long if it is large.
        Purpose::Snapshot if exit.signal().is_some() => {
            let file = temporary(&server.config.dir, child.pid, "rdb");
            valkey_rdb::rdb_unlink_temp_file::timed(|| fs::remove_file(file))
        }
        Purpose::Rewrite if exit.success() => {
            server.append_only.replace(&temporary(&server.config.dir, child.pid, "aof"))
        }
        _ => Ok(()),
    };
    if !exit.success() || done.is_err() {
        eprintln!("valkey-lite: child {} failed: {exit}, {done:?}", child.pid);
        server.failed_children += 1;
    }
}
