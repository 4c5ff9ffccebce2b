//! Two recordings side by side: what became slower, what faster, and what cannot be told.

mod blocks;
#[cfg(test)]
mod calibration;
mod finding;
mod gate;
mod judge;
mod relative;
mod statistics;
mod wandering;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::blocks::{BLOCKS, Blocks, Division, Side, Sides};
use self::judge::{TENTH, judged};
use self::relative::Relative;
use self::statistics::{Interval, MEDIAN, QUANTILES};
use super::finding::{GroupName, Notes, Span, TraceFinding};
use super::groups::group::{Group, Sort};
use super::groups::summary::{Summary, summarise_into};
use super::incidents::{IncidentRule, Incidents, incidents};
use super::reading::selection::Selection;
use super::reading::{Failure, SourceWindow};
use crate::source::Source;

pub use finding::{
    CauseChange, Change, Compare, FIGURES, FailureFinding, GroupChange, IncidentsChange, SideFigures, Verdict,
};
pub use gate::{Allowed, FailIf, Gate};

/// The most groups of each side that are compared, the heaviest; each has durations for every block of time.
const MOST_GROUPS: usize = 1000;

/// The most incidents that are looked at for their causes.
const MOST_INCIDENTS: usize = 1000;

/// A ratio from which on an interval is as good as without an end.
const NO_BOUND: f64 = 1000.0;

/// What a comparison depends on.
#[derive(Clone, Debug)]
pub struct CompareRule {
    /// The probability that any group at all is called slower or faster although it is not.
    pub error_rate: f64,
    /// What counts as an incident.
    pub incidents: IncidentRule,
    /// The most groups in the finding.
    pub limit: usize,
    /// What is reported as a failure.
    pub gate: Gate,
    /// What the earlier and the later recording are called.
    pub names: [String; 2],
    /// When each recording of a side was made, if there are several.
    pub recorded: [Vec<Span>; 2],
}

/// Compares two recordings.
pub fn compare<B: Source, A: Source>(
    before: &mut SourceWindow<'_, B>,
    after: &mut SourceWindow<'_, A>,
    selection: &Arc<Selection>,
    rule: &CompareRule,
) -> Result<Compare, Failure> {
    let [one, other] =
        [summary(before, selection, &rule.recorded[0])?, summary(after, selection, &rule.recorded[1])?];
    let incidents = match before.source.in_order().is_some() && after.source.in_order().is_some() {
        true => Some([
            incidents(before, selection, rule.incidents, MOST_INCIDENTS)?,
            incidents(after, selection, rule.incidents, MOST_INCIDENTS)?,
        ]),
        false => None,
    };
    Ok(of_summaries([one, other], incidents, rule))
}

/// What was read of one side.
struct Recorded {
    summary: Summary<Blocks>,
    /// The time that was recorded, if there are times between recordings.
    length_ns: Option<u64>,
    /// Which blocks are the first of a recording.
    begins: [bool; BLOCKS],
}

fn summary<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    recorded: &[Span],
) -> Result<Recorded, Failure> {
    let span = input.source.span()?.map(|span| Span { begin_ns: *span.start(), end_ns: *span.end() });
    let span = span.unwrap_or(Span { begin_ns: 0, end_ns: 0 }).within(input.window);
    let parts = recorded.iter().map(|span| span.within(input.window)).filter(|span| span.length_ns() > 0);
    // Hosts that were recorded together are one recording.
    let parts = Span::merged(parts.collect());
    let is_one = parts.len() < 2;
    let division = Division::new(if is_one { std::slice::from_ref(&span) } else { &parts });
    let length = parts.iter().map(|part| part.length_ns() as u64).sum();
    let summary = summarise_into::<Blocks, S>(input, selection, Sort::Total, MOST_GROUPS, division)?;
    Ok(Recorded { summary, length_ns: (!is_one).then_some(length), begins: division.begins() })
}

/// A group on both sides: its place in each summary.
type Places = [Option<usize>; 2];

/// What identifies a group in both recordings: the event, the names of its keys, its unit, and the keys.
type GroupKey<'g> = (&'g str, &'g [String], u128, &'g [u8]);

fn of_summaries(sides: [Recorded; 2], incidents: Option<[Incidents; 2]>, rule: &CompareRule) -> Compare {
    let traces = sides.each_ref().map(|side| {
        let mut trace = TraceFinding::new(&side.summary.report);
        trace.length_ns = side.length_ns.or(trace.length_ns);
        trace
    });
    let begins = sides.each_ref().map(|side| side.begins);
    let sides = sides.map(|side| side.summary);
    let mut places: BTreeMap<GroupKey<'_>, Places> = BTreeMap::new();
    for (number, side) in sides.iter().enumerate() {
        for (place, group) in side.groups.iter().enumerate().filter(|(_, group)| group.is_timed()) {
            let kind = &group.kind;
            let key = (&*kind.event, &*kind.keys, kind.unit_ns(), &*group.key_bytes);
            places.entry(key).or_default()[number] = Some(place);
        }
    }
    let places: Vec<Places> = places.into_values().collect();
    let of_side =
        |side: usize, place: usize| Side { blocks: &sides[side].extras[place].0, begins: &begins[side] };
    let both = places.iter().filter_map(|of| Some([of_side(0, of[0]?), of_side(1, of[1]?)]));
    let judged = judged(&both.collect::<Vec<Sides<'_>>>(), rule.error_rate, rule.gate.figures());
    let mut judged = judged.into_iter();
    let lengths = traces.each_ref().map(|trace| trace.length_ns.unwrap_or(0) as f64);
    let longest = lengths[0].max(lengths[1]);
    let mut groups = Vec::new();
    for of in &places {
        let figures: [Option<SideFigures>; 2] = std::array::from_fn(|side| {
            of[side].map(|place| SideFigures::new(&sides[side].groups[place], &traces[side]))
        });
        let group: &Group = match *of {
            [_, Some(after)] => &sides[1].groups[after],
            [Some(before), None] => &sides[0].groups[before],
            [None, None] => continue,
        };
        let judged = if of.iter().all(Option::is_some) { judged.next() } else { None };
        let intervals = judged.map(|judged| judged.intervals).unwrap_or_default();
        let verdict = match (judged, of[0]) {
            (Some(judged), _) => judged.verdict,
            (None, None) => Verdict::New,
            (None, Some(_)) => Verdict::Gone,
        };
        let time = |side: usize| figures[side].as_ref().map_or(0.0, SideFigures::time_us_per_s);
        let [alone, surely] = [|interval: Interval| interval.alone, |interval: Interval| interval.surely]
            .map(|of| changes(&figures, intervals.map(|interval| interval.map(of)), lengths));
        groups.push(GroupChange {
            name: GroupName::of(group),
            verdict,
            would_need_s: (verdict == Verdict::CannotTell)
                .then(|| would_need(&intervals, figures[0], longest / 1e9))
                .flatten(),
            probability: judged.and_then(|judged| judged.probability),
            relative: judged.and_then(|judged| judged.relative).map(Relative::change),
            lost_us_per_s: time(1) - time(0),
            changes: alone,
            surely,
            figures,
        });
    }
    let count =
        |verdicts: &[Verdict]| groups.iter().filter(|group| verdicts.contains(&group.verdict)).count() as u64;
    let slower = count(&[Verdict::Slower, Verdict::TailSlower, Verdict::SlowerThanOthers]);
    let faster = count(&[Verdict::Faster, Verdict::TailFaster, Verdict::FasterThanOthers]);
    let untold = count(&[Verdict::CannotTell]);
    groups.sort_by(|one, other| other.lost_us_per_s.total_cmp(&one.lost_us_per_s));
    let notes = Notes::of_summary(&sides[1]);
    let [before, trace] = traces;
    let mut found = Compare {
        trace,
        before,
        error_rate: rule.error_rate,
        compared: places.len() as u64,
        slower,
        faster,
        untold,
        hidden_groups: groups.len().saturating_sub(rule.limit) as u64,
        groups,
        checked: rule.gate.checked(),
        failures: Vec::new(),
        recordings: rule.names.clone(),
        incidents: incidents.map(|sides| IncidentsChange::new(&sides)),
        notes,
    };
    found.failures = rule.gate.failures(&found);
    found.groups.truncate(rule.limit);
    found
}

/// How long recordings must be to tell a change of a tenth, from how wide the interval of the median is; none if that is not
/// known, or durations are so short that the clock's unit alone is more than that.
fn would_need(intervals: &[Option<Interval>; 6], before: Option<SideFigures>, length_s: f64) -> Option<f64> {
    let (low, high) = intervals[MEDIAN]?.alone;
    let median = before?.0[1]?;
    let width = (high / low).ln() / 2.0;
    let unit = (1.0 + 1.0 / median).ln();
    let seen = TENTH.ln() - unit;
    (seen > 0.0 && width.is_finite()).then(|| length_s * ((width - unit).max(0.0) / seen).powi(2).max(1.0))
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
        high: interval(place).map(|(_, high)| high).filter(|high| *high < NO_BOUND),
    };
    FIGURES.iter().enumerate().map(change).collect()
}
