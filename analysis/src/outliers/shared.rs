//! What slow events have in common: values of fields that are more frequent among them than among the others.
//!
//! For each value of each field, the slow events that have it are counted beside the others that have it; the
//! hypergeometric distribution says how probable so many are by chance (Fisher's exact test). The probability is divided
//! by the number of values that were compared (Bonferroni). Of large groups a part of the events is compared, chosen by
//! their times, so that the result does not depend on how events are dealt out to threads.

mod candidate;
mod chance;

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::Serialize;

use self::candidate::{Candidate, candidates};
use super::verdict::{JudgedGroup, Limits, Period};
use crate::datum::Datum;
use crate::finding::{GroupName, Span, TraceFinding};
use crate::meaning::HOST;
use crate::reading::{CommonField, EventKind, Kinds, key};
use crate::slow::{EventFilter, Observed, SeenEvent, is_chosen, scrambled};

/// The number of events of a group that are compared, and the same number of slow ones.
const COMPARED: u64 = 20_000;
/// A field with more values than this is a measure, or identifies single events.
const VALUES_MAX: usize = 500;
/// The groups that are looked at, those with the most time first.
const GROUPS_MAX: usize = 40;
/// Groups with fewer events tell nothing.
const FEWEST: u64 = 50;
/// The least number of slow events that have a value.
const FEWEST_SLOW: u64 = 5;
/// The value is this number of times as frequent among slow events as among others.
const TIMES: f64 = 2.0;
/// The part of the slow events that have it.
const LEAST_SHARE: f64 = 0.1;
/// Events with the value are slower by this factor, where nothing else tells slow ones.
const SLOWER: f64 = 1.5;
/// The most slow periods of a group that are looked at.
const PERIODS_MAX: usize = 3;

/// Which slow events have something in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SlowSet {
    /// Those above the group's limit, or the user's threshold.
    Slow,
    /// Those in a slow period.
    Period,
    /// The slowest tenth of the group.
    Tenth,
}

/// A value that slow events have in common.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shared {
    /// Which group the events belong to.
    #[serde(flatten)]
    pub name: GroupName,
    /// Which of its events are compared with the others.
    pub slow: SlowSet,
    /// The name of the field.
    pub field: String,
    /// The value.
    pub value: Datum,
    /// The number of slow events that were compared and have it.
    pub count: u64,
    /// The share of the slow events that have it.
    pub share_of_slow: f64,
    /// The share of the others that have it.
    pub share_of_others: f64,
    /// How many times slower events with the value are than those without, by the mean of logarithms.
    pub factor: f64,
    /// When the period begins, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin_ns: Option<i64>,
    /// Why it is shown, in words.
    pub reason: String,
}

/// What is compared of a group.
#[derive(Debug)]
struct Subject {
    name: GroupName,
    /// Longer ones are slow.
    above: u64,
    p90: Option<u64>,
    periods: Vec<Vec<Span>>,
    /// One event of this number is compared, and one slow event of that; powers of two.
    stride: u64,
    slow_stride: u64,
    with_keys: bool,
}

/// The groups that are compared.
#[derive(Debug)]
pub(crate) struct Subjects {
    limits: Option<Arc<Limits>>,
    /// By the number of the group, or of the kind if a threshold decides.
    list: Vec<Option<Subject>>,
    /// The least stride of each kind.
    strides: Vec<u64>,
}

/// How often a value was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Among all that are compared: how many, and the sum of the logarithms of their durations, in thousandths.
    all: u64,
    level: i64,
    tenth: u64,
    periods: [u64; PERIODS_MAX],
    /// Among those that are not slow, and among the slow ones.
    usual: u64,
    slow: u64,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.all += other.all;
        self.level += other.level;
        self.tenth += other.tenth;
        self.periods.iter_mut().zip(other.periods).for_each(|(mine, theirs)| *mine += theirs);
        self.usual += other.usual;
        self.slow += other.slow;
    }
}

/// The values of a field, until there are too many.
type Values = Option<HashMap<Box<[u8]>, Counts>>;

#[derive(Clone, Debug, Default)]
struct Table {
    total: Counts,
    /// By their order and name, as they were first met.
    fields: Vec<((usize, Arc<str>), Values)>,
    /// By the number of the trace.
    traces: BTreeMap<usize, Counts>,
}

/// Counts values of fields while events are read.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    subjects: Arc<Subjects>,
    tables: BTreeMap<usize, Table>,
    value: Vec<u8>,
}

impl Subjects {
    /// The groups with the most time, each with its limit and its slow periods.
    pub fn judged(groups: &[JudgedGroup], limits: &Arc<Limits>, periods: &[Period]) -> Self {
        let mut list: Vec<Option<Subject>> = Vec::new();
        let mut strides = vec![u64::MAX; limits.kinds().list().len()];
        let mut number = 0;
        for group in groups {
            let is_subject = number < GROUPS_MAX && group.count >= FEWEST;
            list.push(is_subject.then(|| {
                number += 1;
                let has_group = |period: &&Period| period.groups.iter().any(|shift| shift.name == group.name);
                let periods = periods.iter().filter(has_group).take(PERIODS_MAX);
                let stride = group.count.div_ceil(COMPARED).next_power_of_two();
                if let Some(kind) = limits.kind_number(&group.kind) {
                    strides[kind] = strides[kind].min(stride);
                }
                Subject {
                    name: group.name.clone(),
                    above: group.above,
                    p90: Some(group.p90),
                    periods: periods.map(|period| period.spans.clone()).collect(),
                    stride,
                    slow_stride: group.slow.div_ceil(COMPARED).next_power_of_two(),
                    with_keys: false,
                }
            }));
        }
        Subjects { limits: Some(Arc::clone(limits)), list, strides }
    }

    /// All kinds of events, of which a threshold decides which are slow.
    pub fn above(kinds: &Kinds, threshold_ns: u64, events: u64) -> Self {
        let stride = events.div_ceil(10 * COMPARED).next_power_of_two();
        let ticks = |kind: &EventKind| u128::from(threshold_ns).div_ceil(kind.unit_ns());
        let subject = |kind: &Arc<EventKind>| Subject {
            name: GroupName::new(kind, Vec::new()),
            above: u64::try_from(ticks(kind)).unwrap_or(u64::MAX).saturating_sub(1),
            p90: None,
            periods: Vec::new(),
            stride,
            slow_stride: 1,
            with_keys: true,
        };
        let list: Vec<Option<Subject>> = kinds.list().iter().map(|kind| Some(subject(kind))).collect();
        Subjects { limits: None, strides: vec![stride; list.len()], list }
    }
}

impl Table {
    /// The place of a field, added if it is new. It is probably the next one: all events of a class have theirs in one order.
    #[inline]
    fn field(&mut self, next: usize, order: usize, name: &Arc<str>) -> usize {
        let is_it = |((known, of), _): &((usize, Arc<str>), Values)| {
            *known == order && (Arc::ptr_eq(of, name) || of == name)
        };
        if self.fields.get(next).is_some_and(is_it) {
            return next;
        }
        self.fields.iter().position(is_it).unwrap_or_else(|| {
            self.fields.push(((order, Arc::clone(name)), Some(HashMap::new())));
            self.fields.len() - 1
        })
    }
}

impl Comparison {
    pub fn new(subjects: Subjects) -> Self {
        Comparison { subjects: Arc::new(subjects), tables: BTreeMap::new(), value: Vec::new() }
    }

    /// Counts an event.
    fn count(&mut self, seen: &SeenEvent<'_, '_>) {
        let Comparison { subjects, tables, value } = self;
        let number = match &subjects.limits {
            Some(limits) => limits.of(seen.kind, seen.key).map(|limit| limit.group),
            None => Some(seen.kind),
        };
        let Some(number) = number else { return };
        let Some(Some(subject)) = subjects.list.get(number) else { return };
        let (is_slow, chance) = (seen.ticks > subject.above, scrambled(seen.event.timestamp()));
        let is_compared = is_chosen(chance, subject.stride);
        let is_slow_compared = is_slow && is_chosen(chance, subject.slow_stride);
        if !is_compared && !is_slow_compared {
            return;
        }
        let mut counts = Counts { slow: u64::from(is_slow_compared), ..Counts::default() };
        if is_compared {
            counts.all = 1;
            counts.usual = u64::from(!is_slow);
            counts.level = ((seen.ticks as f64 + 0.5).ln() * 1000.0) as i64;
            counts.tenth = u64::from(subject.p90.is_some_and(|p90| seen.ticks > p90));
            let time = seen.event.timestamp();
            for (place, spans) in subject.periods.iter().enumerate() {
                counts.periods[place] = u64::from(spans.iter().any(|span| span.contains(time)));
            }
        }
        let table = tables.entry(number).or_default();
        table.total.add(&counts);
        table.traces.entry(seen.kept.0).or_default().add(&counts);
        let fields = seen.kept.1.common().iter().filter(|field| subject.with_keys || !field.is_key);
        let mut next = 0;
        for CommonField { order, name, field, .. } in fields {
            let place = table.field(next, *order, name);
            next = place + 1;
            let values = &mut table.fields[place].1;
            let Some(known) = values else { continue };
            value.clear();
            key::encode_within(&field.value(seen.event), value, 256);
            let number = known.len();
            match known.get_mut(&**value) {
                Some(known) => known.add(&counts),
                None if number < VALUES_MAX => _ = known.insert(value.as_slice().into(), counts),
                None => *values = None,
            }
        }
    }

    fn absorb(&mut self, other: Comparison) {
        for (number, theirs) in other.tables {
            let table = self.tables.entry(number).or_default();
            table.total.add(&theirs.total);
            for (trace, counts) in theirs.traces {
                table.traces.entry(trace).or_default().add(&counts);
            }
            for (next, ((order, name), values)) in theirs.fields.into_iter().enumerate() {
                let place = table.field(next, order, &name);
                let mine = &mut table.fields[place].1;
                let (Some(known), Some(values)) = (&mut *mine, values) else {
                    *mine = None;
                    continue;
                };
                for (value, counts) in values {
                    known.entry(value).or_default().add(&counts);
                }
                if known.len() > VALUES_MAX {
                    *mine = None;
                }
            }
        }
    }

    /// What is more frequent among slow events than chance allows, the most telling first.
    pub fn shared(&self, probability: f64, trace: &TraceFinding) -> Vec<Shared> {
        let mut compared: Vec<Candidate<'_>> = Vec::new();
        for (number, table) in &self.tables {
            let Some(Some(subject)) = self.subjects.list.get(*number) else { continue };
            let mut fields: Vec<_> = table.fields.iter().collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            for ((order, field), values) in fields {
                for (value, counts) in values.iter().flatten() {
                    let value = || key::decode(value).pop();
                    candidates(subject, table, (*order, field), &value, counts, &mut compared);
                }
            }
            let mut hosts: BTreeMap<&str, Counts> = BTreeMap::new();
            for (trace_number, counts) in &table.traces {
                let host = trace.recorded_on(*trace_number).filter(|_| trace.has_several_hosts());
                host.into_iter().for_each(|host| hosts.entry(host).or_default().add(counts));
            }
            for (host, counts) in &hosts {
                let value = || Some(Datum::Text(host.as_bytes().to_vec()));
                candidates(subject, table, (0, HOST), &value, counts, &mut compared);
            }
        }
        let share = (probability / compared.len().max(1) as f64).ln();
        compared.retain(|candidate| candidate.ln_probability < share && candidate.is_telling());
        // Values that the same events have are one finding: the first field is the most important.
        compared.sort_by(|one, other| {
            let rank = |candidate: &Candidate<'_>| (candidate.order, candidate.field.to_owned());
            one.ln_probability.total_cmp(&other.ln_probability).then_with(|| rank(one).cmp(&rank(other)))
        });
        let mut told: Vec<Candidate<'_>> = Vec::new();
        for candidate in compared {
            let is_same = |known: &Candidate<'_>| {
                known.subject.name == candidate.subject.name
                    && known.with.all == candidate.with.all
                    && known.with.level == candidate.with.level
                    && known.with.slow == candidate.with.slow
            };
            match told.iter_mut().find(|known| is_same(known)) {
                // Of the slowest tenth and of a mode or a period, what has a name says more.
                Some(known) if (candidate.slow, candidate.order) < (known.slow, known.order) => {
                    *known = candidate;
                }
                Some(_) => {}
                None => told.push(candidate),
            }
        }
        told.iter().filter_map(Candidate::finding).collect()
    }
}

/// Selects the events that another filter does, and counts values of fields of all.
#[derive(Clone, Debug)]
pub(crate) struct Compared<F> {
    pub filter: F,
    pub comparison: Comparison,
}

impl<F: EventFilter> EventFilter for Compared<F> {
    #[inline]
    fn passes<'k>(&self, kind: usize, ticks: u64, key: impl FnOnce() -> &'k [u8]) -> bool {
        self.filter.passes(kind, ticks, key)
    }

    fn observed(&self, kind: usize) -> Observed {
        let subjects = &self.comparison.subjects;
        let Some(&stride) = subjects.strides.get(kind).filter(|stride| **stride != u64::MAX) else {
            return Observed::NONE;
        };
        let above = match &subjects.limits {
            Some(limits) => limits.lowest(kind),
            None => subjects.list[kind].as_ref().map_or(u64::MAX, |subject| subject.above),
        };
        Observed { above, stride: Some(stride) }
    }

    fn observe(&mut self, seen: &SeenEvent<'_, '_>) {
        self.comparison.count(seen);
    }

    fn emptied(&self) -> Self {
        let Comparison { subjects, .. } = &self.comparison;
        let comparison =
            Comparison { subjects: Arc::clone(subjects), tables: BTreeMap::new(), value: Vec::new() };
        Compared { filter: self.filter.emptied(), comparison }
    }

    fn absorb(&mut self, other: Self) {
        self.comparison.absorb(other.comparison);
    }
}
