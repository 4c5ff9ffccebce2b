//! The rule of the verdicts, with every constant that decides.

use serde::Serialize;

use crate::finding::Ns;

/// The most slow events of a group, distinct from each other, that are listed singly; more are one mode.
pub const SINGLES_MAX: u64 = 10;
/// The most slow events of all groups of an event too rare to be judged that are listed singly.
pub const RARE_SINGLES_MAX: u64 = 100;
/// Slow durations exceed this multiple of the 99th percentile of the usual ones.
pub const FAR: f64 = 3.0;
/// A whole group is a slow mode of its event if it is this number of times slower than usual for the event.
pub const FAR_FROM_EVENT: f64 = 100.0;
/// A slow period is slower than the rest by at least this factor.
pub const SHIFT: f64 = 1.5;
/// A slow period has at least this many events, and so has the rest.
pub const PERIOD_EVENTS: u64 = 30;
/// What is lost in a slow period is at least this part of all that the group took.
pub const PERIOD_WORTH: f64 = 0.005;
/// At the edges of a slow period the level jumps by at least this part of the whole difference.
pub const PERIOD_JUMP: f64 = 0.6;
/// How sure the jump must be, in standard errors.
pub const PERIOD_SURE: f64 = 4.0;
/// How many times the noise between neighbouring times the difference is, at least.
pub const PERIOD_OVER_NOISE: f64 = 3.0;
/// Processes are judged apart if the median of one is this number of times that of another.
pub const PROCESSES_DIFFER: f64 = 2.0;
/// A drift has at least this many events.
pub const DRIFT_EVENTS: u64 = 200;
/// In a drift, each quarter of the events is slower than the one before by at least this part of the whole rise.
pub const DRIFT_STEP: f64 = 0.08;
/// A group with fewer durations is judged by all of its event.
pub const ENOUGH: u64 = 20;
/// With fewer durations nothing is said.
pub const FEWEST: u64 = 5;

/// How events are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The probability that a healthy trace gets any finding, divided among the groups.
    pub probability: f64,
    /// What is slow exceeds what is usual by at least this.
    pub least_excess_ns: u64,
}

impl Default for Rule {
    fn default() -> Self {
        Rule { probability: 5e-3, least_excess_ns: 5_000 }
    }
}

/// The rule, with the resulting limits for the whole trace.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RuleFinding {
    /// The probability that a healthy trace gets any finding.
    pub probability: f64,
    /// The number of groups and events that were judged, among which it is divided.
    pub judged_groups: u64,
    /// The probability for each: a gap, or a jump of the level, that is less probable counts.
    pub group_probability: f64,
    /// What is slow exceeds the 99th percentile of the rest by at least this.
    #[serde(rename = "least_excess_us")]
    pub least_excess: Ns,
    /// And it is at least this many times that percentile.
    pub far: f64,
    /// A whole group is a mode of its event from this many times the event's usual duration on.
    pub far_from_event: f64,
    /// A slow period is slower than the rest by at least this factor.
    pub shift: f64,
    /// It has at least this many events, and so has the rest.
    pub period_events: u64,
    /// It cost at least this part of all that the group took.
    pub period_worth: f64,
    /// At its edges the level jumps by at least this part of the difference.
    pub period_jump: f64,
    /// The jump is at least this many standard errors.
    pub period_sure: f64,
    /// The difference is at least this many times the noise between neighbouring times.
    pub period_over_noise: f64,
    /// Up to this many slow events of a group that stand apart from each other are single ones; more are a mode.
    pub singles_max: u64,
    /// And up to this many of all groups of an event that are too rare to be judged.
    pub rare_singles_max: u64,
    /// Groups with fewer durations are judged by all of their event.
    pub enough: u64,
    /// Events with fewer durations are not judged.
    pub fewest: u64,
}

impl RuleFinding {
    pub(super) fn new(rule: &Rule, judged_groups: u64) -> Self {
        RuleFinding {
            probability: rule.probability,
            judged_groups,
            group_probability: rule.shared(judged_groups),
            least_excess: Ns(rule.least_excess_ns.into()),
            far: FAR,
            far_from_event: FAR_FROM_EVENT,
            shift: SHIFT,
            period_events: PERIOD_EVENTS,
            period_worth: PERIOD_WORTH,
            period_jump: PERIOD_JUMP,
            period_sure: PERIOD_SURE,
            period_over_noise: PERIOD_OVER_NOISE,
            singles_max: SINGLES_MAX,
            rare_singles_max: RARE_SINGLES_MAX,
            enough: ENOUGH,
            fewest: FEWEST,
        }
    }
}

impl Rule {
    /// The probability for one of a number of groups.
    pub(super) fn shared(&self, groups: u64) -> f64 {
        self.probability / groups.max(1) as f64
    }
}
