//! All that a report on a trace shows: what was lost, what held the program up, groups with their course over time,
//! what is unusual, the slowest events, and clients.
//!
//! Incidents need the order of time and are looked for by one thread, while another reads as often as the rest needs.

mod charges;
mod limits;
mod slices;

use std::sync::Arc;

use ctf_reader::{Error, Progress};

use crate::analysis::finding::{EventFinding, TraceFinding};
use crate::analysis::groups::group::Sort;
use crate::analysis::groups::quantile::Quantile;
use crate::analysis::groups::summary::{GROUP_CAP, Summary, summarise};
use crate::analysis::groups::top::Top;
use crate::analysis::incidents::{IncidentRule, Incidents, incidents};
use crate::analysis::info::Info;
use crate::analysis::outliers::verdict::Rule;
use crate::analysis::outliers::{Outliers, outliers};
use crate::analysis::question::Finding;
use crate::analysis::reading::selection::Selection;
use crate::analysis::reading::{Failure, SourceWindow};
use crate::analysis::slow::chains::chains;
use crate::source::{Readers, Source};

pub use charges::{Charge, charges};
pub use limits::limits;
use slices::Sliced;
pub use slices::{PER_OCTAVE, SliceFigures, SlicedGroup, Slices};

/// The percentiles of groups: those that `top` has unless it is asked for others.
pub const QUANTILES: [Quantile; 4] = [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P999];

/// The most groups in a report, and the most of those that are followed over time.
const GROUPS: usize = 500;
const SLICED: usize = 150;
/// The most incidents, findings of each kind, clients and processes.
const INCIDENTS: usize = 5000;
const FINDINGS: usize = 50;
const CLIENTS: usize = 100;
const PROCESSES: usize = 50;
/// The number of the slowest events that are put into the chain of intervals around them.
const CHAINS: usize = 20;

/// All that a report shows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Overview {
    /// The groups, as `top` has them.
    pub top: Top,
    /// The first groups over time.
    pub slices: Slices,
    /// What held the program up.
    pub incidents: Incidents,
    /// What is unusual.
    pub outliers: Outliers,
    /// The slowest events of the trace, and the slowest of each slice of time, the slowest first.
    pub slow: Vec<EventFinding>,
    /// Groups by client; none if no event says for whom it was.
    pub clients: Option<Top>,
    /// What the trace contains.
    pub info: Info,
}

/// Finds all that a report shows.
pub fn overview<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    rule: IncidentRule,
    sort: Sort,
) -> Result<Overview, Failure> {
    let Some(readers) = input.source.in_order() else {
        return Err(Error::new("this source has no events in time order, which a report needs").into());
    };
    let (window, progress) = (input.window, input.progress);
    let (held_up, others) = std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            let mut source = readers;
            let progress = Progress::default();
            others(&mut SourceWindow { source: &mut source, window, progress: &progress }, selection, sort)
        });
        let mut source = readers;
        let mut input = SourceWindow { source: &mut source, window, progress };
        (incidents(&mut input, selection, rule, INCIDENTS), others.join())
    });
    let complete = others.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let mut overview = complete(held_up?);
    // A report on nothing says why.
    let mut finding = Finding::Top(overview.top.clone());
    finding.explain(input, selection)?;
    overview.top.notes = finding.notes().clone();
    Ok(overview)
}

/// All but the incidents, which complete it.
fn others(
    input: &mut SourceWindow<'_, Readers<'_>>,
    selection: &Arc<Selection>,
    sort: Sort,
) -> Result<impl FnOnce(Incidents) -> Overview + Send + use<>, Failure> {
    let summary = summarise(input, selection, sort, GROUP_CAP)?;
    let top = Top::new(&summary, sort, &QUANTILES, GROUPS, None);
    let Sliced { slices, records, clients, info, report } =
        slices::slices(input, selection, &summary, SLICED)?;
    let mut slow: Vec<EventFinding> =
        records.iter().map(|record| EventFinding::new(record, &top.trace)).collect();
    let first = &records[..records.len().min(CHAINS)];
    let found = chains(input.source.events, selection, first);
    slow.iter_mut().zip(found).for_each(|(event, chain)| event.chain = chain);
    let outliers = outliers(input, selection, &Rule::default(), false, FINDINGS, GROUP_CAP)?;
    let info = info.finish(&report, PROCESSES)?;
    let clients = match clients.complete(report, Sort::Total) {
        Some(complete) => complete.map_err(Failure::Misfit),
        None => {
            let by_client = Selection { by: Some(vec!["client".into()]), ..Selection::clone(selection) };
            summarise(input, &Arc::new(by_client), Sort::Total, GROUP_CAP)
        }
    };
    let clients = match clients {
        Ok(summary) if summary.groups.is_empty() => None,
        Ok(summary) => Some(Top::new(&summary, Sort::Total, &QUANTILES, CLIENTS, None)),
        // No event says on whose behalf it happened.
        Err(Failure::Misfit(_)) => None,
        Err(failure) => return Err(failure),
    };
    Ok(move |incidents| Overview { top, slices, incidents, outliers, slow, clients, info })
}

/// The time that a summary is of.
fn span_of(summary: &Summary) -> Option<std::ops::RangeInclusive<i64>> {
    let trace = TraceFinding::new(&summary.report);
    trace.begin_ns.zip(trace.end_ns).map(|(begin, end)| begin..=end)
}
