//! The kernel's own events: who was on each CPU, and who was ready for it.

use std::collections::{HashMap, VecDeque};

use ctf_reader::{EventClass, Field, OrderedEvent, Value, Wanted};

use super::account::{Account, AccountSource};
use super::history::{History, Point};
use super::{Ageing, MOST_THREADS, forget_oldest, most_points};
use crate::finding::Span;
use crate::recent::remember;

/// The most switches of a CPU that are remembered.
const MOST_SWITCHES: usize = 1 << 16;

/// The name of a thread, with NUL after it: the kernel keeps no more.
type Comm = [u8; 16];

/// An event of the kernel.
#[derive(Clone, Copy, Debug)]
pub enum KernelEvent {
    /// A CPU goes from one thread to another; the first is left in a state.
    Switch { cpu: i32, from: i32, state: u8, to: i32, comm: Comm },
    /// A thread is ready, for this CPU.
    Wakeup { tid: i32, cpu: i32 },
    /// A thread that is ready is to wait for another CPU.
    Migrate { tid: i32, cpu: i32 },
    /// The thread on a CPU misses a page.
    PageFault { cpu: i32 },
    /// A thread asks a device for data.
    Request { tid: i32 },
}

/// What an event of the kernel is, and its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFields {
    kind: Kind,
    /// As many as the kind has.
    fields: [Option<Field>; 5],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Switch,
    Wakeup,
    Migrate,
    PageFault,
    Request,
}

impl KernelFields {
    /// The fields that events of a class are needed with, if they are the kernel's.
    pub fn new(class: &EventClass, wanted: &mut Wanted) -> Option<Self> {
        let (kind, fields): (Kind, &[&[&str]]) = match &*class.name {
            "sched_switch" => {
                (Kind::Switch, &[&["cpu_id"], &["prev_tid"], &["prev_state"], &["next_tid"], &["next_comm"]])
            }
            "sched_wakeup" | "sched_wakeup_new" | "sched_waking" => {
                (Kind::Wakeup, &[&["tid"], &["target_cpu", "cpu", "cpu_id"]])
            }
            "sched_migrate_task" => (Kind::Migrate, &[&["tid"], &["dest_cpu"]]),
            "block_rq_issue" => (Kind::Request, &[&["tid"]]),
            name if name.ends_with("page_fault_user") => (Kind::PageFault, &[&["cpu_id"]]),
            _ => return None,
        };
        let mut found = [None; 5];
        for (field, names) in found.iter_mut().zip(fields) {
            *field = Some(wanted.value_at(names.iter().find_map(|name| class.field(name))?));
        }
        Some(KernelFields { kind, fields: found })
    }

    /// What an event says.
    pub fn read(&self, event: &OrderedEvent<'_>) -> KernelEvent {
        let value = |place: usize| self.fields[place].map(|field| event.value(field));
        let number = |place: usize| match value(place) {
            Some(Value::Unsigned(number)) => i64::try_from(number).unwrap_or(-1),
            Some(Value::Signed(number)) => number,
            Some(Value::Enum(number, _)) => i64::try_from(i128::from(number)).unwrap_or(-1),
            _ => -1,
        };
        let id = |place: usize| i32::try_from(number(place)).unwrap_or(-1);
        match self.kind {
            Kind::Switch => {
                let mut comm = Comm::default();
                if let Some(Value::Text(text)) = value(4) {
                    comm.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
                }
                let state = state(number(2));
                KernelEvent::Switch { cpu: id(0), from: id(1), state, to: id(3), comm }
            }
            Kind::Wakeup => KernelEvent::Wakeup { tid: id(0), cpu: id(1) },
            Kind::Migrate => KernelEvent::Migrate { tid: id(0), cpu: id(1) },
            Kind::PageFault => KernelEvent::PageFault { cpu: id(0) },
            Kind::Request => KernelEvent::Request { tid: id(0) },
        }
    }
}

/// The letter of a state as the kernel numbers them; bits above these say that a thread was preempted.
fn state(number: i64) -> u8 {
    match number & 0xFF {
        0 => b'R',
        bits if bits & 2 != 0 => b'D',
        bits if bits & 0xC != 0 => b'T',
        _ => b'S',
    }
}

/// What the kernel's events say of threads and CPUs.
#[derive(Debug, Default)]
pub struct KernelThreads {
    threads: HashMap<i64, Thread>,
    cpus: HashMap<i32, Cpu>,
    ageing: Ageing,
}

#[derive(Debug, Default)]
struct Thread {
    comm: Comm,
    history: History,
    now: Point,
    /// Whether it is on its CPU, and not waiting for it, while its state is `R`.
    is_running: bool,
    /// Whether it has missed a page since it got its CPU.
    has_faulted: bool,
}

#[derive(Debug, Default)]
struct Cpu {
    running: i64,
    /// When which thread got the CPU.
    switches: VecDeque<(i64, i64)>,
}

impl KernelThreads {
    /// Takes note of an event.
    pub fn event(&mut self, time: i64, event: KernelEvent) {
        match event {
            KernelEvent::Switch { cpu, from, state, to, comm } => {
                let to = i64::from(to);
                self.change(from, time, |thread| {
                    thread.now.voluntary += u32::from(state != b'R');
                    thread.now.involuntary += u32::from(state == b'R');
                    (thread.now.state, thread.now.cpu, thread.is_running) = (state, cpu, false);
                });
                self.change(to, time, |thread| {
                    (thread.now.state, thread.now.cpu, thread.is_running) = (b'R', cpu, true);
                    (thread.has_faulted, thread.comm) = (false, comm);
                });
                let on = self.cpus.entry(cpu).or_default();
                on.running = to;
                remember(&mut on.switches, MOST_SWITCHES, (time, to));
            }
            KernelEvent::Wakeup { tid, cpu } => self.change(tid, time, |thread| {
                if !thread.is_running {
                    (thread.now.state, thread.now.cpu) = (b'R', cpu);
                }
            }),
            KernelEvent::Migrate { tid, cpu } => self.change(tid, time, |thread| thread.now.cpu = cpu),
            KernelEvent::PageFault { cpu } => {
                if let Some(running) = self.cpus.get(&cpu).map(|cpu| cpu.running) {
                    self.change(running, time, |thread| {
                        thread.now.minor_faults += 1;
                        thread.has_faulted = true;
                    });
                }
            }
            // The page was on a disk.
            KernelEvent::Request { tid } => self.change(tid, time, |thread| {
                thread.now.major_faults += u32::from(std::mem::take(&mut thread.has_faulted));
            }),
        }
    }

    /// Changes what is known of a thread.
    fn change(&mut self, tid: impl Into<i64>, time: i64, change: impl FnOnce(&mut Thread)) {
        let tid = tid.into();
        // 0 is the idle thread of every CPU.
        if tid <= 0 {
            return;
        }
        if self.threads.len() >= MOST_THREADS && !self.threads.contains_key(&tid) {
            self.ageing.forgot(forget_oldest(&mut self.threads, |thread| thread.now.time));
        }
        if let Some(old) = self.ageing.due(time, self.threads.len()) {
            self.threads.values_mut().for_each(|thread| thread.history.age(old));
        }
        let count = self.threads.len();
        let thread = self.threads.entry(tid).or_default();
        let passed = (time - thread.now.time).max(0);
        if thread.now.time != 0 {
            match (thread.now.state, thread.is_running) {
                (b'R', true) => thread.now.on_cpu += passed,
                (b'R', false) => thread.now.queued += passed,
                _ => {}
            }
        }
        thread.now.time = time;
        change(thread);
        thread.history.push(thread.now, most_points(count));
    }

    /// The number of threads that were forgotten although they had run lately.
    pub fn forgotten(&self) -> u64 {
        self.ageing.forgotten
    }

    /// What became of a thread's time.
    pub fn account(&self, tid: i64, span: Span) -> Option<Account> {
        let thread = self.threads.get(&tid)?;
        // It goes on as it did after its last event.
        let passed = (span.end_ns - thread.now.time).max(0);
        let mut end = thread.now;
        match (end.state, thread.is_running) {
            (b'R', true) => end.on_cpu += passed,
            (b'R', false) => end.queued += passed,
            _ => {}
        }
        let mut account = thread.history.account_until(span, AccountSource::Kernel, Some(end))?;
        account.had_cpu = self.longest_on(account.cpu, span, tid).filter(|_| account.queued.most > 0);
        Some(account)
    }

    /// Who had a CPU the longest.
    fn longest_on(&self, cpu: i32, span: Span, waiting: i64) -> Option<String> {
        let switches = &self.cpus.get(&cpu)?.switches;
        let first = switches.partition_point(|(time, _)| *time <= span.begin_ns).saturating_sub(1);
        let mut times: HashMap<&[u8], i64> = HashMap::new();
        for place in first..switches.len() {
            let (begin_ns, tid) = switches[place];
            if begin_ns >= span.end_ns {
                break;
            }
            let end_ns = switches.get(place + 1).map_or(span.end_ns, |(time, _)| *time);
            if let Some(thread) = self.threads.get(&tid).filter(|_| tid != waiting) {
                let name = thread.comm.split(|byte| *byte == 0).next().unwrap_or_default();
                *times.entry(name).or_default() += Span { begin_ns, end_ns }.overlap_ns(span);
            }
        }
        let longest = times.into_iter().max_by_key(|(name, time)| (*time, std::cmp::Reverse(*name)));
        longest.map(|(name, _)| String::from_utf8_lossy(name).into_owned())
    }
}
