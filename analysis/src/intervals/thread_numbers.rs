//! The numbers of threads and processes, in the order in which they appear.

use hashbrown::HashMap;

use super::happening::{Happening, Happenings};
use super::threads::Thread;

/// The most threads that are distinguished; the others of a process count as one.
const MOST: u32 = 1 << 16;

/// Gives threads and processes their numbers.
#[derive(Debug, Default)]
pub struct ThreadNumbers {
    processes: HashMap<(usize, Option<i64>), usize>,
    threads: HashMap<(usize, Option<i64>), u32>,
    /// Threads that were looked up last, each in the place that its id has: most events are from one of them.
    recent: [Option<(ThreadId, u32)>; 16],
    /// How often a thread was met that has no number of its own.
    pub shared: u64,
}

/// A thread by its machine and the ids of its process and its own, where those were recorded.
pub type ThreadId = (usize, Option<i64>, Option<i64>);

impl ThreadNumbers {
    /// The number of a thread. If it or its process, whose name is `procname`, is new, that happens first.
    #[inline]
    pub fn number(
        &mut self,
        id: ThreadId,
        procname: impl FnOnce() -> Option<String>,
        happened: &mut Happenings,
    ) -> u32 {
        let place = id.2.unwrap_or(0) as usize % self.recent.len();
        match self.recent[place] {
            Some((recent, thread)) if recent == id => thread,
            _ => {
                let thread = self.look_up(id, procname, happened);
                self.recent[place] = Some((id, thread));
                thread
            }
        }
    }

    #[inline(never)]
    fn look_up(
        &mut self,
        (host, pid, tid): ThreadId,
        procname: impl FnOnce() -> Option<String>,
        happened: &mut Happenings,
    ) -> u32 {
        let next = self.processes.len();
        let process = *self.processes.entry((host, pid)).or_insert_with(|| {
            happened.add_process(host as u32, pid, procname());
            next
        });
        // A thread keeps its number, however many come after it.
        if let Some(&known) = self.threads.get(&(process, tid)) {
            return known;
        }
        let next = self.threads.len() as u32;
        self.shared += u64::from(next >= MOST);
        let tid = tid.filter(|_| next < MOST);
        *self.threads.entry((process, tid)).or_insert_with(|| {
            happened.add(Happening::Thread(Thread { process, tid }));
            next
        })
    }

    /// How many threads are known, as a share of the most.
    pub fn fullness(&self) -> f64 {
        self.threads.len() as f64 / f64::from(MOST)
    }

    /// The number of threads that are known.
    pub fn count(&self) -> u64 {
        self.threads.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_number_however_many_follow() {
        let mut numbers = ThreadNumbers::default();
        let mut happened = Happenings::default();
        let mut number = |tid: i64| numbers.number((0, Some(1), Some(tid)), || None, &mut happened);
        let first: Vec<u32> = (0..10).map(&mut number).collect();
        let last: Vec<u32> = (0..2 * i64::from(MOST)).map(&mut number).skip(MOST as usize).collect();
        assert_eq!((0..10).map(&mut number).collect::<Vec<_>>(), first);
        assert!(last.iter().all(|number| *number == MOST), "those that are too many share one");
        assert!(numbers.shared >= u64::from(MOST));
        assert_eq!(happened.list().len() as u32, 1 + MOST + 1);
    }
}
