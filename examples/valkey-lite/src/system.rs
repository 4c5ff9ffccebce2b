//! All of the crate's unsafe code: counting memory, and forking children.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use lttng_provider::{Fork, fork};

use crate::stall;

/// The system's allocator, with a running total. What other languages' code allocates is not in it.
pub struct CountingAllocator;

static USED: AtomicUsize = AtomicUsize::new(0);

/// Bytes allocated and not yet freed, by all threads.
pub fn used_memory() -> u64 {
    USED.load(Relaxed) as u64
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting touches no memory of the caller.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same for both.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `memory` came from `System` through this allocator, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        USED.fetch_add(size, Relaxed);
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `memory` came from `System` through this allocator, with this layout.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// Forks a child that sees the memory as it is now, does `work` and ends; returns its process id.
///
/// Only the calling thread lives on in the child, so a lock that another thread holds at this moment stays
/// locked there forever. `work` must therefore take no lock that the other threads take: no channel to them, no
/// database lock (the caller holds it already, and lends what it guards), no standard output. Allocating is
/// fine: the C library makes its allocator consistent across a fork. The child leaves by `_exit`, so that
/// neither destructors nor exit handlers of the parent's world run twice; and it dies with its parent, so that
/// no orphan keeps the listening sockets.
pub fn fork_child(work: impl FnOnce() -> io::Result<()>) -> io::Result<u32> {
    stall::FORK.reached();
    // SAFETY: the child, of which `work` is all that runs, keeps to the rules above.
    match unsafe { fork() }? {
        Fork::Child => {
            #[cfg(target_os = "linux")]
            // SAFETY: plain system call that takes integers.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)
            };
            // Unwinding out of here would run the parent's event loop a second time, in the child.
            let succeeded = catch_unwind(AssertUnwindSafe(work)).is_ok_and(|result| result.is_ok());
            // SAFETY: ends the process; nothing runs after it.
            unsafe { libc::_exit(i32::from(!succeeded)) }
        }
        Fork::Parent { child } => Ok(child),
    }
}

/// How the child ended, if it has.
pub fn child_exit(pid: u32) -> Option<ExitStatus> {
    wait(pid, libc::WNOHANG)
}

/// Kills a child, and waits for its end.
pub fn kill_child(pid: u32) -> ExitStatus {
    // SAFETY: plain system call that takes integers; a child not yet waited for keeps its process id.
    unsafe { libc::kill(pid as i32, libc::SIGKILL) };
    wait(pid, 0).unwrap_or(ExitStatus::from_raw(libc::SIGKILL))
}

fn wait(pid: u32, options: i32) -> Option<ExitStatus> {
    let mut status = 0;
    loop {
        // SAFETY: `status` outlives the call, and `pid` is a child of ours that nobody else waits for.
        match unsafe { libc::waitpid(pid as i32, &mut status, options) } {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            ended => return (ended == pid as i32).then(|| ExitStatus::from_raw(status)),
        }
    }
}
