//! All verdicts on a trace.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::findings::{Basis, Mode, Period, Unjudged};
use super::limits::{Limit, Limits};
use super::modes::{Evidence, event_mode, mode, mode_span, rare_mode};
use super::periods::{GroupCourse, periods};
use super::rule::{ENOUGH, FAR_FROM_EVENT, FEWEST, RARE_SINGLES_MAX, Rule, RuleFinding, SINGLES_MAX};
use super::series::{Resolution, Series};
use super::split::Split;
use super::tally::Timed;
use crate::analysis::durations::histogram::Histogram;
use crate::analysis::finding::Span;
use crate::analysis::finding::{GroupName, Notes, Ns, TraceFinding};
use crate::analysis::groups::group::{Group, Sort};
use crate::analysis::groups::summary::{Pools, summarise_into};
use crate::analysis::reading::key;
use crate::analysis::reading::selection::{EventKind, Selection};
use crate::analysis::reading::{Failure, SourceWindow};
use crate::source::Source;

/// A mode that has nearly all events of its time is a slow period.
const DENSE: f64 = 0.95;

/// The verdicts on a trace after one reading.
#[derive(Debug)]
pub(in crate::analysis) struct Verdicts {
    /// What was read.
    pub trace: TraceFinding,
    /// Notes for the reader.
    pub notes: Notes,
    /// What was found.
    pub judged: Judged,
}

/// The verdicts on groups.
#[derive(Debug)]
#[non_exhaustive]
pub struct Judged {
    /// The rule, with the resulting limits.
    pub rule: RuleFinding,
    /// The number of plausible durations that were judged.
    pub durations: u64,
    /// From which duration on an event of each group is slow.
    pub limits: Arc<Limits>,
    /// The slow modes, those that lost the most time first.
    pub modes: Vec<Mode>,
    /// The slow periods, those that lost the most time first.
    pub periods: Vec<Period>,
    /// The number of single events.
    pub singles: u64,
    /// The events that were seen too rarely to be judged, those with the longest durations first.
    pub unjudged: Vec<Unjudged>,
}

/// Reads a trace once and judges all of its groups, keeping at most `cap` keys separately.
pub(in crate::analysis) fn verdicts<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    rule: &Rule,
    cap: usize,
) -> Result<Verdicts, Failure> {
    let span = input.source.span()?.unwrap_or(0..=0);
    let since = input.window.since.unwrap_or(i64::MIN).max(*span.start());
    let until = input.window.until.unwrap_or(i64::MAX).min(*span.end());
    let length = if until > since { until.abs_diff(since) } else { 0 };
    let resolution = Resolution::new(length);
    let summary = summarise_into::<Timed, S>(input, selection, Sort::Total, cap, resolution)?;
    let trace = TraceFinding::new(&summary.report);
    let evidence = |(group, series): (&Group, &Series)| Evidence {
        kind: Arc::clone(&group.kind),
        key: group.key_bytes.clone(),
        figures: group.figures.clone(),
        series: series.clone(),
    };
    let notes = Notes::of_summary(&summary);
    let evidence: Vec<Evidence> = summary.groups.iter().zip(&summary.extras).map(evidence).collect();
    let span = Span { begin_ns: trace.begin_ns.unwrap_or(0), end_ns: trace.end_ns.unwrap_or(0) };
    Ok(Verdicts { judged: judge_all(&evidence, &summary.pools, rule, span), trace, notes })
}

/// From which length on, in nanoseconds, one of these is improbable; none if there are too few to tell.
pub(in crate::analysis) fn single_limit(lengths: &Histogram, rule: &Rule) -> Option<u64> {
    let split = || Split::new(lengths, 1, rule.probability, rule.least_excess_ns);
    (lengths.count() >= FEWEST).then(|| split().above)
}

/// The groups of one kind that are too rare to be judged by themselves.
#[derive(Default)]
struct Rare<'a> {
    slow: u64,
    groups: Vec<&'a Evidence>,
}

pub(super) fn judge_all(evidence: &[Evidence], pools: &Pools, rule: &Rule, span: Span) -> Judged {
    let mut limits = Limits::new(pools.iter().map(|(kind, _)| Arc::clone(kind)));
    let has_enough = |group: &&Evidence| group.durations().count() >= ENOUGH;
    // An event is also judged as a whole where it is more than one of its groups.
    let mut largest: HashMap<&EventKind, u64> = HashMap::new();
    for group in evidence.iter().filter(has_enough) {
        let known = largest.entry(&group.kind).or_default();
        *known = group.durations().count().max(*known);
    }
    let is_more = |(kind, pool): &&(Arc<EventKind>, Histogram)| {
        pool.count() >= FEWEST && largest.get(&**kind) != Some(&pool.count())
    };
    let judged_groups = evidence.iter().filter(has_enough).count() + pools.iter().filter(is_more).count();
    let rule_finding = RuleFinding::new(rule, judged_groups as u64);
    let probability = rule_finding.group_probability;
    let split = |kind: &EventKind, durations: &Histogram| {
        let unit = kind.unit_ns();
        let least_excess = u128::from(rule.least_excess_ns).div_ceil(unit);
        Split::new(durations, unit, probability, least_excess as u64)
    };
    let (mut unjudged, mut durations) = (Vec::new(), 0);
    let mut events: Vec<Option<Split>> = Vec::new();
    for (number, (kind, pool)) in pools.iter().enumerate() {
        let event = (kind.unit.is_some() && pool.count() >= FEWEST).then(|| split(kind, pool));
        match &event {
            Some(_) => durations += pool.count(),
            None if pool.count() > 0 => unjudged.push(Unjudged {
                event: kind.event.clone(),
                count: pool.count(),
                max: pool.max().map(|ticks| Ns(kind.ns(ticks))),
            }),
            None => {}
        }
        limits.fold(number, event.as_ref().map(|split| limit(split, Basis::Event, None)));
        events.push(event);
    }
    unjudged.sort_by_key(|event| Reverse(event.max));
    let mut modes = Vec::new();
    let mut singles = 0;
    let mut rare: HashMap<usize, Rare<'_>> = HashMap::new();
    // The groups that may have been slower at times, each with the limit of its body.
    let mut bodies: Vec<(&Evidence, u64)> = Vec::new();
    for group in evidence {
        let Some(number) = limits.kind_number(&group.kind) else { continue };
        let Some(event) = &events[number] else { continue };
        if !has_enough(&group) {
            let rare = rare.entry(number).or_default();
            rare.slow += group.above(event.above);
            rare.groups.push(group);
            continue;
        }
        let mut own = split(&group.kind, group.durations());
        lift_periods(&mut own, group, probability);
        bodies.push((group, own.above));
        modes.extend(own.modes.iter().map(|cluster| mode(group, &own, cluster)));
        singles += own.singles;
        let mut limit = limit(&own, Basis::Own, Some(group.durations().count()));
        let is_far = own.median as f64 >= FAR_FROM_EVENT * event.median.max(1) as f64;
        if is_far && group.above(event.above) as f64 >= DENSE * group.durations().count() as f64 {
            modes.push(event_mode(group, event, own.above));
            limit.modes.push(event.above + 1..=own.above);
            limit.above = event.above;
        }
        limits.enter(number, &group.key, limit);
    }
    for (number, Rare { slow, groups }) in rare {
        let Some(event) = &events[number] else { continue };
        for group in &groups {
            limits.enter(number, &group.key, limit(event, Basis::Event, Some(group.durations().count())));
        }
        let alike: Vec<&Evidence> =
            groups.iter().copied().filter(|group| group.above(event.above) > SINGLES_MAX).collect();
        if slow > RARE_SINGLES_MAX {
            modes.push(rare_mode(&groups, event));
            limits.all_in_modes(number, groups.iter().map(|group| &*group.key));
        } else {
            modes.extend(alike.iter().map(|group| event_mode(group, event, u64::MAX)));
            limits.all_in_modes(number, alike.iter().map(|group| &*group.key));
            singles += slow - alike.iter().map(|group| group.above(event.above)).sum::<u64>();
        }
    }
    modes.sort_by(|one, other| {
        other
            .lost
            .cmp(&one.lost)
            .then_with(|| one.name.event.cmp(&other.name.event))
            .then(one.from.cmp(&other.from))
    });
    let name = |group: &Evidence| GroupName::new(&group.kind, key::decode(&group.key));
    let names: Vec<Box<dyn Fn() -> GroupName + '_>> =
        bodies.iter().map(|(group, _)| Box::new(move || name(group)) as Box<dyn Fn() -> GroupName>).collect();
    let courses: Vec<GroupCourse<'_>> = bodies
        .iter()
        .zip(&names)
        .map(|(&(group, above), name)| {
            GroupCourse::new(&**name, &group.series, above, group.kind.unit_ns(), probability)
        })
        .collect();
    let periods = periods(&courses, span);
    Judged { rule: rule_finding, durations, limits: Arc::new(limits), modes, periods, singles, unjudged }
}

/// Turns modes into slow periods that contain nearly all events of their time and have sharp edges.
fn lift_periods(split: &mut Split, group: &Evidence, probability: f64) {
    while let Some(&cluster) = split.modes.first() {
        let (begin, end) = mode_span(group, cluster.low, cluster.high);
        let cells = group.series.cells().iter();
        let in_time: u64 = cells
            .filter(|cell| (begin..end).contains(&group.series.begin(cell.bin())))
            .map(|cell| cell.count)
            .sum();
        let name = || GroupName::new(&group.kind, Vec::new());
        let is_dense = cluster.count as f64 >= DENSE * in_time as f64;
        let is_period = || {
            GroupCourse::new(&name, &group.series, cluster.high, group.kind.unit_ns(), probability)
                .covers(begin, end)
        };
        if !is_dense || !is_period() {
            return;
        }
        split.modes.remove(0);
        split.above = cluster.high;
    }
}

fn limit(split: &Split, basis: Basis, seen: Option<u64>) -> Limit {
    let (quantile, at_quantile) = split.reference;
    Limit {
        basis,
        above: split.above,
        modes: match basis {
            // Modes of an event are entered for each of its groups.
            Basis::Event => Vec::new(),
            _ => split.modes.iter().map(|cluster| cluster.low..=cluster.high).collect(),
        },
        seen,
        compared_with: split.usual_count,
        quantile,
        at_quantile,
    }
}
