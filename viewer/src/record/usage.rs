//! Who uses a session daemon: locks beside its sockets, which the kernel releases however a process ends.
//!
//! Every run shares one lock for as long as it records. Whoever wants to end the daemon needs it exclusively, so that no run
//! begins meanwhile. LTTng's own tools know nothing of it: their sessions are listed.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use super::lttng::daemon_folder;
use super::owned_process::deadline;
use crate::outcome::Trouble;

/// Between one attempt to begin and the next.
const PAUSE: Duration = Duration::from_millis(20);

/// A lock, released when it is dropped. None where the folder is not writable: the daemon is another user's then.
pub struct Usage(#[allow(dead_code, reason = "open for as long as it is locked")] Option<File>);

impl Usage {
    /// Uses the daemon: none ends it until this is dropped.
    pub fn shared() -> Result<Usage, Trouble> {
        wait(file("ltt-top.use"), FlockOperation::NonBlockingLockShared)
    }

    /// One run at a time looks for a daemon and starts one.
    pub fn start() -> Result<Usage, Trouble> {
        wait(file("ltt-top.start"), FlockOperation::NonBlockingLockExclusive)
    }

    /// No run uses the daemon, and none begins to until this is dropped; none if one does.
    pub fn exclusive() -> Option<Usage> {
        let file = file("ltt-top.use");
        let is_free = |file: &File| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
        file.as_ref().is_none_or(is_free).then_some(Usage(file))
    }
}

fn wait(file: Option<File>, operation: FlockOperation) -> Result<Usage, Trouble> {
    // Whoever has it starts or ends a daemon, which has its own deadline.
    let until = Instant::now() + 2 * deadline();
    while let Some(file) = &file
        && flock(file, operation).is_err()
    {
        if Instant::now() > until {
            return Err(Trouble::Failed(format!(
                "another ltt-top has been starting or ending the session daemon in {} for {} s",
                daemon_folder().display(),
                2.0 * deadline().as_secs_f64()
            )));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(Usage(file))
}

fn file(name: &str) -> Option<File> {
    let folder = daemon_folder();
    // As the daemon creates it; it sets the machine-wide one's permissions itself.
    _ = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    let flags = OFlags::RDONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(folder.join(name), flags, Mode::from_raw_mode(0o600)).ok().map(File::from)
}
