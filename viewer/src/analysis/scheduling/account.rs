//! What became of a thread's time.

use serde::Serialize;

/// What a thread did in a span of time; nanoseconds. The first five are all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// On a CPU.
    pub on_cpu: i64,
    /// Ready, but without a CPU.
    pub queued: i64,
    /// Stopped by a signal or a debugger.
    pub stopped: i64,
    /// Blocked without being interruptible: mostly by a device.
    pub device: i64,
    /// Blocked otherwise.
    pub asleep: i64,
    /// The part of `queued` that a limit is the reason of.
    pub throttled: i64,
    /// The part of `on_cpu` in which a hypervisor gave the CPU to others.
    pub stolen: i64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// The CPU that it waited for the longest.
    pub cpu: i32,
    /// Who had that CPU for most of the time.
    pub had_cpu: Option<String>,
    /// How often it was seen asleep in this time. Where nobody looked, it may have been kept from more than is known.
    pub seen_asleep: u32,
    pub source: AccountSource,
}

/// Where an account comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AccountSource {
    /// From samples of `/proc`: close.
    #[default]
    Samples,
    /// From events of the kernel: exact.
    Kernel,
}

/// What held a thread up in time that no event explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemCause {
    /// It was ready, and others had the CPU.
    Queued,
    /// It was ready, and its control group had used up its CPU time.
    Throttled,
    /// A hypervisor gave the CPU to others.
    Stolen,
    /// A signal or a debugger stopped it.
    Stopped,
    /// It waited for pages that were not in memory.
    Faults,
    /// It waited for a device.
    Device,
    /// It waited for something else: a lock, a socket, another process.
    Asleep,
    /// It waited for requests, of which none came.
    Idle,
    /// It ran code that has no events.
    OnCpu,
}

impl Account {
    /// An account of nothing.
    pub fn new(source: AccountSource) -> Self {
        Account { cpu: -1, source, ..Account::default() }
    }

    /// All of the time.
    pub fn length(&self) -> i64 {
        self.on_cpu + self.queued + self.stopped + self.device + self.asleep
    }

    /// What the time went into, and how much of it.
    pub fn parts(&self) -> [(SystemCause, i64); 8] {
        // A thread that waits for a page is blocked, interruptible or not.
        let (faults, device, asleep) = match self.major_faults {
            0 => (0, self.device, self.asleep),
            _ => (self.device + self.asleep, 0, 0),
        };
        [
            (SystemCause::Throttled, self.throttled),
            (SystemCause::Queued, self.queued - self.throttled),
            (SystemCause::Stolen, self.stolen),
            (SystemCause::OnCpu, self.on_cpu - self.stolen),
            (SystemCause::Stopped, self.stopped),
            (SystemCause::Faults, faults),
            (SystemCause::Device, device),
            (SystemCause::Asleep, asleep),
        ]
    }

    /// What at least half of the time went into.
    pub fn cause(&self) -> Option<SystemCause> {
        let (cause, time) = self.parts().into_iter().max_by_key(|(_, time)| *time)?;
        (time > 0 && time.saturating_mul(2) >= self.length()).then_some(cause)
    }

    /// How much of the time went into something.
    pub fn time_of(&self, cause: SystemCause) -> i64 {
        let cause = if cause == SystemCause::Idle { SystemCause::Asleep } else { cause };
        self.parts().iter().find(|(part, _)| *part == cause).map_or(0, |(_, time)| *time)
    }

    /// This and another one together.
    pub fn and(mut self, other: Account) -> Account {
        if other.queued > self.queued {
            (self.cpu, self.had_cpu) = (other.cpu, other.had_cpu);
        }
        self.on_cpu += other.on_cpu;
        self.queued += other.queued;
        self.stopped += other.stopped;
        self.device += other.device;
        self.asleep += other.asleep;
        self.throttled += other.throttled;
        self.stolen += other.stolen;
        self.minor_faults += other.minor_faults;
        self.major_faults += other.major_faults;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.seen_asleep += other.seen_asleep;
        self
    }
}
