//! All that a report on a trace shows: what was lost, what held the program up, groups with their course over time,
//! what is unusual, the slowest events, and clients.
//!
//! Incidents need the order of time. What else needs all events is collected in the same reading, and another one selects from it.

mod collector;
mod limits;
mod slices;

use std::sync::Arc;

use ctf_reader::Error;

use crate::finding::EventFinding;
use crate::groups::{GROUP_CAP, Quantile, Sort, SummaryCollector, Top, summarise};
use crate::incidents::{IncidentRule, Incidents, Search, costly, courses_of_periods, slow_periods};
use crate::info::{Info, InfoCollector};
use crate::outliers::verdict::{Courses, Rule};
use crate::outliers::{Judging, Outliers, in_window};
use crate::parallel::both;
use crate::reading::{Angle, Failure, Pair, Processes, Selection, SourceWindow};
use crate::slow::chains::chains;
use crate::source::{Readers, Source};

use collector::SliceCollector;
pub use limits::limits;
pub use slices::{PER_OCTAVE, SliceEvents, SliceFigures, SlicedGroup, Slices};

/// The percentiles of groups: those that `top` has unless it is asked for others.
pub(crate) const QUANTILES: [Quantile; 4] = [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P999];

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
    if input.source.in_order().is_none() {
        return Err(Error::new("this source has no events in time order, which a report needs").into());
    }
    let (window, angle) = (input.window, Angle::new(selection, input.window, false));
    let search = Search::new(input, selection, rule)?;
    let (mut readers, progress) = (search.readers, search.progress);
    let input = &mut SourceWindow { source: &mut readers, window, progress };
    // All groups with their course over time: mostly one reading is enough for figures, slow periods and outliers, and it
    // is the one that incidents are found in.
    let courses = Judging::reading(input, selection, &angle, GROUP_CAP)?;
    let mut watch = search.watch();
    let collector = search.in_passing(&courses).filter(|_| !search.angle.in_isolation);
    let (report, collected) = search.follow(&mut watch, collector);
    let seen = collected.zip(Some(report.clone()));
    // To put incidents into words is no work for several threads, so all else begins meanwhile.
    let (incidents, completed) = both(
        || {
            let watch = watch;
            search.finding(&watch, &report, INCIDENTS)
        },
        || {
            let courses = in_window(input, angle.judged, |input| courses.complete(input, seen))?;
            complete(&search.angle, input, selection, angle, courses, sort)
        },
    );
    let (incidents, with) = (incidents?, completed?);
    Ok(with(incidents))
}

/// All that a report shows, but for incidents, which were looked for from one angle; courses were read from another.
fn complete(
    of_incidents: &Angle,
    input: &mut SourceWindow<'_, Readers<'_>>,
    selection: &Arc<Selection>,
    angle: Angle,
    courses: Courses,
    sort: Sort,
) -> Result<impl FnOnce(Incidents) -> Overview + use<>, Failure> {
    let (window, rule) = (input.window, Rule::default());
    let filtered = match angle.selects {
        true => Some(summarise(input, selection, sort, GROUP_CAP)?),
        false => None,
    };
    let summary = match filtered {
        Some(summary) => summary,
        None if courses.summary.folded.is_some() => summarise(input, selection, sort, GROUP_CAP)?,
        None => courses.summary.ranked(sort),
    };
    let has_all = !of_incidents.in_isolation && !selection.of_any_duration().is_filter();
    let judged = (has_all && selection.processes == Processes::Together).then(|| courses.judged(&rule));
    let periods = match &judged {
        Some(judged) => costly(judged.periods.clone(), window),
        None => in_window(input, of_incidents.judged, |input| {
            let courses = courses_of_periods(input, selection, of_incidents)?.read(input)?;
            Ok(slow_periods(&courses, window))
        })?,
    };
    let top = Top::new(&summary, sort, &QUANTILES, GROUPS, None);
    let by_client = Arc::new(Selection { by: Some(vec!["client".into()]), ..Selection::clone(selection) });
    let with_repeats = Selection { with_repeats: true, ..Selection::clone(selection) };
    let of_all = Pair(
        SliceCollector::new(selection, &summary, SLICED),
        Pair(SummaryCollector::of(&by_client, GROUP_CAP, ()), InfoCollector::of(&Arc::new(with_repeats))),
    );
    let mut judging = Judging::new(input, (courses, judged), angle, &rule)?;
    let singles = judging.collector(FINDINGS);
    let (singles, (Pair(slices, Pair(clients, info)), report)) = match judging.has_window() {
        true => (judging.read_all(input, singles)?, input.read(of_all)?),
        false => {
            let (Pair(singles, of_all), report) = input.read(Pair(singles, of_all))?;
            (singles, (of_all, report))
        }
    };
    let outliers = judging.finish(input, selection, singles, FINDINGS)?;
    let (slices, records) = slices.finish();
    let mut slow: Vec<EventFinding> =
        records.iter().map(|record| EventFinding::new(record, &top.trace)).collect();
    let first = &records[..records.len().min(CHAINS)];
    let found = chains(input.source.events, selection, window, first);
    slow.iter_mut().zip(found).for_each(|(event, chain)| event.chain = chain);
    let info = info.finish(&report, PROCESSES)?;
    let clients = match clients.summary(input, report, Sort::Total) {
        Ok(summary) if summary.groups.is_empty() => None,
        Ok(summary) => Some(Top::new(&summary, Sort::Total, &QUANTILES, CLIENTS, None)),
        // No event says on whose behalf it happened.
        Err(Failure::Misfit(_)) => None,
        Err(failure) => return Err(failure),
    };
    Ok(move |incidents| Overview {
        incidents: Incidents { periods, ..incidents },
        top,
        slices,
        outliers,
        slow,
        clients,
        info,
    })
}
