//! What the verdicts are asked to be, and every figure that decides.

use serde::Serialize;

use crate::analysis::finding::Ns;

/// Up to this many improbable events of a group are listed one by one; more that are alike are a mode.
pub const SINGLES_MAX: u64 = 10;
/// What is slow begins at this many times the 99th percentile of what is usual.
pub const FAR: f64 = 3.0;
/// A whole group is a slow mode of its event if it is this many times slower than what is usual for the event.
pub const FAR_FROM_EVENT: f64 = 100.0;
/// A slow period is slower than the rest by at least this factor.
pub const SHIFT: f64 = 1.5;
/// A group with fewer durations is judged by all of its event.
pub const ENOUGH: u64 = 20;
/// With fewer durations nothing is said.
pub const FEWEST: u64 = 5;

/// How events are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The probability that a healthy trace gets any line. It is shared out over the groups.
    pub probability: f64,
    /// What is slow exceeds what is usual by at least this.
    pub least_excess_ns: u64,
}

impl Default for Rule {
    fn default() -> Self {
        Rule { probability: 5e-3, least_excess_ns: 5_000 }
    }
}

/// The rule, with all limits that it came to for the whole trace.
#[derive(Clone, Debug, Serialize)]
pub struct RuleFinding {
    /// The probability that a healthy trace gets any line.
    pub probability: f64,
    /// The number of groups and events that were judged, over which it is shared out.
    pub judged_groups: u64,
    /// What is left for each: a gap, or a jump of the level, that is less probable counts.
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
    /// Up to this many slow events of a group are single ones.
    pub singles_max: u64,
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
            singles_max: SINGLES_MAX,
            enough: ENOUGH,
            fewest: FEWEST,
        }
    }
}

impl Rule {
    /// The probability that is left for one of so many groups.
    pub(super) fn shared(&self, groups: u64) -> f64 {
        self.probability / groups.max(1) as f64
    }
}
