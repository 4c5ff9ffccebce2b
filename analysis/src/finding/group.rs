//! Groups and their figures.

use serde::{Serialize, Serializer};

use super::{Ns, TraceFinding};
use crate::datum::{Datum, Pairs, pairs};
use crate::groups::{Folded, Group, Quantile};
use crate::reading::selection::{EventKind, PROCESS};
use crate::text::{escape, short_name};

/// What a group of events is called.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupName {
    /// The full name of the event.
    pub event: String,
    /// The values that identify the group, by the names of their fields.
    pub key: Pairs,
    /// Whether its durations are sums of pieces and not intervals.
    #[serde(skip)]
    pub is_sum: bool,
    /// Whether their unit is a guess.
    #[serde(skip)]
    pub unit_is_guess: bool,
}

/// The figures of a group.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupFinding {
    /// Which group.
    #[serde(flatten)]
    pub name: GroupName,
    /// The number of events.
    pub count: u64,
    /// The number of those whose duration is implausible, and so in no figure.
    pub implausible: u64,
    /// The sum of the durations. This and the following exist only where there are durations.
    #[serde(rename = "total_us")]
    pub total: Option<Ns>,
    /// Their mean.
    pub mean_us: Option<f64>,
    /// Their percentiles, as they were asked for.
    #[serde(flatten)]
    pub percentiles: Percentiles,
    /// The shortest.
    #[serde(rename = "min_us")]
    pub min: Option<Ns>,
    /// The longest.
    #[serde(rename = "max_us")]
    pub max: Option<Ns>,
    /// Events for each second of the trace; none if the trace has no length.
    pub rate_per_s: Option<f64>,
    /// The total's share of the trace's length.
    pub wall_share: Option<f64>,
    /// Whether the durations are sums of pieces and not intervals.
    pub is_sum: bool,
    /// Whether their unit is a guess.
    pub unit_is_guess: bool,
}

/// Percentiles with their values; serialised as `p50_us` and so on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Percentiles(pub Vec<(Quantile, Option<Ns>)>);

impl Serialize for Percentiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        pairs(self.0.iter().map(|(quantile, value)| (format!("{}_us", quantile.name()), value)), serializer)
    }
}

/// The total of groups that are not kept separately.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoldedFinding {
    /// The number of events.
    pub count: u64,
    /// The number of those whose duration is implausible.
    pub implausible: u64,
    /// The sum of the durations.
    #[serde(rename = "total_us")]
    pub total: Ns,
    /// The longest.
    #[serde(rename = "max_us")]
    pub max: Ns,
}

impl GroupName {
    /// What the group of events of a kind with these keys is called.
    pub(crate) fn new(kind: &EventKind, key: Vec<Datum>) -> Self {
        GroupName {
            event: kind.event.clone(),
            key: Pairs(kind.keys.iter().cloned().zip(key).collect()),
            is_sum: kind.is_sum,
            unit_is_guess: kind.unit_is_guess,
        }
    }

    pub(crate) fn of(group: &Group) -> Self {
        GroupName::new(&group.kind, group.key())
    }
}

impl GroupFinding {
    pub(crate) fn new(group: &Group, quantiles: &[Quantile], trace: &TraceFinding) -> Self {
        let durations = &group.figures.durations;
        let total = (durations.count() > 0).then(|| group.total_ns());
        let percentile = |&quantile: &Quantile| (quantile, group.percentile_ns(quantile).map(Ns));
        let name = GroupName::of(group);
        GroupFinding {
            count: group.figures.count(),
            implausible: group.figures.implausible,
            total: total.map(Ns),
            mean_us: group.mean_ns().map(|mean| mean / 1000.0),
            percentiles: Percentiles(quantiles.iter().map(percentile).collect()),
            min: durations.min().map(|ticks| Ns(group.kind.ns(ticks))),
            max: group.max_ns().map(Ns),
            rate_per_s: trace.per_ns(group.figures.count() as f64 * 1e9),
            wall_share: total.and_then(|total| trace.per_ns(total as f64)),
            is_sum: name.is_sum,
            unit_is_guess: name.unit_is_guess,
            name,
        }
    }
}

impl From<&Folded> for FoldedFinding {
    fn from(folded: &Folded) -> Self {
        FoldedFinding {
            count: folded.count,
            implausible: folded.implausible,
            total: Ns(folded.total_ns),
            max: Ns(folded.max_ns),
        }
    }
}

/// What a group is called in a sentence: its keys, or the event without its provider; `get of process 42`.
pub(crate) fn group_in_words<'k>(event: &str, key: impl Iterator<Item = (&'k String, &'k Datum)>) -> String {
    let (mut process, mut others) = (String::new(), Vec::new());
    for (name, value) in key {
        match name == PROCESS {
            true => process = format!(" of process {}", escape::datum(value)),
            false => others.push(escape::datum(value)),
        }
    }
    let name = if others.is_empty() { escape::text(short_name(event)) } else { others.join(" ") };
    name + &process
}
