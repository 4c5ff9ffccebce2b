//! All verdicts on a trace.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::findings::{Basis, Drift, Mode, Period, Unjudged};
use super::gaps::{Levels, SMALL, Scale};
use super::limits::{Limit, Limits};
use super::modes::{Evidence, event_mode, mode, mode_span, rare_mode};
use super::periods::{GroupCourse, periods};
use super::processes::join_processes;
use super::rule::{ENOUGH, FAR_FROM_EVENT, FEWEST, RARE_SINGLES_MAX, Rule, RuleFinding, SINGLES_MAX};
use super::series::Series;
use super::split::Split;
use crate::durations::histogram::Histogram;
use crate::finding::{GroupName, Ns, Span};
use crate::groups::{Pools, Quantile, Summary};
use crate::parallel::{both, in_parallel};
use crate::reading::{EventKind, Selection};

/// The times of groups with at most this number of events are kept: the others have some nearly always.
const RARE: u64 = 200_000;

/// A mode that has nearly all events of its time is a slow period.
const DENSE: f64 = 0.95;

/// The verdicts on groups.
#[derive(Debug)]
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
    /// The groups that became slower steadily, those that lost the most time first.
    pub drifts: Vec<Drift>,
    /// The groups, as limits and modes number them.
    pub(crate) groups: Vec<JudgedGroup>,
    /// The number of single events.
    pub singles: u64,
    /// The events that were seen too rarely to be judged, those with the longest durations first.
    pub unjudged: Vec<Unjudged>,
}

/// Judges groups. If a selection has told processes apart, they are joined where they do not differ.
pub(crate) fn judge_summary(summary: &Summary<Series>, apart: Option<&Selection>, rule: &Rule) -> Judged {
    let Summary { groups, extras, pools, report, .. } = summary;
    let evidence = groups.iter().zip(extras).map(|(group, series)| {
        let (name, key) = (GroupName::of(group), group.key_bytes.clone());
        Evidence::new(&group.kind, key, name, Cow::Borrowed(&group.figures), Cow::Borrowed(series))
    });
    let mut evidence: Vec<Evidence<'_>> = evidence.collect();
    if let Some(selection) = apart {
        evidence = join_processes(evidence, selection);
    }
    let span = report.span.as_ref().map(|span| Span { begin_ns: *span.start(), end_ns: *span.end() });
    judge_all(&evidence, pools, rule, span.unwrap_or_default())
}

/// From which length on, in nanoseconds, one of these is improbable; none if there are too few to tell.
pub(crate) fn single_limit(lengths: &Histogram, rule: &Rule) -> Option<u64> {
    let split = || Split::new(lengths, 1, rule.probability, rule.least_excess_ns, None);
    (lengths.count() >= FEWEST).then(|| split().above)
}

/// A group that was judged.
#[derive(Clone, Debug)]
pub(crate) struct JudgedGroup {
    pub name: GroupName,
    pub kind: Arc<EventKind>,
    /// The number of plausible durations.
    pub count: u64,
    /// Durations above this are slow.
    pub above: u64,
    /// The number of those.
    pub slow: u64,
    /// Nine of ten take this long or less.
    pub p90: u64,
    /// When it has events, if it is rare.
    pub times: Option<Vec<Span>>,
}

impl JudgedGroup {
    fn new(group: &Evidence<'_>, limits: &Limits) -> JudgedGroup {
        let limit = limits.kind_number(&group.kind).and_then(|kind| limits.of(kind, &group.key));
        let count = group.durations().count();
        JudgedGroup {
            name: group.name.clone(),
            kind: Arc::clone(&group.kind),
            count,
            above: limit.map_or(u64::MAX, |limit| limit.above),
            slow: limit.map_or(0, |limit| group.above(limit.above)),
            p90: group.durations().percentile(Quantile::P90).unwrap_or(0),
            times: (count <= RARE).then(|| group.series.times()),
        }
    }
}

/// Judges each event as a whole, then each group by its own durations, or by those of its event where it has too few.
pub(super) fn judge_all(evidence: &[Evidence<'_>], pools: &Pools, rule: &Rule, span: Span) -> Judged {
    let rule_finding = RuleFinding::new(rule, number_judged(evidence, pools));
    let probability = rule_finding.group_probability;
    let splitter = Splitter { least_excess_ns: rule.least_excess_ns, probability };
    let (events, own) = both(|| splitter.events(pools), || splitter.groups(evidence));
    let mut found = Found::new(pools, &events);
    let mut courses: Vec<GroupCourse<'_>> = Vec::new();
    let mut rare: HashMap<usize, Vec<Placed<'_>>> = HashMap::new();
    for (place, (group, own)) in evidence.iter().zip(own).enumerate() {
        let Some(number) = found.limits.kind_number(&group.kind) else { continue };
        let Some(event) = &events[number] else { continue };
        match own {
            Some((own, course)) => {
                courses.push(course);
                found.judge(number, (place, group), &own, event);
            }
            None => rare.entry(number).or_default().push((place, group)),
        }
    }
    for (number, groups) in rare {
        if let Some(event) = &events[number] {
            found.judge_rare(number, &groups, event);
        }
    }
    let mut drifts: Vec<Drift> = courses.iter().filter_map(GroupCourse::drift).collect();
    drifts.sort_by_key(|drift| Reverse(drift.lost));
    let judged_events = pools.iter().zip(&events).filter(|(_, event)| event.is_some());
    Judged {
        rule: rule_finding,
        durations: judged_events.map(|((_, pool), _)| pool.count()).sum(),
        groups: evidence.iter().map(|group| JudgedGroup::new(group, &found.limits)).collect(),
        modes: found.sorted_modes(),
        singles: found.singles,
        limits: Arc::new(found.limits),
        periods: periods(&courses, span),
        drifts,
        unjudged: unjudged(pools, &events),
    }
}

fn has_enough(group: &Evidence<'_>) -> bool {
    group.durations().count() >= ENOUGH
}

/// The number of groups and events that are judged, among which the probability is divided.
fn number_judged(evidence: &[Evidence<'_>], pools: &Pools) -> u64 {
    let mut largest: HashMap<&EventKind, u64> = HashMap::new();
    for group in evidence.iter().filter(|group| has_enough(group)) {
        let known = largest.entry(&group.kind).or_default();
        *known = group.durations().count().max(*known);
    }
    // An event is also judged as a whole where it is more than one of its groups.
    let is_more = |(kind, pool): &&(Arc<EventKind>, Histogram)| {
        pool.count() >= FEWEST && largest.get(&**kind) != Some(&pool.count())
    };
    let groups = evidence.iter().filter(|group| has_enough(group)).count();
    (groups + pools.iter().filter(is_more).count()) as u64
}

/// The events that were seen too rarely, or whose unit is not known.
fn unjudged(pools: &Pools, events: &[Option<Split>]) -> Vec<Unjudged> {
    let rare = pools.iter().zip(events).filter(|((_, pool), event)| event.is_none() && pool.count() > 0);
    let unjudged = rare.map(|((kind, pool), _)| Unjudged {
        event: kind.event.clone(),
        count: pool.count(),
        max: pool.max().map(|ticks| Ns(kind.ns(ticks))),
    });
    let mut unjudged: Vec<Unjudged> = unjudged.collect();
    unjudged.sort_by_key(|event| Reverse(event.max));
    unjudged
}

/// Splits durations into usual and slow ones.
struct Splitter {
    least_excess_ns: u64,
    probability: f64,
}

impl Splitter {
    fn split(&self, kind: &EventKind, durations: &Histogram, similar: Option<Scale>) -> Split {
        let unit = kind.unit_ns();
        let least_excess = u128::from(self.least_excess_ns).div_ceil(unit);
        Split::new(durations, unit, self.probability, least_excess as u64, similar)
    }

    /// Each event as a whole, if it can be judged.
    fn events(&self, pools: &Pools) -> Vec<Option<Split>> {
        let is_judged = |kind: &EventKind, pool: &Histogram| kind.unit.is_some() && pool.count() >= FEWEST;
        let event = |(kind, pool): &(Arc<EventKind>, Histogram)| {
            is_judged(kind, pool).then(|| self.split(kind, pool, None))
        };
        pools.iter().map(event).collect()
    }

    /// Each group by its own durations, if it has enough, and the course of its main body.
    fn groups<'a>(&self, evidence: &'a [Evidence<'_>]) -> Vec<Option<(Split, GroupCourse<'a>)>> {
        let similar = scales(evidence);
        in_parallel(evidence, |group| {
            (has_enough(group) && group.kind.unit.is_some()).then(|| {
                let mut own = self.split(&group.kind, group.durations(), similar.get(&*group.kind).copied());
                lift_periods(&mut own, group, self.probability);
                let course = course(group, own.above, self.probability);
                (own, course)
            })
        })
    }
}

/// A group with its place among all.
type Placed<'a> = (usize, &'a Evidence<'a>);

/// The verdicts on groups, as they are reached.
struct Found {
    limits: Limits,
    modes: Vec<Mode>,
    singles: u64,
}

impl Found {
    fn new(pools: &Pools, events: &[Option<Split>]) -> Found {
        let mut limits = Limits::new(pools.iter().map(|(kind, _)| Arc::clone(kind)));
        for (number, event) in events.iter().enumerate() {
            let folded = event.as_ref().map(|split| limit(split, Basis::Event, None, usize::MAX));
            limits.fold(number, folded);
        }
        Found { limits, modes: Vec::new(), singles: 0 }
    }

    /// Judges a group of an event by its own durations, and as a whole by those of the event.
    fn judge(&mut self, number: usize, (place, group): Placed<'_>, own: &Split, event: &Split) {
        let modes = own.modes.iter().map(|cluster| Mode { group: place, ..mode(group, own, cluster) });
        self.modes.extend(modes);
        self.singles += own.singles;
        let mut limit = limit(own, Basis::Own, Some(group.durations().count()), place);
        let is_far = own.median as f64 >= FAR_FROM_EVENT * event.median.max(1) as f64;
        if is_far && group.above(event.above) as f64 >= DENSE * group.durations().count() as f64 {
            self.modes.push(Mode { group: place, ..event_mode(group, event, own.above) });
            limit.modes.push(event.above + 1..=own.above);
            limit.above = event.above;
        }
        self.limits.enter(number, &group.members, &limit);
    }

    /// Judges the groups of an event that are too rare to be judged by themselves.
    fn judge_rare(&mut self, number: usize, groups: &[Placed<'_>], event: &Split) {
        for &(place, group) in groups {
            let limit = limit(event, Basis::Event, Some(group.durations().count()), place);
            self.limits.enter(number, &group.members, &limit);
        }
        let slow =
            |groups: &[Placed<'_>]| groups.iter().map(|(_, group)| group.above(event.above)).sum::<u64>();
        let members = |groups: &[Placed<'_>]| -> Vec<Box<[u8]>> {
            groups.iter().flat_map(|(_, group)| group.members.iter().cloned()).collect()
        };
        if slow(groups) > RARE_SINGLES_MAX {
            let all: Vec<&Evidence<'_>> = groups.iter().map(|(_, group)| *group).collect();
            self.modes.push(Mode { group: groups[0].0, ..rare_mode(&all, event) });
            self.limits.all_in_modes(number, &members(groups));
            return;
        }
        let is_mode = |(_, group): &&Placed<'_>| group.above(event.above) > SINGLES_MAX;
        let alike: Vec<Placed<'_>> = groups.iter().filter(is_mode).copied().collect();
        let mode = |&(place, group): &Placed<'_>| Mode { group: place, ..event_mode(group, event, u64::MAX) };
        self.modes.extend(alike.iter().map(mode));
        self.limits.all_in_modes(number, &members(&alike));
        self.singles += slow(groups) - slow(&alike);
    }

    /// The modes, those that lost the most time first.
    fn sorted_modes(&mut self) -> Vec<Mode> {
        let mut modes = std::mem::take(&mut self.modes);
        modes.sort_by(|one, other| {
            other
                .lost
                .cmp(&one.lost)
                .then_with(|| one.name.event.cmp(&other.name.event))
                .then(one.from.cmp(&other.from))
        });
        modes
    }
}

/// How wide the groups of an event are, where there are several that are small: those borrow from each other.
fn scales<'a>(evidence: &'a [Evidence<'_>]) -> HashMap<&'a EventKind, Scale> {
    let is_small = |group: &&Evidence| (ENOUGH..=SMALL).contains(&group.durations().count());
    let small = evidence.iter().filter(is_small);
    let mut kinds: HashMap<&EventKind, Vec<Scale>> = small.map(|group| (&*group.kind, Vec::new())).collect();
    for group in evidence {
        if let Some(scales) = kinds.get_mut(&*group.kind).filter(|_| has_enough(group)) {
            let levels = Levels::new(group.durations(), group.kind.unit_ns());
            scales.push(levels.scale(levels.levels().len()).1);
        }
    }
    kinds.into_iter().filter_map(|(kind, scales)| Some((kind, Scale::of_similar(&scales)?))).collect()
}

/// Turns modes into slow periods that contain nearly all events of their time and have sharp edges.
fn lift_periods(split: &mut Split, group: &Evidence<'_>, probability: f64) {
    while let Some(&cluster) = split.modes.first() {
        let (begin, end) = mode_span(group, cluster.low, cluster.high);
        let cells = group.series.cells().iter();
        let in_time: u64 = cells
            .filter(|cell| (begin..end).contains(&group.series.begin(cell.bin())))
            .map(|cell| cell.count)
            .sum();
        let is_dense = cluster.count as f64 >= DENSE * in_time as f64;
        let is_period = || course(group, cluster.high, probability).covers(begin, end);
        if !is_dense || !is_period() {
            return;
        }
        split.modes.remove(0);
        split.above = cluster.high;
    }
}

/// A group over time, without what is above a limit.
fn course<'a>(group: &'a Evidence<'_>, above: u64, probability: f64) -> GroupCourse<'a> {
    GroupCourse::new(&group.name, &group.series, above, group.kind.unit_ns(), probability)
}

fn limit(split: &Split, basis: Basis, seen: Option<u64>, group: usize) -> Limit {
    let (quantile, at_quantile) = split.reference;
    Limit {
        basis,
        group,
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
