//! The questions that can be asked of a trace, and their findings: one interface for all commands.

use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::Window;
use serde::Serialize;

use crate::compare::{Compare, CompareRule, compare};
use crate::durations::heat::{Heat, heat};
use crate::durations::hist::{Hist, hist};
use crate::finding::{Notes, TraceFinding};
use crate::follow::FollowedEvents;
use crate::groups::{GROUP_CAP, Quantile, Sort, Top, over_time, top};
use crate::incidents::{IncidentRule, Incidents, incidents};
use crate::info::{Info, info};
use crate::live::LiveFinding;
use crate::outliers::verdict::Rule;
use crate::outliers::{Outliers, outliers, slower_than};
use crate::overview::{Overview, overview};
use crate::reading::empty::explain;
use crate::reading::{Failure, Selection, SourceWindow};
use crate::slow::{Slow, slow};
use crate::source::{Readers, Source};
use crate::timeline::{Part, Timeline, timeline};

/// What can be asked of a trace. A limit is the number of groups, events or processes that a finding names.
pub enum Question<'q> {
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
        /// Whether people get no more than fits on a screen.
        is_brief: bool,
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
        /// Also the figures of each such length of time, in nanoseconds.
        every_ns: Option<u64>,
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
        /// Whether to judge only what is in the window and passes the filters, as if nothing else had been recorded.
        in_isolation: bool,
        /// Whether to show the rule to people.
        explains: bool,
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
    /// All of that, for a page?
    Overview {
        /// What counts as an incident.
        rule: IncidentRule,
        /// The figure that groups are ranked by.
        sort: Sort,
    },
    /// What became slower since an earlier recording, what faster?
    Compare {
        /// The earlier recording.
        before: Readers<'q>,
        /// Which part of it to read.
        window: Window,
        /// What counts as a change.
        rule: CompareRule,
    },
    /// What did each thread do when?
    Timeline {
        /// What counts as an incident.
        rule: IncidentRule,
        /// Takes the parts, in no order, and may stop the reading; the finding is then of what was read.
        put: &'q mut dyn FnMut(Part<'_>) -> ControlFlow<()>,
    },
}

impl Question<'_> {
    /// Reads the source and answers the question.
    pub fn answer<S: Source>(
        self,
        input: &mut SourceWindow<'_, S>,
        selection: &Arc<Selection>,
    ) -> Result<Finding, Failure> {
        let mut finding = match self {
            Question::Report { rule, sort, quantiles, limit, is_brief } => {
                Finding::Report(Box::new(ReportFinding {
                    top: top(input, selection, sort, &quantiles, limit)?,
                    incidents: match input.source.in_order() {
                        Some(_) => Some(incidents(input, selection, rule, limit)?),
                        None => None,
                    },
                    is_brief,
                }))
            }
            Question::Incidents { rule, limit } => {
                Finding::Incidents(incidents(input, selection, rule, limit)?)
            }
            Question::Top { sort, quantiles, every_ns, limit } => {
                let mut found = top(input, selection, sort, &quantiles, limit)?;
                if let Some(every_ns) = every_ns {
                    found.over_time = Some(over_time(input, selection, &found, every_ns)?);
                }
                Finding::Top(found)
            }
            Question::Slow { limit } => Finding::Slow(slow(input, selection, limit)?),
            Question::Outliers { rule, slower_than_ns: Some(threshold), limit, .. } => {
                Finding::Outliers(slower_than(input, selection, &rule, threshold, limit, GROUP_CAP)?)
            }
            Question::Outliers { rule, in_isolation, explains, limit, .. } => {
                let found = outliers(input, selection, &rule, in_isolation, limit, GROUP_CAP)?;
                Finding::Outliers(Outliers { explains, ..found })
            }
            Question::Hist { sort, limit } => Finding::Hist(hist(input, selection, sort, limit)?),
            Question::Heat { sort, limit, columns } => {
                Finding::Heat(heat(input, selection, sort, limit, columns)?)
            }
            Question::Info { limit } => Finding::Info(info(input, selection, limit)?),
            Question::Overview { rule, sort } => {
                Finding::Overview(Box::new(overview(input, selection, rule, sort)?))
            }
            Question::Compare { mut before, window, rule } => {
                let mut before = SourceWindow { source: &mut before, window, progress: input.progress };
                Finding::Compare(Box::new(compare(&mut before, input, selection, &rule)?))
            }
            Question::Timeline { rule, put } => {
                Finding::Timeline(Box::new(timeline(input, selection, rule, put)?))
            }
        };
        finding.explain(input, selection)?;
        Ok(finding)
    }
}

/// The result of any analysis.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
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
    /// Two recordings, compared.
    Compare(Box<Compare>),
    /// All of that, for a page, which is its only form.
    #[serde(skip)]
    Overview(Box<Overview>),
    /// What is to be known of a timeline, whose parts arrived one by one.
    #[serde(skip)]
    Timeline(Box<Timeline>),
    /// What is to be known about single events, which arrived one by one.
    #[serde(skip)]
    Events(FollowedEvents),
    /// What is known so far of sessions that are being recorded.
    Live(Box<LiveFinding>),
}

/// What held the program up, and what takes the time.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReportFinding {
    /// What takes the time.
    #[serde(flatten)]
    pub top: Top,
    /// What held the program up; none if the source cannot read in the order of time.
    pub incidents: Option<Incidents>,
    /// Whether people get no more than fits on a screen.
    #[serde(skip)]
    pub is_brief: bool,
}

/// A reference to a part that all findings have.
macro_rules! part {
    ($finding:ident, $part:ident, $($reference:tt)+) => {
        match $finding {
            Finding::Report(found) => $($reference)+ found.top.$part,
            Finding::Incidents(found) => $($reference)+ found.$part,
            Finding::Top(found) => $($reference)+ found.$part,
            Finding::Slow(found) => $($reference)+ found.$part,
            Finding::Outliers(found) => $($reference)+ found.$part,
            Finding::Hist(found) => $($reference)+ found.$part,
            Finding::Heat(found) => $($reference)+ found.$part,
            Finding::Info(found) => $($reference)+ found.$part,
            Finding::Compare(found) => $($reference)+ found.$part,
            Finding::Overview(found) => $($reference)+ found.top.$part,
            Finding::Timeline(found) => $($reference)+ found.followed.$part,
            Finding::Events(found) => $($reference)+ found.$part,
            Finding::Live(found) => $($reference)+ found.top.$part,
        }
    };
}

impl Finding {
    /// What was read.
    pub fn trace(&self) -> &TraceFinding {
        part!(self, trace, &)
    }

    /// Whether part of what was read is damaged and left out.
    pub fn is_damaged(&self) -> bool {
        let before = match self {
            Finding::Compare(compare) => Some(&compare.before),
            _ => None,
        };
        before.into_iter().chain([self.trace()]).any(|trace| !trace.damage.is_empty())
    }

    /// Notes for the reader of the finding.
    pub fn notes(&self) -> &Notes {
        part!(self, notes, &)
    }

    /// Says why there is nothing to show, if there is nothing.
    pub fn explain<S: Source>(
        &mut self,
        input: &mut SourceWindow<'_, S>,
        selection: &Arc<Selection>,
    ) -> Result<(), Failure> {
        if self.is_empty() {
            part!(self, notes, &mut).empty = explain(input, selection)?;
        }
        Ok(())
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
            Finding::Compare(compare) => compare.compared == 0,
            Finding::Overview(overview) => overview.top.groups.is_empty() && overview.top.hidden_groups == 0,
            Finding::Timeline(timeline) => timeline.followed.shown == 0,
            Finding::Events(events) => events.shown == 0,
            Finding::Live(_) => false,
        }
    }
}
