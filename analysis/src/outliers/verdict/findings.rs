//! Findings of the verdicts: plain data in which every figure is final.

use serde::Serialize;

use crate::finding::Span;
use crate::finding::{GroupName, Ns};

/// What a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The group's own durations.
    Own,
    /// All durations of the event, because the group has few, or lies above all others.
    Event,
    /// The threshold that the user gave.
    Threshold,
}

impl Basis {
    /// The name, as findings are serialised.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Own => "own",
            Basis::Event => "event",
            Basis::Threshold => "threshold",
        }
    }
}

/// Many events of a group that are alike and far above its main body.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mode {
    /// Which group.
    #[serde(flatten)]
    pub name: GroupName,
    /// The place of the group among those that were judged.
    #[serde(skip)]
    pub(crate) group: usize,
    /// The number of events.
    pub count: u64,
    /// Their share of the group.
    pub share: f64,
    /// The shortest.
    #[serde(rename = "from_us")]
    pub from: Ns,
    /// The median.
    #[serde(rename = "typical_us")]
    pub typical: Ns,
    /// The longest.
    #[serde(rename = "to_us")]
    pub to: Ns,
    /// Whether they are a long tail, without a gap below them, and not necessarily similar.
    pub is_tail: bool,
    /// Their total duration.
    #[serde(rename = "total_us")]
    pub total: Ns,
    /// The excess over the same number of usual events.
    #[serde(rename = "lost_us")]
    pub lost: Ns,
    /// What they are compared with.
    pub rule: Basis,
    /// The median of that.
    #[serde(rename = "usual_us")]
    pub usual: Ns,
    /// Its 99th percentile.
    #[serde(rename = "usual_p99_us")]
    pub usual_p99: Ns,
    /// How many times longer they are, median by median.
    pub times_usual: f64,
    /// Durations above this are slow.
    #[serde(rename = "limit_us")]
    pub limit: Ns,
    /// When the first ended, to the width of a time bin: nanoseconds since 1970.
    pub begin_ns: i64,
    /// When the last ended.
    pub end_ns: i64,
    /// Why it is shown, in words.
    pub reason: String,
}

/// How a slow period ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PeriodKind {
    /// It is over before the trace is.
    Period,
    /// From a time on everything stays slower, up to the end of the trace.
    Shift,
}

/// A time in which groups were slower than in the rest of the trace.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Period {
    /// Whether it ends within the trace.
    pub kind: PeriodKind,
    /// When it begins, or the costliest one of several: nanoseconds since 1970.
    pub begin_ns: i64,
    /// When it ends.
    pub end_ns: i64,
    /// All times at which the groups were slower, the first few; one or more.
    pub spans: Vec<Span>,
    /// The number of events in it, of the groups that were slower, without single ones and modes.
    pub count: u64,
    /// The excess over the same number of usual events.
    #[serde(rename = "lost_us")]
    pub lost: Ns,
    /// The rate of these events outside of it.
    pub rate_before_per_s: Option<f64>,
    /// Their rate in it.
    pub rate_during_per_s: Option<f64>,
    /// The groups that were slower, those that lost the most first.
    pub groups: Vec<Shift>,
    /// The number of groups with enough events in that time to be judged.
    pub judged_groups: u64,
    /// Whether all of those were slower by a similar factor, which points to the machine.
    pub alike: bool,
    /// Why it is shown, in words.
    pub reason: String,
}

/// How a group changed in a slow period.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shift {
    /// Which group.
    #[serde(flatten)]
    pub name: GroupName,
    /// The number of events in the period.
    pub count: u64,
    /// Their mean outside of it.
    pub mean_before_us: f64,
    /// Their mean in it.
    pub mean_during_us: f64,
    /// How many times slower it was.
    pub factor: f64,
    /// The share of its events that were slower than the median outside: about half if nothing changed.
    pub slower_share: f64,
    /// What they took longer.
    #[serde(rename = "lost_us")]
    pub lost: Ns,
}

/// The level of a group rose steadily over the whole trace.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Drift {
    /// Which group.
    #[serde(flatten)]
    pub name: GroupName,
    /// The number of events, without single ones and modes.
    pub count: u64,
    /// By which factor the level rose from the first twelfth of the events to the last.
    pub factor: f64,
    /// The mean of the first quarter of the events.
    pub mean_first_us: f64,
    /// The mean of the last quarter.
    pub mean_last_us: f64,
    /// The excess over the same number of events as fast as the first quarter.
    #[serde(rename = "lost_us")]
    pub lost: Ns,
    /// When it begins: nanoseconds since 1970.
    pub begin_ns: i64,
    /// When it ends.
    pub end_ns: i64,
    /// Why it is shown, in words.
    pub reason: String,
}

/// An event that was seen too rarely to be judged.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unjudged {
    /// The full name.
    pub event: String,
    /// The number of plausible durations.
    pub count: u64,
    /// The longest of them.
    #[serde(rename = "max_us")]
    pub max: Option<Ns>,
}
