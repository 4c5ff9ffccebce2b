//! The monotonic clock as a number, which `Instant` does not offer.

/// Nanoseconds of the monotonic clock.
#[inline]
pub(crate) fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock always exists, and `time` is valid for writes.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
pub(crate) mod tests {
    /// The processors that the thread may run on.
    pub(crate) fn processors() -> Vec<usize> {
        // SAFETY: all zeros are an empty set; the calls stay within it.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &raw mut set), 0);
            (0..libc::CPU_SETSIZE as usize).filter(|&processor| libc::CPU_ISSET(processor, &set)).collect()
        }
    }

    /// Moves the thread to a processor.
    pub(crate) fn move_to(processor: usize) {
        // SAFETY: as above, with a number that is within the set.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(processor, &mut set);
            assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &raw const set), 0);
        }
    }
}
