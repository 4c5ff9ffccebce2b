//! The size of LTTng's buffers, which are in memory that containers have little of.

use std::fs;
use std::thread::available_parallelism;

use rustix::fs::statvfs;

use crate::outcome::{Trouble, warn};

/// Where the buffers are.
const SHARED_MEMORY: &str = "/dev/shm";

/// The number of buffers for each CPU.
const COUNT: u64 = 8;

/// Their sizes in bytes: 8 of 2 MiB hold about a second of a busy server; with less than the least, most would be lost.
const LARGEST: u64 = 2 << 20;
const LEAST: u64 = 32 << 10;

/// Options of a channel with the largest buffers that there is room for. LTTng itself would record nothing at all, and say
/// so in the log of its daemon alone.
pub fn options() -> Result<[String; 3], Trouble> {
    // Without a file system there, LTTng says itself what is wrong.
    let room = statvfs(SHARED_MEMORY).map_or(u64::MAX, |found| found.f_bavail.saturating_mul(found.f_frsize));
    let cpus = cpus();
    let Some(size) = size(room, cpus) else {
        return Err(Trouble::Failed(format!(
            "{SHARED_MEMORY} has {} MiB free, LTTng's buffers for {cpus} CPUs need {}; in a container, use --shm-size={}m",
            room >> 20,
            needed(LEAST, cpus).div_ceil(1 << 20),
            needed(LARGEST, cpus) >> 20,
        )));
    };
    if size < LARGEST {
        warn(&format!(
            "{SHARED_MEMORY} has {} MiB free: buffers for {cpus} CPUs are {} times smaller than usual, and events may be \
             lost; in a container, use --shm-size={}m",
            room >> 20,
            LARGEST / size,
            needed(LARGEST, cpus) >> 20,
        ));
    }
    // Those of a user: a relay forgets what it has of processes that end, if each has its own buffers.
    Ok(["--buffers-uid".to_owned(), format!("--subbuf-size={size}"), format!("--num-subbuf={COUNT}")])
}

/// The room for buffers of a size: they take half of it, because others record, too.
fn needed(size: u64, cpus: u64) -> u64 {
    2 * size * COUNT * cpus
}

/// The largest size that there is room for.
fn size(room: u64, cpus: u64) -> Option<u64> {
    let mut sizes = std::iter::successors(Some(LARGEST), |size| (*size > LEAST).then_some(size / 2));
    sizes.find(|size| needed(*size, cpus) <= room)
}

/// The number of CPUs that LTTng has buffers for: all that may ever be there.
fn cpus() -> u64 {
    let possible = fs::read_to_string("/sys/devices/system/cpu/possible").ok();
    let last = possible.and_then(|list| list.trim().rsplit([',', '-']).next()?.parse::<u64>().ok());
    last.map_or_else(
        || available_parallelism().map_or(1, |cpus| cpus.get() as u64),
        |last| last.saturating_add(1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_take_at_most_half_of_the_room() {
        assert_eq!(size(u64::MAX, 2), Some(LARGEST));
        assert_eq!(size(64 << 20, 2), Some(LARGEST));
        assert_eq!(size((64 << 20) - 1, 2), Some(LARGEST / 2));
        assert_eq!(size(64 << 20, 64), Some(LEAST << 1));
        assert_eq!(size(32 << 20, 64), Some(LEAST));
        assert_eq!(size(31 << 20, 64), None);
        assert_eq!(size(0, 1), None);
    }
}
