//! The processes and threads that events came from, numbered.

use hashbrown::HashMap;

use super::happening::Happening;
use crate::datum::Datum;

/// The most threads that are distinguished; the others of a process count as one.
const MOST: u32 = 1 << 16;

/// A process that events came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// The machine, by the number of its name.
    pub host: usize,
    /// The name of the machine.
    pub host_name: Option<String>,
    /// Its id, where that was recorded.
    pub pid: Option<i64>,
    /// Its name, where that was recorded.
    pub name: Option<String>,
}

/// A thread that events came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its process, by its number.
    pub process: usize,
    /// Its id; without it, all threads of the process are one.
    pub tid: Option<i64>,
}

impl Process {
    /// The process's id as a value.
    pub fn pid(&self) -> Option<Datum> {
        self.pid.map(|pid| Datum::Integer(pid.into()))
    }
}

/// All threads so far, and their processes.
#[derive(Debug, Default)]
pub struct Threads {
    processes: Vec<Process>,
    threads: Vec<Thread>,
}

impl Threads {
    /// Adds a process.
    pub fn add_process(&mut self, process: Process) {
        self.processes.push(process);
    }

    /// Adds a thread.
    pub fn add(&mut self, thread: Thread) {
        self.threads.push(thread);
    }

    /// A thread by its number.
    #[inline]
    pub fn thread(&self, number: usize) -> Thread {
        self.threads[number]
    }

    /// A process by its number.
    pub fn process(&self, number: usize) -> &Process {
        &self.processes[number]
    }

    /// Whether two threads ran on the same machine.
    pub fn are_on_one_host(&self, one: usize, other: usize) -> bool {
        self.host(one) == self.host(other)
    }

    /// The threads of a machine.
    pub fn on_host(&self, host: usize) -> impl Iterator<Item = usize> {
        (0..self.threads.len()).filter(move |&thread| self.host(thread) == host)
    }

    fn host(&self, thread: usize) -> usize {
        self.process(self.thread(thread).process).host
    }
}

/// The machines that traces were recorded on, numbered.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    /// The numbers of machines by their names.
    numbers: HashMap<String, usize>,
    of_trace: HashMap<usize, usize>,
}

impl Hosts {
    /// The number of the machine that a trace was recorded on, added if it is new.
    pub fn enter(&mut self, trace: usize, name: Option<&str>) -> usize {
        // Machines without a name are identified by their traces.
        let name = name.map_or_else(|| format!("\0{trace}"), str::to_owned);
        let next = self.numbers.len();
        let host = *self.numbers.entry(name).or_insert(next);
        self.of_trace.insert(trace, host);
        host
    }

    /// The number of the machine that a trace was recorded on.
    pub fn of_trace(&self, trace: usize) -> Option<usize> {
        self.of_trace.get(&trace).copied()
    }

    /// The number of the machine with a name, if events came from it.
    pub fn named(&self, name: Option<&str>) -> Option<usize> {
        match name {
            Some(name) => self.numbers.get(name).copied(),
            // Without a name it can only be the one that there is.
            None => self.numbers.values().next().copied().filter(|_| self.numbers.len() == 1),
        }
    }

    /// The name of a machine, if it has one.
    pub fn name(&self, host: usize) -> Option<String> {
        let (name, _) = self.numbers.iter().find(|(_, number)| **number == host)?;
        (!name.starts_with('\0')).then(|| name.clone())
    }
}

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
