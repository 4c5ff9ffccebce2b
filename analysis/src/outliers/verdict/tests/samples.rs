//! Durations drawn from distributions, the same on every run.

use std::f64::consts::TAU;

use crate::outliers::verdict::{Durations, Judged, Limit, Rule, judge};
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

    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    pub fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    fn pareto(&mut self, exponent: f64) -> f64 {
        self.uniform().powf(-1.0 / exponent)
    }
}

/// A healthy group.
pub struct Shape {
    pub name: &'static str,
    /// Whether a line may say how the group is: it has modes, or a tail that does not end.
    pub may_have_line: bool,
    /// Whether stalls must be found in it: those of a power law, or of a very wide group, look like stalls themselves.
    pub is_told: bool,
    /// Microseconds, given how far in the trace an event is, from 0 to 1.
    pub draw: fn(&mut Random, f64) -> f64,
}

const fn quiet(name: &'static str, draw: fn(&mut Random, f64) -> f64) -> Shape {
    Shape { name, may_have_line: false, is_told: true, draw }
}

const fn modal(name: &'static str, draw: fn(&mut Random, f64) -> f64) -> Shape {
    Shape { name, may_have_line: true, is_told: true, draw }
}

const fn wide(name: &'static str, draw: fn(&mut Random, f64) -> f64) -> Shape {
    Shape { name, may_have_line: true, is_told: false, draw }
}

/// The healthy groups that the documentation has a table of.
pub const SHAPES: [Shape; 21] = [
    quiet("exponential", |r, _| 100.0 * r.exponential()),
    quiet("log-normal, sigma 0.5", |r, _| r.log_normal(100.0, 0.5)),
    quiet("log-normal, sigma 1", |r, _| r.log_normal(100.0, 1.0)),
    wide("log-normal, sigma 2", |r, _| r.log_normal(100.0, 2.0)),
    wide("Pareto 1.5", |r, _| 100.0 * r.pareto(1.5)),
    wide("Pareto 2.5", |r, _| 100.0 * r.pareto(2.5)),
    modal("two modes, 99/1", |r, _| match r.uniform() < 0.01 {
        true => r.log_normal(5000.0, 0.3),
        false => r.log_normal(100.0, 0.3),
    }),
    modal("two modes, 90/10", |r, _| match r.uniform() < 0.1 {
        true => r.log_normal(1000.0, 0.3),
        false => r.log_normal(50.0, 0.3),
    }),
    quiet("whole 0/1 µs", |r, _| 2.0 * r.uniform()),
    quiet("drift to 3 times", |r, at| 100.0 * (1.0 + 2.0 * at) * r.exponential()),
    quiet("daily sine, ±60 %", |r, at| 100.0 * (1.0 + 0.6 * (TAU * at).sin()) * r.exponential()),
    quiet("five sines, ±50 %", |r, at| (1.0 + 0.5 * (5.0 * TAU * at).sin()) * r.log_normal(100.0, 0.5)),
    modal("bursts, 5 times slower", |r, at| match (at * 20.0).fract() < 0.05 {
        true => 500.0 * r.exponential(),
        false => 100.0 * r.exponential(),
    }),
    quiet("gamma 2", |r, _| 50.0 * (r.exponential() + r.exponential())),
    quiet("Weibull 0.7", |r, _| 100.0 * r.exponential().powf(1.0 / 0.7)),
    quiet("uniform", |r, _| 50.0 + 100.0 * r.uniform()),
    modal("three modes, 70/25/5", |r, _| match r.uniform() {
        part if part < 0.7 => r.log_normal(20.0, 0.3),
        part if part < 0.95 => r.log_normal(200.0, 0.3),
        _ => r.log_normal(2000.0, 0.3),
    }),
    modal("cache, 80/20", |r, _| match r.uniform() < 0.2 {
        true => r.log_normal(800.0, 0.7),
        false => 2.0 + 3.0 * r.uniform(),
    }),
    quiet("rounded to 10 µs", |r, _| (10.0 * r.exponential()).floor() * 10.0),
    modal("rounded to 1 ms", |r, _| (0.5 * r.exponential()).floor() * 1000.0),
    quiet("all alike", |_, _| 7.0),
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
    judged: Judged,
    limit: Option<Limit>,
}

impl Found {
    /// The number of lines that are shown.
    pub fn lines(&self) -> u64 {
        self.judged.singles + (self.judged.modes.len() + self.judged.periods.len()) as u64
    }

    /// Whether an event is in a finding.
    pub fn has(&self, event: &Drawn) -> bool {
        let mut spans = self.judged.periods.iter().flat_map(|period| &period.spans);
        self.limit.as_ref().is_some_and(|limit| event.duration_us > limit.above)
            || spans.any(|span| (span.begin_ns..span.end_ns).contains(&event.time_ns))
    }
}

/// Judges a sample as the one group of a trace.
pub fn found(events: &[Drawn]) -> Found {
    let mut group = Durations::new("app:request", "get", TimeUnit::Microseconds);
    events.iter().for_each(|event| group.record(event.time_ns, event.duration_us));
    let judged = judge(std::slice::from_ref(&group), &Rule::default());
    Found { limit: group.limit(&judged).cloned(), judged }
}

/// The empirical percentile of 99.9 %.
pub fn p999(events: &[Drawn]) -> u64 {
    let mut durations: Vec<u64> = events.iter().map(|event| event.duration_us).collect();
    durations.sort_unstable();
    durations[(durations.len() * 999).div_ceil(1000) - 1]
}
