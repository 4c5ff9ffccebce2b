//! The numbers of threads and processes, in the order in which they appear.

use ctf_reader::{ClassIndex, EventClass, Field, Scope, Wanted};
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
    /// The threads of the last events, each in the place that its class and stream have.
    last: [LastThread; LastThread::PLACES],
    /// How often a thread was met that has no number of its own.
    pub shared: u64,
}

/// The thread of the last event of a class in a stream.
#[derive(Debug, Default)]
struct LastThread {
    class: ClassIndex,
    /// Its ids as they were recorded.
    ids: Vec<u8>,
    /// Its number, unless it shares that.
    thread: Option<u32>,
}

impl LastThread {
    const PLACES: usize = 32;

    #[inline(always)]
    fn place(class: ClassIndex, stream: usize) -> usize {
        (class.wrapping_mul(4) ^ stream) % LastThread::PLACES
    }
}

/// A thread by its machine and the ids of its process and its own, where those were recorded.
pub type ThreadId = (usize, Option<i64>, Option<i64>);

impl ThreadNumbers {
    /// The thread of the last event of a class in a stream, if its ids were recorded as these bytes.
    #[inline(always)]
    pub fn recall(&self, class: ClassIndex, stream: usize, ids: &[u8]) -> Option<u32> {
        let LastThread { class: of_last, ids: last, thread } = &self.last[LastThread::place(class, stream)];
        // Most ids are two numbers of 32 bits, which are compared without a call.
        let is_same = match (<[u8; 8]>::try_from(ids), <[u8; 8]>::try_from(&last[..])) {
            (Ok(ids), Ok(last)) => ids == last,
            _ => ids == last,
        };
        thread.filter(|_| is_same && class == *of_last)
    }

    /// Like [`number`](ThreadNumbers::number), for an event of a class in a stream whose ids were recorded as these bytes, if that
    /// is known.
    #[inline(never)]
    pub fn number_of(
        &mut self,
        id: ThreadId,
        (class, stream): (ClassIndex, usize),
        ids: Option<&[u8]>,
        procname: impl FnOnce() -> Option<String>,
        happened: &mut Happenings,
    ) -> u32 {
        let shared = self.shared;
        let thread = self.number(id, procname, happened);
        if let Some(ids) = ids {
            // Those that share a number are counted each time.
            let thread = (self.shared == shared).then_some(thread);
            let last = &mut self.last[LastThread::place(class, stream)];
            (last.class, last.thread) = (class, thread);
            last.ids.clear();
            last.ids.extend_from_slice(ids);
        }
        thread
    }

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

/// The first field of a class that is recorded after the ids of the process and the thread, where events have these.
pub fn after_ids(class: &EventClass, wanted: &mut Wanted) -> Option<Field> {
    let ids = ["vpid", "vtid"].into_iter().filter_map(|name| class.field(name));
    let is_fixed = |&index: &usize| class.fields[index].scope != Scope::Packet;
    let last = ids.clone().all(|index| is_fixed(&index)).then(|| ids.max()).flatten()?;
    (last + 1 < class.fields.len()).then(|| wanted.value_at(last + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thread_is_recalled_by_what_was_recorded() {
        let mut numbers = ThreadNumbers::default();
        let mut happened = Happenings::default();
        let ids = |tid: i64| [1_i32.to_le_bytes(), (tid as i32).to_le_bytes()].concat();
        // More classes and streams than there are places, in which threads take turns; longer ids than two numbers.
        for turn in 0..1000_usize {
            let (class, stream, tid) = (turn % 7, turn % 11, (turn / 3 % 5) as i64);
            let long = [&ids(tid)[..], b"name"].concat();
            let recorded = if class == 6 { &long[..] } else { &long[..8] };
            let recalled = numbers.recall(class, stream, recorded);
            let id = (0, Some(1), Some(tid));
            let number = numbers.number_of(id, (class, stream), Some(recorded), || None, &mut happened);
            assert!(recalled.is_none_or(|recalled| recalled == number), "turn {turn}");
            assert_eq!(numbers.recall(class, stream, recorded), Some(number));
            assert_eq!(numbers.recall(class, stream, &ids(tid + 1)), None);
            assert_eq!(numbers.recall(class + 8, stream, recorded), None, "another class in its place");
        }
    }

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
