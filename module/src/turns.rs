//! Turns of the event loop.
//!
//! The module API tells of the end of most work before the loop sleeps, and of the time after it woke up. If the library is
//! preloaded, the loop's own call to sleep (`epoll_wait`) tells both ends exactly; a server may poll in another thread, and
//! then the API's times are used. The two are told apart by what comes between "about to sleep" and "woke up".

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

const AWAKE: u8 = 0;
const SLEEPY: u8 = 1;
const POLLING: u8 = 2;
const POLLED: u8 = 3;

/// The current turn. Only the thread of the event loop changes it; a signal handler of that thread may come in between,
/// so its parts are atomic. Times are nanoseconds; 0 if turns are not recorded at that moment.
#[derive(Debug)]
pub struct Turns {
    phase: AtomicU8,
    /// When the loop woke up; 0 if that is not known.
    woke: AtomicU64,
    /// Whether the last sleep was seen, so that the next one can be waited for.
    polls_here: AtomicBool,
}

impl Turns {
    /// Nothing has been seen yet.
    pub const fn new() -> Turns {
        Turns { phase: AtomicU8::new(AWAKE), woke: AtomicU64::new(0), polls_here: AtomicBool::new(false) }
    }

    /// The server says that it is about to sleep: the length of the turn, if its end will not be seen more exactly.
    pub fn before_sleep(&self, now: u64) -> Option<u64> {
        self.phase.store(SLEEPY, Relaxed);
        if self.polls_here.load(Relaxed) { None } else { self.end(now) }
    }

    /// The thread calls `epoll_wait`: the length of the turn, unless this is a look for clients during long work.
    pub fn poll_begins(&self, now: u64) -> Option<u64> {
        if self.phase.load(Relaxed) != SLEEPY {
            return None;
        }
        self.phase.store(POLLING, Relaxed);
        self.end(now)
    }

    /// It has returned.
    pub fn poll_ends(&self, now: u64) {
        if self.phase.load(Relaxed) == POLLING {
            self.phase.store(POLLED, Relaxed);
            self.woke.store(now, Relaxed);
        }
    }

    /// The server says that it has woken up: how long it waited for the modules' lock, if that is known.
    pub fn after_sleep(&self, now: u64) -> Option<u64> {
        let polled = self.phase.swap(AWAKE, Relaxed) == POLLED;
        self.polls_here.store(polled, Relaxed);
        if polled {
            let woke = self.woke.load(Relaxed);
            (woke != 0 && now != 0).then(|| now.saturating_sub(woke))
        } else {
            self.woke.store(now, Relaxed);
            None
        }
    }

    fn end(&self, now: u64) -> Option<u64> {
        let woke = self.woke.swap(0, Relaxed);
        (woke != 0 && now != 0).then(|| now.saturating_sub(woke))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turn_without_preloading_ends_where_the_server_is_about_to_sleep() {
        let turns = Turns::new();
        assert_eq!(turns.before_sleep(5), None, "its beginning was not seen");
        assert_eq!(turns.after_sleep(10), None);
        assert_eq!(turns.before_sleep(17), Some(7));
        assert_eq!(turns.after_sleep(30), None);
        assert_eq!(turns.before_sleep(0), None, "a session has stopped");
        assert_eq!(turns.after_sleep(0), None);
        assert_eq!(turns.before_sleep(31), None);
    }

    #[test]
    fn preloaded_turn_lies_between_two_sleeps() {
        let turns = Turns::new();
        turns.before_sleep(1);
        assert_eq!(turns.poll_begins(2), None);
        turns.poll_ends(10);
        assert_eq!(turns.after_sleep(11), Some(1), "the lock");
        assert_eq!(turns.poll_begins(12), None, "a look for clients during long work");
        turns.poll_ends(13);
        assert_eq!(turns.before_sleep(20), None, "the end is still to come");
        assert_eq!(turns.poll_begins(25), Some(15));
        turns.poll_ends(40);
        assert_eq!(turns.after_sleep(40), Some(0));
    }

    #[test]
    fn server_that_polls_in_another_thread_has_turns_all_the_same() {
        let turns = Turns::new();
        turns.before_sleep(1);
        turns.poll_begins(2);
        turns.poll_ends(3);
        turns.after_sleep(4);
        assert_eq!(turns.before_sleep(10), None);
        assert_eq!(turns.after_sleep(20), None, "another thread has polled");
        assert_eq!(turns.before_sleep(26), Some(6));
        assert_eq!(turns.poll_begins(27), None);
        turns.poll_ends(30);
        assert_eq!(turns.after_sleep(31), Some(1));
    }
}
