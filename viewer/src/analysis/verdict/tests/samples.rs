//! Durations drawn from distributions, the same on every run.

use std::f64::consts::TAU;

use crate::analysis::verdict::{Durations, Judged, Rule, judge};
use crate::unit::TimeUnit;

/// Numbers between 0 and 1, the same for the same seed (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A whole number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        (self.uniform() * limit as f64) as u64
    }

    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    fn pareto(&mut self, exponent: f64) -> f64 {
        self.uniform().powf(-1.0 / exponent)
    }
}

/// A healthy group: microseconds, given how far in the trace an event is, from 0 to 1.
pub struct Shape {
    pub name: &'static str,
    pub draw: fn(&mut Random, f64) -> f64,
}

/// The healthy groups that the documentation has a table of.
pub const SHAPES: [Shape; 20] = [
    Shape { name: "exponential", draw: |r, _| 100.0 * r.exponential() },
    Shape { name: "log-normal, sigma 0.5", draw: |r, _| r.log_normal(100.0, 0.5) },
    Shape { name: "log-normal, sigma 1", draw: |r, _| r.log_normal(100.0, 1.0) },
    Shape { name: "log-normal, sigma 2", draw: |r, _| r.log_normal(100.0, 2.0) },
    Shape { name: "Pareto 1.5", draw: |r, _| 100.0 * r.pareto(1.5) },
    Shape { name: "Pareto 2.5", draw: |r, _| 100.0 * r.pareto(2.5) },
    Shape {
        name: "two modes, 99/1",
        draw: |r, _| if r.uniform() < 0.01 { r.log_normal(5000.0, 0.3) } else { r.log_normal(100.0, 0.3) },
    },
    Shape {
        name: "two modes, 90/10",
        draw: |r, _| if r.uniform() < 0.1 { r.log_normal(1000.0, 0.3) } else { r.log_normal(50.0, 0.3) },
    },
    Shape { name: "whole 0/1 µs", draw: |r, _| 2.0 * r.uniform() },
    Shape { name: "drift", draw: |r, at| 100.0 * (1.0 + 2.0 * at) * r.exponential() },
    Shape { name: "daily sine", draw: |r, at| 100.0 * (1.0 + 0.6 * (TAU * at).sin()) * r.exponential() },
    Shape {
        name: "five daily sines",
        draw: |r, at| 100.0 * (1.0 + 0.5 * (5.0 * TAU * at).sin()) * r.log_normal(1.0, 0.5),
    },
    Shape {
        name: "bursts",
        draw: |r, at| {
            if (at * 20.0).fract() < 0.05 { 500.0 * r.exponential() } else { 100.0 * r.exponential() }
        },
    },
    Shape { name: "gamma 2", draw: |r, _| 50.0 * (r.exponential() + r.exponential()) },
    Shape { name: "Weibull 0.7", draw: |r, _| 100.0 * r.exponential().powf(1.0 / 0.7) },
    Shape { name: "uniform", draw: |r, _| 50.0 + 100.0 * r.uniform() },
    Shape {
        name: "three modes",
        draw: |r, _| match r.uniform() {
            part if part < 0.7 => r.log_normal(20.0, 0.3),
            part if part < 0.95 => r.log_normal(200.0, 0.3),
            _ => r.log_normal(2000.0, 0.3),
        },
    },
    Shape {
        name: "cache hit or miss",
        draw: |r, _| if r.uniform() < 0.2 { r.log_normal(800.0, 0.7) } else { 2.0 + 3.0 * r.uniform() },
    },
    Shape { name: "rounded to 10 µs", draw: |r, _| (10.0 * r.exponential()).floor() * 10.0 },
    Shape { name: "rounded to 1 ms", draw: |r, _| (0.5 * r.exponential()).floor() * 1000.0 },
];

/// An event of a sample.
#[derive(Clone, Copy)]
pub struct Drawn {
    pub time_ns: i64,
    pub duration_us: u64,
    pub is_planted: bool,
}

/// How long the samples last.
pub const LENGTH_NS: f64 = 60e9;

/// Healthy events of a shape, at random times.
pub fn healthy(shape: &Shape, count: usize, random: &mut Random) -> Vec<Drawn> {
    let draw = |_| {
        let at = random.uniform();
        Drawn {
            time_ns: (at * LENGTH_NS) as i64,
            duration_us: (shape.draw)(random, at) as u64,
            is_planted: false,
        }
    };
    (0..count).map(draw).collect()
}

/// What was found of a sample.
pub struct Found {
    pub judged: Judged,
    pub lines: u64,
    /// Planted events that are in a finding, and all planted ones.
    pub planted: (u64, u64),
    /// All events that are in a finding.
    pub covered: u64,
}

impl Found {
    pub fn recall(&self) -> f64 {
        self.planted.0 as f64 / self.planted.1.max(1) as f64
    }

    pub fn precision(&self) -> f64 {
        if self.covered == 0 { 1.0 } else { self.planted.0 as f64 / self.covered as f64 }
    }
}

/// Judges a sample as the one group of a trace.
pub fn found(events: &[Drawn]) -> Found {
    let mut group = Durations::new("app:request", "get", TimeUnit::Microseconds);
    events.iter().for_each(|event| group.record(event.time_ns, event.duration_us));
    let groups = [group];
    let judged = judge(&groups, &Rule::default());
    let limit = groups[0].limit(&judged);
    let is_covered = |event: &&Drawn| {
        let in_period = judged.periods.iter().flat_map(|period| &period.spans);
        let mut in_period = in_period.filter(|span| (span.begin_ns..span.end_ns).contains(&event.time_ns));
        limit.is_some_and(|limit| event.duration_us > limit.above) || in_period.next().is_some()
    };
    let covered = || events.iter().filter(is_covered);
    Found {
        lines: judged.singles + (judged.modes.len() + judged.periods.len()) as u64,
        planted: (
            covered().filter(|event| event.is_planted).count() as u64,
            events.iter().filter(|event| event.is_planted).count() as u64,
        ),
        covered: covered().count() as u64,
        judged,
    }
}

/// The empirical percentile of 99.9 %.
pub fn p999(events: &[Drawn]) -> u64 {
    let mut durations: Vec<u64> = events.iter().map(|event| event.duration_us).collect();
    durations.sort_unstable();
    durations[(durations.len() * 999).div_ceil(1000) - 1]
}
