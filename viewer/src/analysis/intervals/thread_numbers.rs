//! The numbers of threads and processes, in the order in which they appear.

use hashbrown::HashMap;

use super::happening::Happening;
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
}

/// A thread by its machine and the ids of its process and its own, where those were recorded.
type ThreadId = (usize, Option<i64>, Option<i64>);

impl ThreadNumbers {
    /// The number of a thread. If it or its process, whose name is `procname`, is new, that happens first.
    #[inline]
    pub fn number(
        &mut self,
        id: ThreadId,
        procname: impl FnOnce() -> Option<String>,
        happen: &mut impl FnMut(Happening),
    ) -> u32 {
        let place = id.2.unwrap_or(0) as usize % self.recent.len();
        match self.recent[place] {
            Some((recent, thread)) if recent == id => thread,
            _ => {
                let thread = self.look_up(id, procname, happen);
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
        happen: &mut impl FnMut(Happening),
    ) -> u32 {
        let next = self.processes.len();
        let process = *self.processes.entry((host, pid)).or_insert_with(|| {
            happen(Happening::Process { host: host as u32, pid, name: procname() });
            next
        });
        let next = self.threads.len() as u32;
        let tid = tid.filter(|_| next < MOST);
        *self.threads.entry((process, tid)).or_insert_with(|| {
            happen(Happening::Thread(Thread { process, tid }));
            next
        })
    }
}
