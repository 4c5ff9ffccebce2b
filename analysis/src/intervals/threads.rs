//! The processes and threads that events came from, and their machines.

use hashbrown::HashMap;

use crate::datum::Datum;

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
