//! What was found by comparing two recordings: plain, serialisable data.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::statistics::QUANTILES;
use crate::datum::{Pairs, pairs};
use crate::finding::{GroupName, Notes, Ns, TraceFinding};
use crate::groups::group::Group;
use crate::incidents::{CauseFinding, Incidents};

/// The figures that are compared.
pub const FIGURES: [&str; 7] =
    ["rate_per_s", "p50_us", "p90_us", "p99_us", "p999_us", "max_us", "time_us_per_s"];

/// Two recordings, compared.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Compare {
    /// What the earlier and the later recording are called.
    pub recordings: [String; 2],
    /// What was read of the later recording.
    pub trace: TraceFinding,
    /// What was read of the earlier one.
    pub before: TraceFinding,
    /// The probability that any group at all is called slower or faster although it is not.
    pub error_rate: f64,
    /// The number of groups.
    pub compared: u64,
    /// The number of groups that became slower.
    pub slower: u64,
    /// The number of groups that became faster.
    pub faster: u64,
    /// The number of groups of which this recording does not tell enough.
    pub untold: u64,
    /// Those that lost the most time per second first.
    pub groups: Vec<GroupChange>,
    /// The number of groups after those.
    pub hidden_groups: u64,
    /// What the gate looked at: limits, and what would have to be allowed by name. Empty without a gate.
    pub checked: Vec<String>,
    /// What the gate does not let pass.
    pub failures: Vec<FailureFinding>,
    /// What held the program up; none if a source cannot read in the order of time.
    pub incidents: Option<IncidentsChange>,
    /// Notes for the reader.
    pub notes: Notes,
}

/// What became of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Its durations are longer.
    Slower,
    /// Its durations are shorter.
    Faster,
    /// Most durations are as they were, the longest are longer.
    TailSlower,
    /// Most durations are as they were, the longest are shorter.
    TailFaster,
    /// Most durations changed in one direction, and the longest in the other.
    Mixed,
    /// All groups became slower or faster for a while; compared with the others of the same seconds, its durations are longer.
    SlowerThanOthers,
    /// The same, shorter.
    FasterThanOthers,
    /// A change of a tenth would have been seen, and was not.
    NoDifference,
    /// Nothing can be told from chance, and a change of a tenth might not have been seen.
    CannotTell,
    /// It is in the later recording only.
    New,
    /// It is in the earlier recording only.
    Gone,
}

/// A group in both recordings.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupChange {
    /// Which group.
    #[serde(flatten)]
    pub name: GroupName,
    /// What became of it.
    pub verdict: Verdict,
    /// About how long recordings must be to tell a change of a tenth, if these are too short and longer ones would help.
    pub would_need_s: Option<f64>,
    /// How likely a difference like this is by chance, of this group alone; none if there are too few durations to tell.
    pub probability: Option<f64>,
    /// How its durations changed, compared with what the other groups have in common in the same seconds; none with fewer than three
    /// others.
    pub relative: Option<Change>,
    /// How much more time it takes in a second.
    pub lost_us_per_s: f64,
    /// Its figures before and after.
    #[serde(serialize_with = "before_and_after")]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, Option<SideFigures>>"))]
    pub figures: [Option<SideFigures>; 2],
    /// How each figure changed; empty if the group is new or gone.
    pub changes: Vec<Change>,
    /// The same, with intervals that hold for all groups and limits together.
    #[serde(skip)]
    pub(super) surely: Vec<Change>,
}

fn before_and_after<S: Serializer>(
    [before, after]: &[Option<SideFigures>; 2],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    pairs([("before", before), ("after", after)].into_iter(), serializer)
}

/// The figures of a group in one recording, in the order of [`FIGURES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideFigures(pub [Option<f64>; FIGURES.len()]);

impl Serialize for SideFigures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        pairs(FIGURES.iter().zip(&self.0), serializer)
    }
}

impl SideFigures {
    pub(super) fn new(group: &Group, trace: &TraceFinding) -> Self {
        let us = |ns: Option<u128>| ns.map(|ns| ns as f64 / 1000.0);
        let [p50, p90, p99, p999] = QUANTILES.map(|quantile| us(group.percentile_ns(quantile)));
        let rate = trace.per_ns(group.figures.count() as f64).map(|rate| rate * 1e9);
        let time = trace.per_ns(group.total_ns() as f64).map(|share| share * 1e6);
        SideFigures([rate, p50, p90, p99, p999, us(group.max_ns()), time])
    }

    /// How much of each second it takes.
    pub fn time_us_per_s(&self) -> f64 {
        self.0[FIGURES.len() - 1].unwrap_or(0.0)
    }
}

/// Something that the gate does not let pass.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailureFinding {
    /// The limit that is exceeded, or the name of what would have to be allowed.
    pub condition: String,
    /// Which group; none if it is about the recordings.
    #[serde(flatten)]
    pub name: Option<GroupName>,
    /// How the figure changed, with the interval that holds for all groups and limits together.
    pub change: Option<Change>,
    /// What was found, in words.
    pub reason: String,
}

impl FailureFinding {
    /// One that is about the recordings.
    pub(super) fn of_all(condition: String, reason: String) -> Self {
        FailureFinding { condition, name: None, change: None, reason }
    }
}

/// How a figure changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Change {
    /// Which, as in [`FIGURES`], or `level` for what is compared with other groups.
    pub figure: &'static str,
    /// After divided by before.
    pub ratio: Option<f64>,
    /// The lowest ratio that the data allow; none if too few durations tell.
    pub low: Option<f64>,
    /// The highest ratio that the data allow; none if too few durations tell, or there is no highest.
    pub high: Option<f64>,
}

impl Change {
    /// In per cent, with what the data allow.
    pub fn in_words(&self) -> String {
        let percent = |ratio: f64| format!("{:+.0}%", (ratio - 1.0) * 100.0);
        let told = self.ratio.map_or("?".into(), percent);
        match (self.low, self.high) {
            (Some(low), Some(high)) => format!("{told} [{} to {}]", percent(low), percent(high)),
            // From -99 % says nothing.
            (Some(low), None) if low > 0.01 => format!("{told} [from {}]", percent(low)),
            _ => told,
        }
    }
}

/// Incidents before and after.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IncidentsChange {
    /// The share of the time in which any process was held up.
    pub blocked_share_before: Option<f64>,
    /// The same after.
    pub blocked_share_after: Option<f64>,
    /// The number of incidents before.
    pub count_before: u64,
    /// The same after.
    pub count_after: u64,
    /// Incidents by cause, those that took more time than before first.
    pub causes: Vec<CauseChange>,
}

/// The incidents of one cause before and after.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CauseChange {
    /// The full name of the event; none if no event explains them.
    pub event: Option<String>,
    /// The values that identify its group.
    pub key: Pairs,
    /// What it is called, if no event explains them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_words: Option<&'static str>,
    /// Their number before.
    pub count_before: u64,
    /// Their number after.
    pub count_after: u64,
    /// How long they took before.
    #[serde(rename = "total_us_before")]
    pub total_before: Ns,
    /// How long they took after.
    #[serde(rename = "total_us_after")]
    pub total_after: Ns,
}

impl IncidentsChange {
    pub(super) fn new([before, after]: &[Incidents; 2]) -> Self {
        let mut causes: BTreeMap<String, CauseChange> = BTreeMap::new();
        for (side, found) in [before, after].into_iter().enumerate() {
            for cause in &found.causes {
                let name = format!("{:?} {:?} {:?}", cause.event, cause.key, cause.in_words);
                let change = causes.entry(name).or_insert_with(|| CauseChange::of(cause));
                let (count, total) = match side {
                    0 => (&mut change.count_before, &mut change.total_before),
                    _ => (&mut change.count_after, &mut change.total_after),
                };
                *count += cause.count;
                total.0 += cause.total.0;
            }
        }
        let mut causes: Vec<CauseChange> = causes.into_values().collect();
        let lost = |cause: &CauseChange| cause.total_before.0 as i128 - cause.total_after.0 as i128;
        causes.sort_by_key(lost);
        IncidentsChange {
            blocked_share_before: before.blocked_share,
            blocked_share_after: after.blocked_share,
            count_before: before.found,
            count_after: after.found,
            causes,
        }
    }
}

impl CauseChange {
    fn of(cause: &CauseFinding) -> Self {
        CauseChange {
            event: cause.event.clone(),
            key: cause.key.clone(),
            in_words: cause.in_words,
            count_before: 0,
            count_after: 0,
            total_before: Ns(0),
            total_after: Ns(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_excludes_nothing_is_not_written() {
        let change = |ratio, low, high| Change { figure: "p99_us", ratio, low, high }.in_words();
        assert_eq!(change(Some(1.12), Some(0.9), Some(1.3)), "+12% [-10% to +30%]");
        assert_eq!(change(Some(1.12), Some(0.9), None), "+12% [from -10%]");
        assert_eq!(change(None, Some(0.0), None), "?");
    }
}
