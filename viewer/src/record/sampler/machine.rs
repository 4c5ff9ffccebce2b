//! What the whole machine, and the limits of processes, say.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use ltt_analysis::samples::{LimitSample, MachineSample, Sample};

use super::monotonic;
use super::output::Sink;

/// The length of the kernel's clock ticks, in nanoseconds.
const TICK_NS: u64 = 10_000_000;

/// Samples the machine, and the limits of processes where they changed, each with its ID where it runs; `known` has how
/// long they were throttled so far; `sampler_ns` is what taking samples took.
pub fn look(processes: &[(u32, u32)], sampler_ns: u64, known: &mut HashMap<u32, u64>, sink: &Sink) {
    let now = monotonic();
    known.retain(|pid, _| processes.iter().any(|(recorded, _)| recorded == pid));
    for &(pid, inner) in processes {
        let throttled_ns = throttled(pid).unwrap_or(0);
        if known.insert(pid, throttled_ns) != Some(throttled_ns) {
            let vpid = i32::try_from(inner).unwrap_or(-1);
            sink.add(now, Sample::Limit(LimitSample { vpid, throttled_ns }));
        }
    }
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = stat.lines().next().unwrap_or_default();
    let steal = first.split_ascii_whitespace().nth(8).and_then(|word| word.parse::<u64>().ok());
    let machine = MachineSample {
        steal_ns: steal.unwrap_or(0).saturating_mul(TICK_NS),
        pressure_cpu_us: pressure("cpu"),
        pressure_memory_us: pressure("memory"),
        pressure_io_us: pressure("io"),
        sampler_ns,
    };
    sink.add(now, Sample::Machine(machine));
}

/// The time in which some thread waited, where the kernel counts that.
fn pressure(resource: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/pressure/{resource}")).unwrap_or_default();
    let some = text.lines().find(|line| line.starts_with("some"));
    let total = some.and_then(|line| line.rsplit_once("total=")?.1.trim().parse().ok());
    total.unwrap_or(0)
}

/// How long the control group of a process was throttled: of version 2, or of version 1. It may be in another one each time.
fn throttled(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let places = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let root = match controllers {
            "" => "/sys/fs/cgroup",
            all if all.split(',').any(|one| one == "cpu") => "/sys/fs/cgroup/cpu",
            _ => return None,
        };
        Some(PathBuf::from(root).join(path).join("cpu.stat"))
    });
    places.into_iter().find_map(|file| throttled_by(&file))
}

fn throttled_by(file: &Path) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.trim().parse::<u64>().ok())
    };
    number("throttled_usec").map(|us| us.saturating_mul(1000)).or_else(|| number("throttled_time"))
}
