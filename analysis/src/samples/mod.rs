//! What Linux says about the traced threads while they are recorded: a small CTF trace beside that of the events.
//!
//! `ltt-top record` writes it into the folder [`FOLDER`] of a recording. Any reader of CTF reads it; `ltt-top` reads it for
//! what no event explains, and leaves it out of everything else unless that folder itself is named.

mod format;
mod queue;
mod reader;
mod writer;

pub use queue::SampleQueue;
pub use reader::SampleReader;
pub use writer::SampleWriter;

/// The folder of the samples in that of a recording.
pub const FOLDER: &str = "ltt-top-samples";

/// A sample. All times and numbers but the CPU and the state are totals since the beginning of a thread or of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Of a traced thread that has run since it was last looked at.
    Thread(ThreadSample),
    /// Of any thread of the machine that has used a CPU since the last look.
    Runner(RunnerSample),
    /// Of the limits that a traced process runs under.
    Limit(LimitSample),
    /// Of the whole machine.
    Machine(MachineSample),
}

/// A traced thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadSample {
    /// Its process, by its ID where it runs.
    pub vpid: i32,
    /// The thread, by its ID where it runs.
    pub vtid: i32,
    /// How long before this sample the thread was last seen unchanged; nanoseconds.
    pub since_ns: u64,
    /// The letter of its state: `R`, `S`, `D`, `T` …; 0 if it has run since the last look and was not asked.
    pub state: u8,
    /// The CPU that it ran on last.
    pub cpu: i32,
    /// The time on a CPU.
    pub on_cpu_ns: u64,
    /// The time ready, but without a CPU.
    pub queued_ns: u64,
    /// How often it gave up a CPU.
    pub voluntary_switches: u64,
    /// How often it lost one.
    pub involuntary_switches: u64,
    /// Page faults without reading a page.
    pub minor_faults: u64,
    /// Page faults that read one.
    pub major_faults: u64,
}

impl ThreadSample {
    /// The state of a thread that is not sampled any more: it has ended, or cannot be told from another one.
    pub const LEFT: u8 = b'X';
}

/// A thread that used a CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunnerSample {
    /// Its process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// The CPU that it ran on last.
    pub cpu: i32,
    /// The time on a CPU, in the kernel's steps of usually 10 ms.
    pub on_cpu_ns: u64,
    /// Its name.
    pub comm: String,
}

/// The limits of a traced process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitSample {
    /// The process, by its ID where it runs.
    pub vpid: i32,
    /// How long its control group was kept from the CPU, because it had used what it may.
    pub throttled_ns: u64,
}

/// The machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineSample {
    /// The time that a hypervisor gave to others, over all CPUs.
    pub steal_ns: u64,
    /// The time in which any thread waited for a CPU (pressure stall information).
    pub pressure_cpu_us: u64,
    /// The same for memory.
    pub pressure_memory_us: u64,
    /// The same for devices.
    pub pressure_io_us: u64,
    /// The time that taking samples took so far.
    pub sampler_ns: u64,
}
