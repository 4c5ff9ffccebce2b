//! Which threads of the machine use its CPUs.

use std::collections::HashMap;
use std::fs;

use ltt_analysis::samples::{RunnerSample, Sample};

use super::monotonic;
use super::output::Sink;
use crate::record::proc;

/// The most threads of a process that are looked at.
const MOST_THREADS: usize = 32;

/// The length of the kernel's clock ticks, in nanoseconds: Linux shows 100 a second to programs on all machines.
const TICK_NS: u64 = 10_000_000;

/// The time on a CPU that processes and threads had when they were last looked at, in ticks.
#[derive(Default)]
pub struct Runners {
    processes: HashMap<u32, u64>,
    threads: HashMap<u32, u64>,
}

struct Times {
    comm: String,
    ticks: u64,
    threads: usize,
    cpu: i32,
}

impl Runners {
    /// Samples the threads that have used a CPU since the last look.
    pub fn look(&mut self, sink: &Sink) {
        let before = std::mem::take(&mut self.processes);
        for pid in proc::pids() {
            let Some(times) = Times::read(&format!("/proc/{pid}/stat")) else { continue };
            self.processes.insert(pid, times.ticks);
            if before.get(&pid).is_some_and(|ticks| times.ticks <= *ticks) {
                continue;
            }
            if times.threads <= 1 {
                self.sample(pid, pid, times, sink);
                continue;
            }
            let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            let tids = tasks.filter_map(|task| task.file_name().to_str()?.parse::<u32>().ok());
            for tid in tids.take(MOST_THREADS).collect::<Vec<_>>() {
                if let Some(times) = Times::read(&format!("/proc/{pid}/task/{tid}/stat")) {
                    self.sample(pid, tid, times, sink);
                }
            }
        }
        let processes = &self.processes;
        if self.threads.len() > 4 * processes.len() + 4096 {
            self.threads.clear();
        }
    }

    fn sample(&mut self, pid: u32, tid: u32, times: Times, sink: &Sink) {
        if self.threads.insert(tid, times.ticks) == Some(times.ticks) {
            return;
        }
        let id = |number: u32| i32::try_from(number).unwrap_or(-1);
        let on_cpu_ns = times.ticks.saturating_mul(TICK_NS);
        let sample = RunnerSample { pid: id(pid), tid: id(tid), cpu: times.cpu, on_cpu_ns, comm: times.comm };
        sink.add(monotonic(), Sample::Runner(sample));
    }
}

impl Times {
    fn read(path: &str) -> Option<Times> {
        let text = fs::read(path).ok()?;
        let text = String::from_utf8_lossy(&text);
        let (_, rest) = text.split_once(" (")?;
        let (comm, rest) = rest.rsplit_once(") ")?;
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |place: usize| words.get(place).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        Some(Times {
            comm: comm.to_owned(),
            ticks: number(11) + number(12),
            threads: usize::try_from(number(17)).unwrap_or(1),
            cpu: i32::try_from(number(36)).unwrap_or(-1),
        })
    }
}
