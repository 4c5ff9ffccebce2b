//! All of the crate's unsafe code: counting memory, and forking children.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitStatus;

use lttng_provider::{Fork, fork};

use crate::stall;

/// The child that runs.
pub struct Child {
    pub pid: u32,
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

/// Bytes allocated and not yet freed, by all threads.
pub fn used_memory() -> u64 {
    // SAFETY: asks the allocator for numbers.
    unsafe { libc::mallinfo2() }.uordblks as u64
}

/// Forks a child that sees the memory as it is now, does `work` and ends; returns its process id.
///
/// Only the calling thread lives on in the child, so a lock that another thread holds stays locked there forever. `work` must
/// therefore take no lock that other threads take: no channel to them, no database lock (the caller lends what it guards), no
/// standard output. Allocating is fine. The child leaves by `_exit`, so that nothing of the parent's world is dropped twice, and
/// dies with its parent, so that no orphan keeps the listening socket.
pub fn fork_child(work: impl FnOnce() -> io::Result<()>) -> io::Result<u32> {
    stall::FORK.reached();
    // SAFETY: the child, of which `work` is all that runs, keeps to the rules above.
    match unsafe { fork() }? {
        Fork::Child => {
            // SAFETY: plain system call that takes integers.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            // Unwinding out of here would run the parent's event loop a second time, in the child.
            let succeeded = catch_unwind(AssertUnwindSafe(work)).is_ok_and(|result| result.is_ok());
            // SAFETY: ends the process; nothing runs after it.
            unsafe { libc::_exit(i32::from(!succeeded)) }
        }
        Fork::Parent { child } => Ok(child),
    }
}

/// How a child ended, if it has; `kill` makes it end.
pub fn child_exit(pid: u32, kill: bool) -> Option<ExitStatus> {
    let (pid, mut status) = (pid as i32, 0);
    let signal = if kill { libc::SIGKILL } else { 0 };
    let options = if kill { 0 } else { libc::WNOHANG };
    // SAFETY: plain system calls; a child of ours that nobody else waits for keeps its process id, and `status` outlives them.
    let ended = unsafe { libc::kill(pid, signal) == 0 && libc::waitpid(pid, &mut status, options) == pid };
    ended.then(|| ExitStatus::from_raw(status))
}
