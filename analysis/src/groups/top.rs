//! What takes the time: groups of events, ranked.

use std::sync::Arc;

use serde::Serialize;

use crate::finding::{FoldedFinding, GroupFinding, Notes, TraceFinding};
use crate::groups::group::Sort;
use crate::groups::quantile::Quantile;
use crate::groups::summary::{GROUP_CAP, Summary, summarise};
use crate::reading::{Failure, Selection, SourceWindow};
use crate::source::Source;

/// The groups of a trace, ranked.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Top {
    /// What was read.
    pub trace: TraceFinding,
    /// The figure that groups are ranked by, the largest first.
    pub sorted_by: Sort,
    /// The percentiles that each group has.
    #[serde(skip)]
    pub quantiles: Vec<Quantile>,
    /// The first groups.
    pub groups: Vec<GroupFinding>,
    /// The number of groups after those.
    pub hidden_groups: u64,
    /// The total of groups that are not kept separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedFinding>,
    /// The same groups over time, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
    /// Notes for the reader.
    pub notes: Notes,
}

/// The figures of groups over time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OverTime {
    /// The length of a slice.
    pub every_ns: u64,
    /// The slices that have events, in the order of time.
    pub slices: Vec<TimeSlice>,
}

/// The figures of a slice of time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeSlice {
    /// When it begins: nanoseconds since 1970.
    pub begin_ns: i64,
    /// When it ends; the last one may reach beyond the last event.
    pub end_ns: i64,
    /// The groups that have events in it, in the order of the whole trace.
    pub groups: Vec<GroupFinding>,
}

/// Aggregates events by group, ranks the groups, and keeps at most `limit`.
pub(crate) fn top<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    sort: Sort,
    quantiles: &[Quantile],
    limit: usize,
) -> Result<Top, Failure> {
    let summary = summarise(input, selection, sort, GROUP_CAP)?;
    Ok(Top::new(&summary, sort, quantiles, limit, None))
}

impl Top {
    /// The first groups of a summary. Rates are over this length, in nanoseconds, or else over that of the trace.
    pub(crate) fn new(
        summary: &Summary,
        sort: Sort,
        quantiles: &[Quantile],
        limit: usize,
        length_ns: Option<u64>,
    ) -> Top {
        let trace = TraceFinding::new(&summary.report);
        let of_length = length_ns.map(|length_ns| trace.over(length_ns));
        let over = of_length.as_ref().unwrap_or(&trace);
        let shown = summary.groups.iter().take(limit);
        let groups: Vec<_> = shown.map(|group| GroupFinding::new(group, quantiles, over)).collect();
        Top {
            sorted_by: sort,
            quantiles: quantiles.to_vec(),
            hidden_groups: (summary.groups.len() - groups.len()) as u64,
            groups,
            over_time: None,
            folded: summary.folded.as_ref().map(FoldedFinding::from),
            notes: Notes::of_summary(summary),
            trace,
        }
    }
}
