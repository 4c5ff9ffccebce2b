//! The questions that can be asked of a trace, and their findings: one interface for all commands.

use std::sync::Arc;

use serde::Serialize;

use super::empty;
use super::finding::{Notes, TraceFinding};
use super::group::Sort;
use super::heat::{Heat, heat};
use super::hist::{Hist, hist};
use super::incidents::{IncidentRule, Incidents, incidents};
use super::info::{Info, info};
use super::outliers::{Outliers, outliers, slower_than};
use super::quantile::Quantile;
use super::selection::Selection;
use super::slow::{Slow, slow};
use super::source_window::{Failure, SourceWindow};
use super::summary::GROUP_CAP;
use super::top::{Top, top};
use super::verdict::Rule;
use crate::source::Source;

/// What can be asked of a trace. A limit is the number of groups, events or processes that a finding names.
#[derive(Clone, Debug)]
pub enum Question {
    /// What held the program up, and what takes the time?
    Report {
        /// What counts as an incident.
        rule: IncidentRule,
        /// The figure that groups are ranked by.
        sort: Sort,
        /// The percentiles that each group has.
        quantiles: Vec<Quantile>,
        /// The number of groups, and of incidents.
        limit: usize,
    },
    /// What held the program up?
    Incidents {
        /// What counts as an incident.
        rule: IncidentRule,
        /// The number of incidents, and of episodes.
        limit: usize,
    },
    /// What takes the time?
    Top {
        /// The figure that groups are ranked by.
        sort: Sort,
        /// The percentiles that each group has.
        quantiles: Vec<Quantile>,
        /// The number of groups.
        limit: usize,
    },
    /// Which events were the slowest?
    Slow {
        /// The number of events.
        limit: usize,
    },
    /// What is unusual: single events, slow modes and slow periods?
    Outliers {
        /// What is usual.
        rule: Rule,
        /// Instead of the rule, all that took this long or longer.
        slower_than_ns: Option<u64>,
        /// The number of findings of each kind.
        limit: usize,
    },
    /// How are durations distributed?
    Hist {
        /// The figure that groups are ranked by.
        sort: Sort,
        /// The number of groups with durations.
        limit: usize,
    },
    /// How are durations distributed over time?
    Heat {
        /// The figure that groups are ranked by.
        sort: Sort,
        /// The number of groups.
        limit: usize,
        /// The number of columns that the time is divided into.
        columns: usize,
    },
    /// What do the traces contain?
    Info {
        /// The number of processes.
        limit: usize,
    },
}

impl Question {
    /// Reads the source and answers the question.
    pub fn answer<S: Source>(
        &self,
        input: &mut SourceWindow<'_, S>,
        selection: &Arc<Selection>,
    ) -> Result<Finding, Failure> {
        let mut finding = match *self {
            Question::Report { rule, sort, ref quantiles, limit } => {
                Finding::Report(Box::new(ReportFinding {
                    top: top(input, selection, sort, quantiles, limit)?,
                    incidents: match input.source.in_order() {
                        Some(_) => Some(incidents(input, selection, rule, limit)?),
                        None => None,
                    },
                }))
            }
            Question::Incidents { rule, limit } => {
                Finding::Incidents(incidents(input, selection, rule, limit)?)
            }
            Question::Top { sort, ref quantiles, limit } => {
                Finding::Top(top(input, selection, sort, quantiles, limit)?)
            }
            Question::Slow { limit } => Finding::Slow(slow(input, selection, limit)?),
            Question::Outliers { slower_than_ns: Some(threshold), limit, .. } => {
                Finding::Outliers(slower_than(input, selection, threshold, limit, GROUP_CAP)?)
            }
            Question::Outliers { ref rule, limit, .. } => {
                Finding::Outliers(outliers(input, selection, rule, limit, GROUP_CAP)?)
            }
            Question::Hist { sort, limit } => Finding::Hist(hist(input, selection, sort, limit)?),
            Question::Heat { sort, limit, columns } => {
                Finding::Heat(heat(input, selection, sort, limit, columns)?)
            }
            Question::Info { limit } => Finding::Info(info(input, selection, limit)?),
        };
        if finding.is_empty() {
            finding.notes_mut().empty = empty::explain(input, selection)?;
        }
        Ok(finding)
    }
}

/// The result of any analysis.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Finding {
    /// What held the program up, and what takes the time.
    Report(Box<ReportFinding>),
    /// What held the program up.
    Incidents(Incidents),
    /// What takes the time.
    Top(Top),
    /// The slowest events.
    Slow(Slow),
    /// What is unusual.
    Outliers(Outliers),
    /// How durations are distributed.
    Hist(Hist),
    /// How durations are distributed over time.
    Heat(Heat),
    /// What the traces contain.
    Info(Info),
}

/// What held the program up, and what takes the time.
#[derive(Clone, Debug, Serialize)]
pub struct ReportFinding {
    /// What takes the time.
    #[serde(flatten)]
    pub top: Top,
    /// What held the program up; none if the source cannot read in the order of time.
    pub incidents: Option<Incidents>,
}

impl Finding {
    /// What was read.
    pub fn trace(&self) -> &TraceFinding {
        match self {
            Finding::Report(report) => &report.top.trace,
            Finding::Incidents(incidents) => &incidents.trace,
            Finding::Top(top) => &top.trace,
            Finding::Slow(slow) => &slow.trace,
            Finding::Outliers(outliers) => &outliers.trace,
            Finding::Hist(hist) => &hist.trace,
            Finding::Heat(heat) => &heat.trace,
            Finding::Info(info) => &info.trace,
        }
    }

    /// Notes for the reader of the finding.
    pub fn notes(&self) -> &Notes {
        match self {
            Finding::Report(report) => &report.top.notes,
            Finding::Incidents(incidents) => &incidents.notes,
            Finding::Top(top) => &top.notes,
            Finding::Slow(slow) => &slow.notes,
            Finding::Outliers(outliers) => &outliers.notes,
            Finding::Hist(hist) => &hist.notes,
            Finding::Heat(heat) => &heat.notes,
            Finding::Info(info) => &info.notes,
        }
    }

    /// The notes, to add to them.
    fn notes_mut(&mut self) -> &mut Notes {
        match self {
            Finding::Report(report) => &mut report.top.notes,
            Finding::Incidents(incidents) => &mut incidents.notes,
            Finding::Top(top) => &mut top.notes,
            Finding::Slow(slow) => &mut slow.notes,
            Finding::Outliers(outliers) => &mut outliers.notes,
            Finding::Hist(hist) => &mut hist.notes,
            Finding::Heat(heat) => &mut heat.notes,
            Finding::Info(info) => &mut info.notes,
        }
    }

    /// Whether no event reached the analysis.
    fn is_empty(&self) -> bool {
        match self {
            Finding::Report(report) => report.top.groups.is_empty() && report.top.hidden_groups == 0,
            Finding::Incidents(incidents) => incidents.intervals == 0,
            Finding::Top(top) => top.groups.is_empty() && top.hidden_groups == 0,
            Finding::Slow(slow) => slow.timed + slow.implausible == 0,
            Finding::Outliers(outliers) => {
                let seen = outliers.judged + outliers.found + outliers.implausible;
                seen == 0 && outliers.unjudged.is_empty()
            }
            Finding::Hist(hist) => hist.groups.is_empty() && hist.hidden_groups == 0,
            Finding::Heat(heat) => heat.groups.is_empty() && heat.hidden_groups == 0,
            Finding::Info(info) => info.events_by_name.is_empty(),
        }
    }
}
