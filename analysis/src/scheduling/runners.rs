//! Who used the CPUs, by samples of all threads that did.

use std::collections::{HashMap, VecDeque};

use crate::finding::Span;
use crate::recent::remember;
use crate::samples::RunnerSample;

/// The most threads, and the most samples of each.
const MOST_THREADS: usize = 4096;
const MOST_SAMPLES: usize = 256;

/// Threads that used a CPU.
#[derive(Debug, Default)]
pub struct Runners(HashMap<i32, Runner>);

#[derive(Debug, Default)]
struct Runner {
    comm: String,
    /// Time, CPU and time on it so far.
    samples: VecDeque<(i64, i32, i64)>,
}

impl Runners {
    /// Adds a sample.
    pub fn add(&mut self, time: i64, sample: RunnerSample) {
        if self.0.len() >= MOST_THREADS && !self.0.contains_key(&sample.tid) {
            let latest = |runner: &Runner| runner.samples.back().map_or(i64::MIN, |(time, ..)| *time);
            super::forget_oldest(&mut self.0, latest);
        }
        let runner = self.0.entry(sample.tid).or_default();
        runner.comm = sample.comm;
        let on_cpu = i64::try_from(sample.on_cpu_ns).unwrap_or(i64::MAX);
        remember(&mut runner.samples, MOST_SAMPLES, (time, sample.cpu, on_cpu));
    }

    /// Who was on a CPU for most of the time that a thread waited for it.
    pub fn on(&self, cpu: i32, span: Span, queued: i64, waiting: i64) -> Option<String> {
        let others = self.0.iter().filter(|(tid, _)| i64::from(**tid) != waiting);
        let used = others.map(|(tid, runner)| (runner.used(cpu, span), *tid, runner));
        let (used, _, runner) = used.max_by_key(|(used, tid, _)| (*used, std::cmp::Reverse(*tid)))?;
        (used > 0 && used.saturating_mul(2) >= queued).then(|| runner.comm.clone())
    }
}

impl Runner {
    /// How long it was on a CPU, from the last sample before a span to the first after it.
    fn used(&self, cpu: i32, span: Span) -> i64 {
        let first = self.samples.partition_point(|(time, ..)| *time <= span.begin_ns).saturating_sub(1);
        let after = self.samples.partition_point(|(time, ..)| *time < span.end_ns);
        let last = after.min(self.samples.len().saturating_sub(1));
        let between = self.samples.range(first..=last);
        let steps = between.clone().zip(between.skip(1));
        steps.filter(|(_, to)| to.1 == cpu).map(|(from, to)| to.2 - from.2).sum()
    }
}
