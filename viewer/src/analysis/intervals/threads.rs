//! The processes and threads that events came from, numbered.

use hashbrown::HashMap;

use crate::datum::Datum;

/// The most threads that are distinguished; the others of a process count as one.
const MOST: usize = 1 << 16;

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

/// All threads so far, and their processes and machines.
#[derive(Debug, Default)]
pub struct Threads {
    /// The numbers of machines by their names.
    hosts: HashMap<String, usize>,
    host_of_trace: HashMap<usize, usize>,
    processes: Vec<Process>,
    process_numbers: HashMap<(usize, Option<i64>), usize>,
    threads: Vec<Thread>,
    thread_numbers: HashMap<(usize, Option<i64>), usize>,
    /// The last thread that was looked up: most events are from the same one as the event before.
    recent: Option<(usize, Option<i64>, Option<i64>, usize)>,
}

impl Threads {
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
        let host = |thread: usize| self.process(self.thread(thread).process).host;
        host(one) == host(other)
    }

    /// The threads of the machine that a trace was recorded on.
    pub fn of_trace(&self, trace: usize) -> impl Iterator<Item = usize> {
        let host = self.host_of_trace.get(&trace).copied();
        (0..self.threads.len())
            .filter(move |&thread| Some(self.process(self.thread(thread).process).host) == host)
    }

    /// The number of the machine that a trace was recorded on.
    pub fn host(&mut self, trace: usize, name: Option<&str>) -> usize {
        // Machines without a name are identified by their traces.
        let name = name.map_or_else(|| format!("\0{trace}"), str::to_owned);
        let next = self.hosts.len();
        let host = *self.hosts.entry(name).or_insert(next);
        self.host_of_trace.insert(trace, host);
        host
    }

    /// The number of the machine with a name, if events came from it.
    pub fn host_named(&self, name: Option<&str>) -> Option<usize> {
        match name {
            Some(name) => self.hosts.get(name).copied(),
            // Without a name it can only be the one that there is.
            None => self.hosts.values().next().copied().filter(|_| self.hosts.len() == 1),
        }
    }

    /// The number of a thread, added if it is new. `procname` is the name of its process.
    #[inline]
    pub fn number(
        &mut self,
        host: usize,
        pid: Option<i64>,
        tid: Option<i64>,
        procname: impl FnOnce() -> Option<String>,
    ) -> usize {
        if let Some((recent_host, recent_pid, recent_tid, thread)) = self.recent
            && (recent_host, recent_pid, recent_tid) == (host, pid, tid)
        {
            return thread;
        }
        let thread = self.look_up(host, pid, tid, procname);
        self.recent = Some((host, pid, tid, thread));
        thread
    }

    #[inline(never)]
    fn look_up(
        &mut self,
        host: usize,
        pid: Option<i64>,
        tid: Option<i64>,
        procname: impl FnOnce() -> Option<String>,
    ) -> usize {
        let processes = &mut self.processes;
        let process = *self.process_numbers.entry((host, pid)).or_insert_with(|| {
            let host_name = self.hosts.iter().find(|(_, number)| **number == host);
            let host_name = host_name.map(|(name, _)| name.clone()).filter(|name| !name.starts_with('\0'));
            processes.push(Process { host, host_name, pid, name: procname() });
            processes.len() - 1
        });
        let tid = tid.filter(|_| self.threads.len() < MOST);
        let threads = &mut self.threads;
        *self.thread_numbers.entry((process, tid)).or_insert_with(|| {
            threads.push(Thread { process, tid });
            threads.len() - 1
        })
    }
}
