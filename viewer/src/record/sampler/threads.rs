//! Looks at the threads of the recorded processes.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

use ltt_analysis::samples::{Sample, ThreadSample};

use super::finder::Change;
use super::monotonic;
use super::output::Sink;
use crate::record::proc;

/// How many of those that sleep are looked at in each turn: one in this number of them, within bounds.
const SLEEPERS: std::ops::RangeInclusive<usize> = 1..=64;
const ONE_IN: usize = 64;

/// The state of a thread is in a file that takes four times as long to read as its times do. It is read when the thread has come
/// to rest, and otherwise after this time, in nanoseconds.
const STATE_AFTER: u64 = 10_000_000;

/// The files with a thread's times, its state, and its switches.
const FILES: [&str; 3] = ["schedstat", "stat", "status"];

/// A look that took longer, in nanoseconds, does not say when it was; it is tried again this often in all.
const PROMPT: u64 = 100_000;
const MOST_TRIES: u32 = 3;

/// A thread that was unchanged for this number of looks sleeps.
const ASLEEP_AFTER: u32 = 100;

/// Switches are in a file that takes longer to read: they are read after this time, in nanoseconds.
const SWITCHES_AFTER: u64 = 50_000_000;

/// The threads that are sampled.
pub struct Threads {
    sink: Sink,
    /// Takes the threads that are no longer sampled.
    ended: Sender<u32>,
    /// Threads that are no longer sampled, which is not yet in the samples.
    left: Vec<WatchedThread>,
    awake: Vec<WatchedThread>,
    asleep: Vec<WatchedThread>,
    /// The next of those that sleep.
    next: usize,
}

/// A thread that is looked at.
pub struct WatchedThread {
    pid: u32,
    tid: u32,
    folder: PathBuf,
    /// To open them takes longer than to read them.
    files: Option<[File; FILES.len()]>,
    last: Option<(u64, u64)>,
    last_look: u64,
    unchanged: u32,
    /// When its switches and its state were last read, and whether it has changed since.
    switches_read: u64,
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
    pub fn new(sink: Sink, ended: Sender<u32>) -> Self {
        Threads { sink, ended, left: Vec::new(), awake: Vec::new(), asleep: Vec::new(), next: 0 }
    }

    /// Whether no thread is known.
    pub fn is_empty(&self) -> bool {
        self.awake.is_empty() && self.asleep.is_empty() && self.left.is_empty()
    }

    /// Adds a thread, or ends sampling processes.
    pub fn change(&mut self, change: Change) {
        match change {
            Change::New(thread) => self.awake.push(*thread),
            Change::Left(pids) => {
                for threads in [&mut self.awake, &mut self.asleep] {
                    self.left.extend(threads.extract_if(.., |thread| pids.contains(&thread.pid)));
                }
            }
        }
    }

    /// Looks at the threads that are awake, and at some of the others.
    pub fn look(&mut self) {
        let mut sleepy = Vec::new();
        let mut place = 0;
        while place < self.awake.len() {
            let thread = &mut self.awake[place];
            match thread.look(&self.sink) {
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
            match self.asleep[self.next].look(&self.sink) {
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
            _ = self.ended.send(thread.tid);
            // Nobody knows whether it has changed since.
            let left = ThreadSample { state: ThreadSample::LEFT, since_ns: u64::MAX, ..thread.sample };
            self.sink.add(monotonic(), Sample::Thread(left));
        }
    }
}

impl WatchedThread {
    /// A thread of a process, which has another ID where it runs. Its files are kept open if they may be.
    pub fn new(pid: u32, inner_pid: u32, tid: u32, may_open: bool) -> Option<WatchedThread> {
        let folder = PathBuf::from(format!("/proc/{pid}/task/{tid}"));
        // LTTng's own threads record nothing.
        if fs::read_to_string(folder.join("comm")).ok()?.trim_end().ends_with("-ust") {
            return None;
        }
        let open = || {
            let files: io::Result<Vec<File>> =
                FILES.iter().map(|name| File::open(folder.join(name))).collect();
            files.ok()?.try_into().ok()
        };
        let files = if may_open { open() } else { None };
        let id = |number: u32| i32::try_from(number).unwrap_or(-1);
        // Only in another namespace are IDs different.
        let vtid = if inner_pid == pid { tid } else { proc::inner_id(&folder).unwrap_or(tid) };
        let sample = ThreadSample { vpid: id(inner_pid), vtid: id(vtid), ..ThreadSample::default() };
        Some(WatchedThread {
            pid,
            tid,
            folder,
            files,
            last: None,
            last_look: monotonic(),
            unchanged: 0,
            switches_read: 0,
            state_read: 0,
            is_state_old: true,
            sample,
        })
    }

    /// Whether its files are open.
    pub fn is_open(&self) -> bool {
        self.files.is_some()
    }

    fn look(&mut self, sink: &Sink) -> Look {
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
        if now.saturating_sub(self.switches_read) >= SWITCHES_AFTER {
            self.switches_read = now;
            self.read_switches();
        }
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
        let text = self.read(0, &mut bytes)?;
        let mut words = text.split_ascii_whitespace().map_while(|word| word.parse().ok());
        Some((words.next()?, words.next()?))
    }

    fn read_stat(&mut self) -> Option<()> {
        let mut bytes = [0; 1024];
        let text = self.read(1, &mut bytes)?;
        let mut words = text.split_ascii_whitespace();
        self.sample.state = words.next()?.bytes().next()?;
        let mut number = |after: usize| words.nth(after).and_then(|word| word.parse().ok()).unwrap_or(0);
        (self.sample.minor_faults, self.sample.major_faults) = (number(6), number(1));
        self.sample.cpu = i32::try_from(number(26)).unwrap_or(-1);
        Some(())
    }

    /// Reads one of its files at once, from after the thread's name, which may have any bytes.
    fn read<'b>(&self, file: usize, bytes: &'b mut [u8]) -> Option<&'b str> {
        let length = match &self.files {
            Some(files) => files[file].read_at(bytes, 0).ok()?,
            None => File::open(self.folder.join(FILES[file])).ok()?.read_at(bytes, 0).ok()?,
        };
        let text = bytes[..length].rsplit(|byte| *byte == b')').next()?;
        std::str::from_utf8(text).ok()
    }

    fn read_switches(&mut self) {
        let mut bytes = [0; 4096];
        let status = self.read(2, &mut bytes).unwrap_or_default();
        let number = |name: &str| {
            let value = status.lines().rev().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
        };
        self.sample.voluntary_switches = number("voluntary_ctxt_switches");
        self.sample.involuntary_switches = number("nonvoluntary_ctxt_switches");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use ltt_analysis::samples::SampleQueue;

    #[test]
    fn a_thread_that_another_one_is_taken_for_is_left() {
        let (pid, queue) = (std::process::id(), SampleQueue::default());
        let (ended, gone) = std::sync::mpsc::channel();
        let mut threads = Threads::new(Sink::live(queue.clone()), ended);
        let thread = WatchedThread::new(pid, 1, pid, true).expect("it is this one");
        threads.change(Change::New(Box::new(thread)));
        threads.look();
        threads.change(Change::Left(HashSet::from([pid])));
        threads.look();
        let last = queue.take().pop_back().map(|(_, sample)| sample);
        let is_left = |sample| matches!(sample, Sample::Thread(thread) if thread.state == ThreadSample::LEFT);
        assert!(last.clone().is_some_and(is_left), "{last:?}");
        assert!(threads.is_empty() && gone.try_recv() == Ok(pid));
    }
}
