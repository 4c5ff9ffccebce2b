//! The threads of the recorded processes.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use ltt_analysis::samples::{Sample, ThreadSample};

use super::monotonic;
use super::sink::Sink;
use crate::outcome::warn;
use crate::record::proc;
use crate::record::registration::may_register;

/// The most threads that are sampled, the most whose file is kept open, and how many of those that sleep are looked at in
/// each turn: one in this number of them, within bounds.
const MOST: usize = 20_000;
const MOST_OPEN: usize = 200;
const SLEEPERS: std::ops::RangeInclusive<usize> = 2..=64;
const ONE_IN: usize = 64;

/// The state of a thread is in a file that takes ten times as long to read as its times do. It is read when the thread has come
/// to rest, and otherwise after this time, in nanoseconds.
const STATE_AFTER: u64 = 10_000_000;

/// A look that took longer, in nanoseconds, does not say when it was; it is tried again this often in all.
const PROMPT: u64 = 100_000;
const MOST_TRIES: u32 = 3;

/// The most new threads that are added at once.
const MOST_NEW: usize = 500;

/// A thread that was unchanged for this number of looks sleeps.
const ASLEEP_AFTER: u32 = 100;

/// Switches are in a file that takes long to read: they are read once in this number of changes.
const SWITCHES_EVERY: u32 = 16;

/// The threads that are sampled.
pub struct Threads {
    /// The processes to sample; all that record if there are none.
    chosen: Vec<u32>,
    /// Each process, and its ID where it runs; those that do not record with the number of searches since they were new.
    processes: HashMap<u32, Result<u32, u32>>,
    known: HashSet<u32>,
    /// Threads that are not sampled: LTTng's own.
    ignored: HashSet<u32>,
    /// Threads that are no longer sampled, which is not yet in the samples.
    left: Vec<WatchedThread>,
    /// Whether it was said that there are too many threads, and that processes cannot be told apart.
    is_told: [bool; 2],
    awake: Vec<WatchedThread>,
    asleep: Vec<WatchedThread>,
    /// The next of those that sleep.
    next: usize,
    open: usize,
}

struct WatchedThread {
    pid: u32,
    tid: u32,
    folder: PathBuf,
    file: Option<File>,
    last: Option<(u64, u64)>,
    last_look: u64,
    unchanged: u32,
    changes: u32,
    /// When its state was last read, and whether it has changed since.
    state_read: u64,
    is_state_old: bool,
    sample: ThreadSample,
}

/// What came of looking at a thread.
enum Look {
    Changed,
    Unchanged,
    Gone,
}

impl Threads {
    /// Samples these processes; all that record where there are none.
    pub fn new(chosen: Vec<u32>) -> Self {
        Threads {
            chosen,
            processes: HashMap::new(),
            known: HashSet::new(),
            ignored: HashSet::new(),
            left: Vec::new(),
            is_told: [false; 2],
            awake: Vec::new(),
            asleep: Vec::new(),
            next: 0,
            open: 0,
        }
    }

    /// Whether no thread is known.
    pub fn is_empty(&self) -> bool {
        self.awake.is_empty() && self.asleep.is_empty()
    }

    /// The processes that are sampled, each with its ID where it runs.
    pub fn processes(&self) -> Vec<(u32, u32)> {
        let recorded = self.processes.iter().filter_map(|(pid, inner)| Some((*pid, *inner.as_ref().ok()?)));
        recorded.collect()
    }

    /// Looks for new processes and threads.
    pub fn find(&mut self) {
        let pids: HashSet<u32> = proc::pids().collect();
        self.processes.retain(|pid, _| pids.contains(pid));
        for pid in pids {
            let state = self.processes.entry(pid).or_insert(Err(0));
            let Err(searches) = state else { continue };
            *searches += 1;
            // It may become another program, mostly soon.
            if searches.is_power_of_two() {
                let folder = PathBuf::from(format!("/proc/{pid}"));
                let is_inner = || proc::inner_id(&folder).is_some_and(|inner| self.chosen.contains(&inner));
                let is_chosen = self.chosen.is_empty() || self.chosen.contains(&pid) || is_inner();
                if let Some(inner) = Some(pid).filter(|_| is_chosen).and_then(may_register) {
                    *state = Ok(inner);
                }
            }
        }
        let mut processes = self.processes();
        // The trace does not tell whose samples they are.
        let ambiguous = ambiguous(&processes);
        if let Some((_, inner)) = processes.iter().find(|(pid, _)| ambiguous.contains(pid)) {
            self.tell(
                0,
                &format!("several processes are process {inner} of their container, and are not sampled"),
            );
        }
        processes.retain(|(pid, _)| !ambiguous.contains(pid));
        self.leave(&ambiguous);
        let (mut added, mut ignored) = (0, HashSet::new());
        for (pid, inner) in processes {
            let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            let tids: Vec<u32> = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect();
            for tid in tids {
                if self.ignored.contains(&tid) {
                    ignored.insert(tid);
                } else if !self.known.contains(&tid) && added < MOST_NEW {
                    if self.known.len() >= MOST {
                        self.tell(1, &format!("more than {MOST} threads: the others are not sampled"));
                        break;
                    }
                    added += 1;
                    match WatchedThread::new(pid, inner, tid, &mut self.open) {
                        Some(thread) => {
                            self.known.insert(tid);
                            self.awake.push(thread);
                        }
                        None => _ = ignored.insert(tid),
                    }
                }
            }
        }
        // Those that ended are forgotten: others may get their IDs.
        self.ignored = ignored;
    }

    /// Ends sampling processes.
    fn leave(&mut self, pids: &HashSet<u32>) {
        for threads in [&mut self.awake, &mut self.asleep] {
            self.left.extend(threads.extract_if(.., |thread| pids.contains(&thread.pid)));
        }
    }

    fn tell(&mut self, what: usize, message: &str) {
        if !std::mem::replace(&mut self.is_told[what], true) {
            warn(message);
        }
    }

    /// Looks at the threads that are awake, and at some of the others.
    pub fn look(&mut self, sink: &mut Sink) {
        let mut sleepy = Vec::new();
        let mut place = 0;
        while place < self.awake.len() {
            let thread = &mut self.awake[place];
            match thread.look(sink) {
                Look::Gone => self.left.push(self.awake.swap_remove(place)),
                Look::Unchanged if thread.unchanged > ASLEEP_AFTER => {
                    sleepy.push(self.awake.swap_remove(place))
                }
                Look::Changed | Look::Unchanged => place += 1,
            }
        }
        let sleepers = (self.asleep.len() / ONE_IN).clamp(*SLEEPERS.start(), *SLEEPERS.end());
        for _ in 0..sleepers.min(self.asleep.len()) {
            if self.next >= self.asleep.len() {
                self.next = 0;
            }
            match self.asleep[self.next].look(sink) {
                Look::Unchanged => self.next += 1,
                Look::Changed | Look::Gone => {
                    // If it is gone, the next look says so again.
                    let thread = self.asleep.swap_remove(self.next);
                    self.awake.push(thread);
                }
            }
        }
        self.asleep.append(&mut sleepy);
        for thread in self.left.drain(..) {
            self.known.remove(&thread.tid);
            self.open -= usize::from(thread.file.is_some());
            // Nobody knows whether it has changed since.
            let left = ThreadSample { state: ThreadSample::LEFT, since_ns: u64::MAX, ..thread.sample };
            sink.add(monotonic(), Sample::Thread(left));
        }
    }
}

/// The processes that have the ID of another one, each in its container.
fn ambiguous(processes: &[(u32, u32)]) -> HashSet<u32> {
    let mut of_id: HashMap<u32, usize> = HashMap::new();
    processes.iter().for_each(|(_, inner)| *of_id.entry(*inner).or_default() += 1);
    processes.iter().filter(|(_, inner)| of_id[inner] > 1).map(|(pid, _)| *pid).collect()
}

impl WatchedThread {
    fn new(pid: u32, inner_pid: u32, tid: u32, open: &mut usize) -> Option<WatchedThread> {
        let folder = PathBuf::from(format!("/proc/{pid}/task/{tid}"));
        // LTTng's own threads record nothing.
        if fs::read_to_string(folder.join("comm")).ok()?.trim_end().ends_with("-ust") {
            return None;
        }
        let file = if *open < MOST_OPEN { File::open(folder.join("schedstat")).ok() } else { None };
        *open += usize::from(file.is_some());
        let id = |number: u32| i32::try_from(number).unwrap_or(-1);
        // Only in another namespace are IDs different.
        let vtid = if inner_pid == pid { tid } else { proc::inner_id(&folder).unwrap_or(tid) };
        let sample = ThreadSample { vpid: id(inner_pid), vtid: id(vtid), ..ThreadSample::default() };
        Some(WatchedThread {
            pid,
            tid,
            folder,
            file,
            last: None,
            last_look: monotonic(),
            unchanged: 0,
            changes: 0,
            state_read: 0,
            is_state_old: true,
            sample,
        })
    }

    fn look(&mut self, sink: &mut Sink) -> Look {
        let Some((now, times)) = self.times_in_time() else { return Look::Gone };
        let since = now.saturating_sub(std::mem::replace(&mut self.last_look, now));
        let is_unchanged = self.last.replace(times) == Some(times);
        if is_unchanged && !self.is_state_old {
            self.unchanged = self.unchanged.saturating_add(1);
            return Look::Unchanged;
        }
        self.unchanged = 0;
        self.sample.since_ns = since;
        (self.sample.on_cpu_ns, self.sample.queued_ns) = times;
        self.is_state_old = !is_unchanged;
        if is_unchanged || now.saturating_sub(self.state_read) >= STATE_AFTER {
            self.state_read = now;
            if self.read_stat().is_none() {
                return Look::Gone;
            }
        } else {
            self.sample.state = 0;
        }
        if self.changes.is_multiple_of(SWITCHES_EVERY) {
            self.read_switches();
        }
        self.changes = self.changes.wrapping_add(1);
        sink.add(now, Sample::Thread(self.sample));
        Look::Changed
    }

    /// The times, and when that was: again if this thread lost its CPU meanwhile.
    fn times_in_time(&self) -> Option<(u64, (u64, u64))> {
        let mut tries = 0;
        loop {
            let now = monotonic();
            let times = self.times()?;
            tries += 1;
            if tries == MOST_TRIES || monotonic().saturating_sub(now) < PROMPT {
                return Some((now, times));
            }
        }
    }

    /// The time on a CPU, and the time ready for one.
    fn times(&self) -> Option<(u64, u64)> {
        let mut bytes = [0; 80];
        let length = match &self.file {
            Some(file) => file.read_at(&mut bytes, 0).ok()?,
            None => File::open(self.folder.join("schedstat")).ok()?.read_at(&mut bytes, 0).ok()?,
        };
        let text = std::str::from_utf8(&bytes[..length]).ok()?;
        let mut words = text.split_ascii_whitespace().map_while(|word| word.parse().ok());
        Some((words.next()?, words.next()?))
    }

    fn read_stat(&mut self) -> Option<()> {
        let text = fs::read(self.folder.join("stat")).ok()?;
        let text = String::from_utf8_lossy(&text);
        // The name is in parentheses and may contain any character.
        let (_, rest) = text.rsplit_once(") ")?;
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |place: usize| words.get(place).and_then(|word| word.parse().ok()).unwrap_or(0);
        self.sample.state = rest.bytes().next()?;
        self.sample.minor_faults = number(7);
        self.sample.major_faults = number(9);
        self.sample.cpu = i32::try_from(number(36)).unwrap_or(-1);
        Some(())
    }

    fn read_switches(&mut self) {
        let status = fs::read_to_string(self.folder.join("status")).unwrap_or_default();
        let number = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
        };
        self.sample.voluntary_switches = number("voluntary_ctxt_switches");
        self.sample.involuntary_switches = number("nonvoluntary_ctxt_switches");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ltt_analysis::samples::SampleQueue;

    #[test]
    fn processes_of_two_containers_with_one_id_are_not_sampled() {
        assert_eq!(ambiguous(&[(100, 1), (200, 1), (300, 2), (400, 400)]), HashSet::from([100, 200]));
    }

    #[test]
    fn a_thread_that_another_one_is_taken_for_is_left() {
        let (pid, mut threads) = (std::process::id(), Threads::new(Vec::new()));
        let thread = WatchedThread::new(pid, 1, pid, &mut threads.open).expect("it is this one");
        threads.known.insert(pid);
        threads.awake.push(thread);
        let queue = SampleQueue::default();
        let mut sink = Sink::Queue(queue.clone());
        threads.look(&mut sink);
        threads.leave(&HashSet::from([pid]));
        threads.look(&mut sink);
        let last = queue.take().pop_back().map(|(_, sample)| sample);
        let is_left = |sample| matches!(sample, Sample::Thread(thread) if thread.state == ThreadSample::LEFT);
        assert!(last.clone().is_some_and(is_left), "{last:?}");
        assert!(threads.is_empty() && threads.known.is_empty() && threads.open == 0);
    }
}
