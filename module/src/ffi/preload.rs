//! What the server does through libc, timed if the library is preloaded: files and the sleep of the event loop.
//!
//! Every process that inherits `LD_PRELOAD` calls libc through these functions. In one that has not loaded the module as well
//! they only pass on the call, but remember which descriptors are files of a server, because a server opens these before it
//! loads modules. They neither allocate nor lock, and leave `errno` as the call did: `write` is called in signal handlers.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering::Relaxed};

use libc::{mode_t, size_t, ssize_t};

use super::callbacks;
use super::process::{HAS_CHILD, TURNS, is_main_thread, now, now_if};
use crate::files::File;
use crate::record::{self, Call, Meanwhile};

/// Which file each descriptor is, for this number of descriptors.
static FILES: [AtomicU8; 65_536] = [const { AtomicU8::new(0) }; 65_536];
/// How many other threads wait for the append-only file to be on the disk.
static PENDING_SYNCS: AtomicU32 = AtomicU32::new(0);
/// Whether a cluster's configuration was renamed, after which its folder is synchronised.
static CLUSTER_RENAMED: AtomicBool = AtomicBool::new(false);

/// The functions that calls are passed on to.
macro_rules! next {
    ($($function:ident: $name:literal;)*) => {
        $(static $function: AtomicUsize = AtomicUsize::new(0);)*

        extern "C" fn find_next() {
            $(
                // SAFETY: the name ends in a NUL.
                let found = unsafe { libc::dlsym(libc::RTLD_NEXT, $name.as_ptr()) };
                $function.store(found as usize, Relaxed);
            )*
        }
    };
}

next! {
    WRITE: c"write";
    OPEN: c"open";
    OPEN64: c"open64";
    CLOSE: c"close";
    FSYNC: c"fsync";
    FDATASYNC: c"fdatasync";
    STAT: c"stat";
    STAT64: c"stat64";
    RENAME: c"rename";
    UNLINK: c"unlink";
    EPOLL_WAIT: c"epoll_wait";
}

/// Calls the next function, or makes the system call while that is not known yet.
macro_rules! pass_on {
    ($function:ident($($argument:expr),*): fn($($type:ty),*) -> $result:ty, $($system:expr),*) => {
        // SAFETY: the address is null or that of libc's function, which has this type; the caller keeps its contract.
        unsafe {
            match transmute::<usize, Option<unsafe extern "C" fn($($type),*) -> $result>>($function.load(Relaxed)) {
                Some(next) => next($($argument),*),
                None => libc::syscall($($system),*) as $result,
            }
        }
    };
}

/// Finds them when the library is loaded: `dlsym` must not be called in a signal handler.
#[used]
#[unsafe(link_section = ".init_array")]
static FIND_NEXT: extern "C" fn() = find_next;

fn file(descriptor: c_int) -> File {
    let place = usize::try_from(descriptor).ok().and_then(|index| FILES.get(index));
    place.map_or(File::Other, |place| File::from_number(place.load(Relaxed)))
}

fn remember(descriptor: c_int, file: File) {
    if let Some(place) = usize::try_from(descriptor).ok().and_then(|index| FILES.get(index)) {
        place.store(file as u8, Relaxed);
    }
}

/// # Safety
/// The path is null or ends in a NUL.
unsafe fn file_of(path: *const c_char) -> File {
    // SAFETY: as the caller says.
    if path.is_null() { File::Other } else { File::of(unsafe { CStr::from_ptr(path) }.to_bytes()) }
}

/// Makes a call of the thread that serves clients, and records it.
fn timed<R>(call: Option<Call>, work: impl FnOnce() -> R) -> R {
    let Some(call) = call.filter(|call| call.is_wanted() && is_main_thread()) else { return work() };
    let start = now();
    let result = work();
    let took = now() - start;
    keeping_errno(|| call.record(took));
    result
}

fn keeping_errno(work: impl FnOnce()) {
    // SAFETY: errno belongs to this thread.
    unsafe {
        let errno = *libc::__errno_location();
        work();
        *libc::__errno_location() = errno;
    }
}

/// # Safety
/// As for `write(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(descriptor: c_int, bytes: *const c_void, count: size_t) -> ssize_t {
    let call = match file(descriptor) {
        File::AppendOnly if PENDING_SYNCS.load(Relaxed) > 0 => {
            Some(Call::AppendOnlyWrite(Meanwhile::PendingSync))
        }
        File::AppendOnly if HAS_CHILD.load(Relaxed) => Some(Call::AppendOnlyWrite(Meanwhile::Child)),
        File::AppendOnly => Some(Call::AppendOnlyWrite(Meanwhile::Alone)),
        File::ClusterConfig => Some(Call::ClusterWrite),
        _ => None,
    };
    timed(
        call,
        || pass_on!(WRITE(descriptor, bytes, count): fn(c_int, *const c_void, size_t) -> ssize_t, libc::SYS_write, descriptor, bytes, count),
    )
}

/// # Safety
/// As for `open(2)`; without a mode, the last argument is whatever the register has, and is not used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: as the caller says.
    opened(unsafe { file_of(path) }, || {
        pass_on!(OPEN(path, flags, mode): fn(*const c_char, c_int, mode_t) -> c_int,
            libc::SYS_openat, libc::AT_FDCWD, path, flags, mode)
    })
}

/// # Safety
/// As for `open(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: as the caller says.
    opened(unsafe { file_of(path) }, || {
        pass_on!(OPEN64(path, flags, mode): fn(*const c_char, c_int, mode_t) -> c_int,
            libc::SYS_openat, libc::AT_FDCWD, path, flags, mode)
    })
}

fn opened(file: File, open: impl FnOnce() -> c_int) -> c_int {
    // The server looks how much memory it has at the beginning of its cron, ten times a second.
    if file == File::ProcessStatus && is_main_thread() {
        callbacks::cron_begins();
    }
    let descriptor = timed((file == File::ClusterConfig).then_some(Call::ClusterOpen), open);
    remember(descriptor, file);
    descriptor
}

/// # Safety
/// As for `close(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(descriptor: c_int) -> c_int {
    let file = file(descriptor);
    if file != File::Other {
        remember(descriptor, File::Other);
    }
    timed(
        (file == File::ClusterConfig).then_some(Call::ClusterClose),
        || pass_on!(CLOSE(descriptor): fn(c_int) -> c_int, libc::SYS_close, descriptor),
    )
}

/// # Safety
/// As for `fsync(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fsync(descriptor: c_int) -> c_int {
    synced(descriptor, || pass_on!(FSYNC(descriptor): fn(c_int) -> c_int, libc::SYS_fsync, descriptor))
}

/// # Safety
/// As for `fdatasync(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    synced(
        descriptor,
        || pass_on!(FDATASYNC(descriptor): fn(c_int) -> c_int, libc::SYS_fdatasync, descriptor),
    )
}

fn synced(descriptor: c_int, sync: impl FnOnce() -> c_int) -> c_int {
    match file(descriptor) {
        File::AppendOnly if is_main_thread() => timed(Some(Call::AppendOnlySync), sync),
        File::AppendOnly => {
            PENDING_SYNCS.fetch_add(1, Relaxed);
            let result = sync();
            PENDING_SYNCS.fetch_sub(1, Relaxed);
            result
        }
        File::ClusterConfig => timed(Some(Call::ClusterSync), sync),
        File::Other if CLUSTER_RENAMED.load(Relaxed) && is_main_thread() => {
            CLUSTER_RENAMED.store(false, Relaxed);
            timed(Some(Call::ClusterFolderSync), sync)
        }
        _ => sync(),
    }
}

/// # Safety
/// As for `stat(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stat(path: *const c_char, status: *mut libc::stat) -> c_int {
    // SAFETY: as the caller says.
    asked(unsafe { file_of(path) }, || {
        pass_on!(STAT(path, status): fn(*const c_char, *mut libc::stat) -> c_int,
            libc::SYS_newfstatat, libc::AT_FDCWD, path, status, 0)
    })
}

/// # Safety
/// As for `stat(2)`; on 64-bit machines, both have one structure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stat64(path: *const c_char, status: *mut libc::stat) -> c_int {
    // SAFETY: as the caller says.
    asked(unsafe { file_of(path) }, || {
        pass_on!(STAT64(path, status): fn(*const c_char, *mut libc::stat) -> c_int,
            libc::SYS_newfstatat, libc::AT_FDCWD, path, status, 0)
    })
}

fn asked(file: File, ask: impl FnOnce() -> c_int) -> c_int {
    timed(matches!(file, File::AppendOnly | File::RewrittenAppendOnly).then_some(Call::AppendOnlyStatus), ask)
}

/// # Safety
/// As for `rename(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: as the caller says.
    let call = match unsafe { file_of(from) } {
        File::AppendOnly | File::RewrittenAppendOnly => Some(Call::AppendOnlyRename),
        File::ClusterConfig => {
            CLUSTER_RENAMED.store(true, Relaxed);
            Some(Call::ClusterRename)
        }
        _ => None,
    };
    timed(
        call,
        || pass_on!(RENAME(from, to): fn(*const c_char, *const c_char) -> c_int, libc::SYS_renameat2, libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0),
    )
}

/// # Safety
/// As for `unlink(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: as the caller says.
    let call = match unsafe { file_of(path) } {
        File::TemporarySnapshot => Some(Call::SnapshotUnlink),
        File::ClusterConfig => Some(Call::ClusterUnlink),
        _ => None,
    };
    timed(
        call,
        || pass_on!(UNLINK(path): fn(*const c_char) -> c_int, libc::SYS_unlinkat, libc::AT_FDCWD, path, 0),
    )
}

/// # Safety
/// As for `epoll_wait(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_wait(
    poll: c_int,
    events: *mut libc::epoll_event,
    count: c_int,
    timeout: c_int,
) -> c_int {
    let wait = || pass_on!(EPOLL_WAIT(poll, events, count, timeout): fn(c_int, *mut libc::epoll_event, c_int, c_int) -> c_int, libc::SYS_epoll_pwait, poll, events, count, timeout, std::ptr::null::<c_void>(), 8);
    if !is_main_thread() {
        return wait();
    }
    if let Some(turn) = TURNS.poll_begins(now_if(record::wants_turns())) {
        record::turn(turn);
    }
    let result = wait();
    TURNS.poll_ends(now_if(record::wants_turns()));
    result
}
