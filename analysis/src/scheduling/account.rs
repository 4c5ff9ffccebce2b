//! What became of a thread's time.

use serde::Serialize;

/// A time of which only bounds are known; nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// What is sure.
    pub least: i64,
    /// What is possible.
    pub most: i64,
}

impl Extent {
    /// A time that is known.
    pub fn exactly(time: i64) -> Self {
        Extent { least: time, most: time }
    }

    /// The middle between what is sure and what is possible.
    pub fn middle(self) -> i64 {
        self.least + (self.most - self.least) / 2
    }

    /// The part of it that lies in the rest of a time, of which `outside` is cut off and `inside` is left.
    pub fn cut(self, outside: i64, inside: i64) -> Self {
        Extent { least: (self.least - outside).max(0), most: self.most.min(inside) }
    }

    /// What both this and another bound of the same time say.
    pub fn and(self, other: Extent) -> Self {
        let least = self.least.max(other.least);
        Extent { least, most: self.most.min(other.most).max(least) }
    }

    /// As much of it as a limit allows.
    pub(crate) fn up_to(self, limit: Extent) -> Self {
        Extent { least: self.least.min(limit.least), most: self.most.min(limit.most) }
    }

    /// What is left of it without a part of it, as far as that is sure.
    fn without(self, part: Extent) -> Self {
        Extent { least: (self.least - part.least).max(0), most: (self.most - part.least).max(0) }
    }
}

impl std::ops::AddAssign for Extent {
    fn add_assign(&mut self, other: Extent) {
        self.least += other.least;
        self.most += other.most;
    }
}

/// What a thread did in a span of time; nanoseconds. The first five are all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// On a CPU.
    pub on_cpu: Extent,
    /// Ready, but without a CPU.
    pub queued: Extent,
    /// Stopped by a signal or a debugger.
    pub stopped: Extent,
    /// Blocked without being interruptible: mostly by a device.
    pub device: Extent,
    /// Blocked otherwise.
    pub asleep: Extent,
    /// The part of `queued` that a limit is the reason of.
    pub throttled: Extent,
    /// The part of `on_cpu` in which a hypervisor gave the CPU to others.
    pub stolen: Extent,
    /// How long the span is.
    pub length: i64,
    /// The longest time from one look at the thread to the next; 0 if the kernel's events say each change.
    pub pace: i64,
    /// When it was seen stopped at first, if only a look between others shows it: for how long is not known.
    pub stopped_at: Option<i64>,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// The CPU that it waited for the longest.
    pub cpu: i32,
    /// Who had that CPU for most of the time.
    pub had_cpu: Option<String>,
    pub source: AccountSource,
}

/// Where an account comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AccountSource {
    /// From samples of `/proc`: within bounds.
    #[default]
    Samples,
    /// From events of the kernel: exact.
    Kernel,
}

/// What held a thread up in time that no event explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
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
    /// It ran code that has no events.
    OnCpu,
}

impl SystemCause {
    /// All of them.
    pub const ALL: [SystemCause; 8] = [
        SystemCause::Queued,
        SystemCause::Throttled,
        SystemCause::Stolen,
        SystemCause::Stopped,
        SystemCause::Faults,
        SystemCause::Device,
        SystemCause::Asleep,
        SystemCause::OnCpu,
    ];

    /// What it is called everywhere.
    pub fn in_words(self) -> &'static str {
        match self {
            SystemCause::Queued => "no CPU",
            SystemCause::Throttled => "CPU limit",
            SystemCause::Stolen => "CPU stolen",
            SystemCause::Stopped => "stopped",
            SystemCause::Faults => "major faults",
            SystemCause::Device => "device",
            SystemCause::Asleep => "asleep in no event",
            SystemCause::OnCpu => "code without events",
        }
    }

    /// Whether it is what others did, and not what the thread itself did.
    pub(crate) fn keeps_from_running(self) -> bool {
        !matches!(self, SystemCause::OnCpu | SystemCause::Asleep)
    }

    /// Whether nothing that the thread asked for is the reason.
    pub(crate) fn is_by_others(self) -> bool {
        use SystemCause::{Queued, Stolen, Stopped, Throttled};
        matches!(self, Queued | Throttled | Stolen | Stopped)
    }
}

impl Account {
    /// An account of nothing.
    pub fn new(source: AccountSource) -> Self {
        Account { cpu: -1, source, ..Account::default() }
    }

    /// What the time went into, and how much of it.
    pub fn parts(&self) -> [(SystemCause, Extent); 8] {
        // A thread that waits for a page is blocked, interruptible or not.
        let none = Extent::default();
        let (faults, device, asleep) = match self.major_faults {
            0 => (none, self.device, self.asleep),
            _ => {
                let mut both = self.device;
                both += self.asleep;
                (Extent { most: both.most.min(self.length), ..both }, none, none)
            }
        };
        [
            (SystemCause::Throttled, self.throttled),
            (SystemCause::Queued, self.queued.without(self.throttled)),
            (SystemCause::Stolen, self.stolen),
            (SystemCause::OnCpu, self.on_cpu.without(self.stolen)),
            (SystemCause::Stopped, self.stopped),
            (SystemCause::Faults, faults),
            (SystemCause::Device, device),
            (SystemCause::Asleep, asleep),
        ]
    }

    /// The largest part that is sure.
    pub fn cause(&self) -> Option<(SystemCause, Extent)> {
        let parts = self.parts().into_iter().filter(|(_, time)| time.least > 0);
        parts.max_by_key(|(_, time)| time.least)
    }

    /// The time in which it was kept from running.
    pub fn kept(&self) -> Extent {
        let mut kept = self.queued;
        kept += self.stopped;
        kept += self.device;
        Extent { most: kept.most.min(self.length), ..kept }
    }

    /// Narrows the bounds by what the other parts leave, and by the time that it was ready, running or not.
    pub fn narrow(&mut self, ready: Extent) {
        let length = self.length;
        self.on_cpu.most = self.on_cpu.most.min(ready.most);
        self.queued.most = self.queued.most.min(ready.most);
        let mut blocked = [&mut self.stopped, &mut self.device, &mut self.asleep];
        let possible: i64 = blocked.iter().map(|part| part.most).sum();
        for part in &mut blocked {
            part.least = part.least.max(length - ready.most - (possible - part.most));
            part.most = part.most.min(length - ready.least).max(part.least);
        }
        let parts =
            [&mut self.on_cpu, &mut self.queued, &mut self.stopped, &mut self.device, &mut self.asleep];
        let sure: i64 = parts.iter().map(|part| part.least).sum();
        let possible: i64 = parts.iter().map(|part| part.most).sum();
        for part in parts {
            let (others_sure, others_possible) = (sure - part.least, possible - part.most);
            part.least = part.least.max(length - others_possible);
            part.most = part.most.min(length - others_sure).max(part.least);
        }
    }

    /// This and another one together.
    pub fn and(mut self, other: Account) -> Account {
        if other.queued.most > self.queued.most {
            (self.cpu, self.had_cpu) = (other.cpu, other.had_cpu);
        }
        self.on_cpu += other.on_cpu;
        self.queued += other.queued;
        self.stopped += other.stopped;
        self.device += other.device;
        self.asleep += other.asleep;
        self.throttled += other.throttled;
        self.stolen += other.stolen;
        self.length += other.length;
        self.pace = self.pace.max(other.pace);
        self.stopped_at = self.stopped_at.or(other.stopped_at);
        self.minor_faults += other.minor_faults;
        self.major_faults += other.major_faults;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self
    }
}
