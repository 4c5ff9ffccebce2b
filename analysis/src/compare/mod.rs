//! Two recordings side by side: what became slower, what faster, and what cannot be told.

mod blocks;
mod fail_if;
mod finding;
mod statistics;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::blocks::{Blocks, Division};
use self::statistics::{QUANTILES, difference, intervals, told_apart};
use super::finding::{GroupName, Notes, Span, TraceFinding};
use super::groups::group::{Group, Sort};
use super::groups::summary::{Summary, summarise_into};
use super::incidents::{IncidentRule, Incidents, incidents};
use super::reading::selection::Selection;
use super::reading::{Failure, SourceWindow};
use crate::source::Source;

pub use fail_if::FailIf;
pub use finding::{
    CauseChange, Change, Compare, FIGURES, FailureFinding, GroupChange, IncidentsChange, SideFigures, Verdict,
};

/// The most groups of each side that are compared, the heaviest; each has durations for every block of time.
const MOST_GROUPS: usize = 1000;

/// The most incidents that are looked at for their causes.
const MOST_INCIDENTS: usize = 1000;

/// What a comparison depends on.
#[derive(Clone, Debug)]
pub struct CompareRule {
    /// The probability that any group at all is called slower or faster although it is not.
    pub error_rate: f64,
    /// What counts as an incident.
    pub incidents: IncidentRule,
    /// The most groups in the finding.
    pub limit: usize,
    /// Changes that are reported as failures.
    pub fail_if: Vec<FailIf>,
}

/// Compares two recordings.
pub fn compare<B: Source, A: Source>(
    before: &mut SourceWindow<'_, B>,
    after: &mut SourceWindow<'_, A>,
    selection: &Arc<Selection>,
    rule: &CompareRule,
) -> Result<Compare, Failure> {
    let [one, other] = [summary(before, selection)?, summary(after, selection)?];
    let incidents = match before.source.in_order().is_some() && after.source.in_order().is_some() {
        true => Some([
            incidents(before, selection, rule.incidents, MOST_INCIDENTS)?,
            incidents(after, selection, rule.incidents, MOST_INCIDENTS)?,
        ]),
        false => None,
    };
    Ok(of_summaries([one, other], incidents, rule))
}

fn summary<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
) -> Result<Summary<Blocks>, Failure> {
    let span = input.source.span()?.map(|span| Span { begin_ns: *span.start(), end_ns: *span.end() });
    let span = span.unwrap_or(Span { begin_ns: 0, end_ns: 0 }).within(input.window);
    let division = Division::new(span.begin_ns, span.end_ns);
    summarise_into::<Blocks, S>(input, selection, Sort::Total, MOST_GROUPS, division)
}

/// A group on both sides: its place in each summary.
type Places = [Option<usize>; 2];

/// What identifies a group in both recordings: the event, the names of its keys, its unit, and the keys.
type GroupKey<'g> = (&'g str, &'g [String], u128, &'g [u8]);

fn of_summaries(
    sides: [Summary<Blocks>; 2],
    incidents: Option<[Incidents; 2]>,
    rule: &CompareRule,
) -> Compare {
    let traces = sides.each_ref().map(|side| TraceFinding::new(&side.report));
    let mut places: BTreeMap<GroupKey<'_>, Places> = BTreeMap::new();
    for (number, side) in sides.iter().enumerate() {
        for (place, group) in side.groups.iter().enumerate().filter(|(_, group)| group.is_timed()) {
            let kind = &group.kind;
            let key = (&*kind.event, &*kind.keys, kind.unit_ns(), &*group.key_bytes);
            places.entry(key).or_default()[number] = Some(place);
        }
    }
    let places: Vec<Places> = places.into_values().collect();
    let blocks = |of: &Places| match *of {
        [Some(before), Some(after)] => Some((&*sides[0].extras[before].0, &*sides[1].extras[after].0)),
        _ => None,
    };
    let tests: Vec<Option<(f64, bool)>> =
        places.iter().map(|of| blocks(of).and_then(|(before, after)| difference(before, after))).collect();
    let probabilities: Vec<Option<f64>> = tests.iter().map(|test| test.map(|(ln, _)| ln)).collect();
    let told = told_apart(&probabilities, rule.error_rate);
    let mut groups = Vec::new();
    for (number, of) in places.iter().enumerate() {
        let figures: [Option<SideFigures>; 2] = std::array::from_fn(|side| {
            of[side].map(|place| SideFigures::new(&sides[side].groups[place], &traces[side]))
        });
        let group: &Group = match *of {
            [_, Some(after)] => &sides[1].groups[after],
            [Some(before), None] => &sides[0].groups[before],
            [None, None] => continue,
        };
        let verdict = match (*of, tests[number]) {
            ([None, _], _) => Verdict::New,
            ([_, None], _) => Verdict::Gone,
            (_, Some((_, is_slower))) if told[number] => {
                if is_slower {
                    Verdict::Slower
                } else {
                    Verdict::Faster
                }
            }
            _ => Verdict::NoDifference,
        };
        let time = |side: usize| figures[side].as_ref().map_or(0.0, SideFigures::time_us_per_s);
        groups.push(GroupChange {
            name: GroupName::of(group),
            verdict,
            probability: tests[number].map(|(ln, _)| ln.exp()),
            lost_us_per_s: time(1) - time(0),
            changes: Vec::new(),
            figures,
            places: *of,
        });
    }
    let count = |verdict| groups.iter().filter(|group| group.verdict == verdict).count() as u64;
    let (slower, faster) = (count(Verdict::Slower), count(Verdict::Faster));
    groups.sort_by(|one, other| other.lost_us_per_s.total_cmp(&one.lost_us_per_s));
    let hidden_groups = groups.len().saturating_sub(rule.limit) as u64;
    if rule.fail_if.is_empty() {
        groups.truncate(rule.limit);
    }
    let lengths = traces.each_ref().map(|trace| trace.length_ns.unwrap_or(0) as f64);
    for (seed, group) in groups.iter_mut().enumerate() {
        let intervals = blocks(&group.places).map(|(before, after)| intervals(before, after, seed as u64));
        group.changes = changes(&group.figures, intervals.unwrap_or_default(), lengths);
    }
    let failures = rule.fail_if.iter().flat_map(|condition| condition.failures(&groups)).collect();
    groups.truncate(rule.limit);
    let notes = Notes::of_summary(&sides[1]);
    let [before, trace] = traces;
    Compare {
        trace,
        before,
        error_rate: rule.error_rate,
        compared: places.len() as u64,
        slower,
        faster,
        groups,
        hidden_groups,
        failures,
        incidents: incidents.map(|sides| IncidentsChange::new(&sides)),
        notes,
    }
}

/// The changes of all figures.
fn changes(
    figures: &[Option<SideFigures>; 2],
    intervals: [Option<(f64, f64)>; 6],
    lengths: [f64; 2],
) -> Vec<Change> {
    let [Some(before), Some(after)] = figures else { return Vec::new() };
    // Counts and totals are of recordings of different lengths.
    let scale = lengths[0] / lengths[1];
    let scaled = |interval: Option<(f64, f64)>| {
        interval.map(|(low, high)| (low * scale, high * scale)).filter(|(low, _)| low.is_finite())
    };
    let interval = |place: usize| match place {
        0 => scaled(intervals[0]),
        place if place <= QUANTILES.len() => intervals[place + 1],
        place if place == FIGURES.len() - 1 => scaled(intervals[1]),
        _ => None,
    };
    let change = |(place, figure): (usize, &&'static str)| Change {
        figure,
        ratio: after.0[place]
            .zip(before.0[place])
            .map(|(after, before)| after / before)
            .filter(|r| r.is_finite()),
        low: interval(place).map(|(low, _)| low),
        high: interval(place).map(|(_, high)| high).filter(|high| high.is_finite()),
    };
    FIGURES.iter().enumerate().map(change).collect()
}
