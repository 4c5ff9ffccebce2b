//! What slow events have in common: values of fields that are more frequent among them than among the others.
//!
//! For each value of each field, the slow events that have it are counted beside the others that have it; the
//! hypergeometric distribution says how probable so many are by chance (Fisher's exact test). The probability is divided
//! by the number of values that were compared (Bonferroni). Of large groups a part of the events is compared, chosen by
//! their times, so that the result does not depend on how events are dealt out to threads.

mod candidate;
mod chance;
mod kind_samples;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use ctf_reader::{Brief, ClassIndex, Sample};
use serde::Serialize;

use self::candidate::{Candidate, candidates};
use self::kind_samples::{GroupSample, KindSamples};
use self::table::{Counts, Table, Values};
use super::known_limits::KnownLimits;
use super::verdict::{COMPARED, JudgedGroup, Limits, Period};
use crate::datum::Datum;
use crate::finding::{GroupName, Span, TraceFinding};
use crate::meaning::HOST;
use crate::reading::{EventKind, Kinds, grown, key};
use crate::slow::{EventFilter, LookedAt, SeenEvent};

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
    /// The events that are compared, and the slow ones.
    sample: Sample,
    slow_sample: Sample,
    with_keys: bool,
}

/// The groups that are compared.
#[derive(Debug)]
struct Subjects {
    /// By the number of the group, or of the kind if a threshold decides.
    list: Vec<Option<Subject>>,
    /// The sample of each, none of what is not compared.
    samples: Vec<Sample>,
    /// Those of each kind.
    kinds: Vec<KindSamples>,
}

/// Selects single events, or all where a threshold decides, and counts values of fields.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    subjects: Arc<Subjects>,
    /// The limits of groups, unless a threshold decides.
    limits: Option<KnownLimits>,
    /// By the number of the subject.
    tables: Vec<Option<Box<Table>>>,
    buffer: Vec<u8>,
}

impl Subjects {
    /// The groups with the most time, each with its limit and its slow periods.
    /// All that was judged is of this length.
    fn judged(groups: &[JudgedGroup], limits: &Limits, periods: &[Period], length_ns: u64) -> Self {
        let mut list: Vec<Option<Subject>> = Vec::new();
        let mut number = 0;
        for group in groups {
            let is_subject = number < GROUPS_MAX && group.count >= FEWEST;
            list.push(is_subject.then(|| {
                number += 1;
                let has_group = |period: &&Period| period.groups.iter().any(|shift| shift.name == group.name);
                let periods = periods.iter().filter(has_group).take(PERIODS_MAX);
                Subject {
                    name: group.name.clone(),
                    above: group.above,
                    p90: Some(group.p90),
                    periods: periods.map(|period| period.spans.clone()).collect(),
                    sample: Sample::of(COMPARED, group.count),
                    slow_sample: Sample::of(COMPARED, group.slow),
                    with_keys: false,
                }
            }));
        }
        let samples = samples(&list);
        let mut of_kinds: Vec<Vec<GroupSample<'_>>> = vec![Vec::new(); limits.kinds().list().len()];
        for (group, &sample) in groups.iter().zip(&samples) {
            if let Some(kind) = limits.kind_number(&group.kind) {
                let times = group.times.as_deref();
                of_kinds[kind].push(GroupSample { sample, events: group.count as f64, times });
            }
        }
        let kinds = of_kinds.into_iter().map(|groups| KindSamples::new(groups, length_ns)).collect();
        Subjects { list, samples, kinds }
    }

    /// All kinds of events, of which a threshold decides which are slow.
    fn above(kinds: &Kinds, threshold_ns: u64, events: u64) -> Self {
        let sample = Sample::of(20 * COMPARED, events);
        let ticks = |kind: &EventKind| u128::from(threshold_ns).div_ceil(kind.unit_ns());
        let subject = |kind: &Arc<EventKind>| Subject {
            name: GroupName::new(kind, Vec::new()),
            above: u64::try_from(ticks(kind)).unwrap_or(u64::MAX).saturating_sub(1),
            p90: None,
            periods: Vec::new(),
            sample,
            slow_sample: Sample::ALL,
            with_keys: true,
        };
        let list: Vec<Option<Subject>> = kinds.list().iter().map(|kind| Some(subject(kind))).collect();
        let kinds = vec![KindSamples::of_all(sample); list.len()];
        Subjects { samples: samples(&list), kinds, list }
    }
}

fn samples(list: &[Option<Subject>]) -> Vec<Sample> {
    list.iter().map(|subject| subject.as_ref().map_or(Sample::NONE, |subject| subject.sample)).collect()
}

impl Comparison {
    /// Compares the slow events of groups, and those in their slow periods, with the others.
    pub fn judged(
        groups: &[JudgedGroup],
        limits: &Arc<Limits>,
        periods: &[Period],
        length_ns: u64,
    ) -> Comparison {
        let subjects = Subjects::judged(groups, limits, periods, length_ns);
        Comparison::of(Arc::new(subjects), Some(KnownLimits::new(Arc::clone(limits))))
    }

    /// Compares the events of all kinds that took longer than a threshold with the others.
    pub fn above(kinds: &Kinds, threshold_ns: u64, events: u64) -> Comparison {
        Comparison::of(Arc::new(Subjects::above(kinds, threshold_ns, events)), None)
    }

    fn of(subjects: Arc<Subjects>, limits: Option<KnownLimits>) -> Self {
        Comparison { subjects, limits, tables: Vec::new(), buffer: Vec::new() }
    }

    /// Counts an event of a subject.
    fn count(&mut self, number: usize, seen: &SeenEvent<'_, '_>) {
        let Comparison { subjects, tables, buffer, .. } = self;
        let Some(Some(subject)) = subjects.list.get(number) else { return };
        let is_slow = seen.ticks > subject.above;
        let is_compared = subject.sample.has(seen.time);
        let is_slow_compared = is_slow && subject.slow_sample.has(seen.time);
        if !is_compared && !is_slow_compared {
            return;
        }
        let mut counts = Counts { slow: u64::from(is_slow_compared), ..Counts::default() };
        if is_compared {
            counts.all = 1;
            counts.usual = u64::from(!is_slow);
            counts.level = ((seen.ticks as f32 + 0.5).ln() * 1000.0) as i64;
            counts.tenth = u64::from(subject.p90.is_some_and(|p90| seen.ticks > p90));
            for (place, spans) in subject.periods.iter().enumerate() {
                counts.periods[place] = u64::from(spans.iter().any(|span| span.contains(seen.time)));
            }
        }
        grown(tables, number).get_or_insert_default().add(seen, subject.with_keys, &counts, buffer);
    }

    /// What is more frequent among slow events than chance allows, the most telling first.
    pub fn shared(mut self, probability: f64, trace: &TraceFinding) -> Vec<Shared> {
        self.tables.iter_mut().flatten().for_each(|table| table.settle());
        let mut compared: Vec<Candidate<'_>> = Vec::new();
        for (subject, table) in self.subjects.list.iter().zip(&self.tables) {
            let (Some(subject), Some(table)) = (subject, table) else { continue };
            let total = table.total();
            let mut fields: Vec<_> = table.fields.iter().collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            for ((order, field), values) in fields {
                // In an order of their own, as two may be equally telling.
                let mut values: Vec<_> = values.iter().flat_map(Values::iter).collect();
                values.sort_unstable_by_key(|(value, _)| *value);
                for (value, counts) in values {
                    let value = || key::decode(value).pop();
                    candidates(subject, &total, (*order, field), &value, counts, &mut compared);
                }
            }
            let mut hosts: BTreeMap<&str, Counts> = BTreeMap::new();
            for (trace_number, counts) in &table.traces {
                let host = trace.recorded_on(*trace_number).filter(|_| trace.has_several_hosts());
                host.into_iter().for_each(|host| hosts.entry(host).or_default().add(counts));
            }
            for (host, counts) in &hosts {
                let value = || Some(Datum::Text(host.as_bytes().to_vec()));
                candidates(subject, &total, (0, HOST), &value, counts, &mut compared);
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

impl EventFilter for Comparison {
    fn looked_at(&self, kind: usize, time: &RangeInclusive<i64>) -> LookedAt {
        let Subjects { kinds, list, .. } = &*self.subjects;
        let above = match &self.limits {
            Some(limits) => limits.all.lowest(kind),
            // What was not seen before is of no subject.
            None => list.get(kind).and_then(Option::as_ref).map_or(u64::MAX, |subject| subject.above),
        };
        let samples = kinds.get(kind).filter(|samples| samples.has_any());
        let (sample, is_by_key) = samples.map_or((Sample::NONE, false), |samples| samples.at(time));
        LookedAt::above(above, sample, is_by_key)
    }

    #[inline(always)]
    fn samples(&self, class: ClassIndex, kind: usize) -> impl Fn(Brief) -> Option<Sample> {
        let limit = self.limits.as_ref().map(|limits| limits.recent(class, kind));
        move |key| match limit.as_ref()?(key)? {
            Some(limit) => self.subjects.samples.get(limit.group).copied(),
            None => Some(Sample::NONE),
        }
    }

    #[inline]
    fn shows(&mut self, seen: &SeenEvent<'_, '_>) -> bool {
        let (subject, is_shown) = match &mut self.limits {
            Some(limits) => match limits.of(seen) {
                Some(limit) => (limit.group, limit.is_single(seen.ticks)),
                None => return false,
            },
            None => (seen.plan.kind, true),
        };
        self.count(subject, seen);
        is_shown
    }

    fn emptied(&self) -> Self {
        Comparison::of(Arc::clone(&self.subjects), self.limits.as_ref().map(KnownLimits::emptied))
    }

    fn absorb(&mut self, other: Self) {
        for (number, theirs) in other.tables.into_iter().enumerate() {
            theirs.into_iter().for_each(|theirs| {
                grown(&mut self.tables, number).get_or_insert_default().absorb(*theirs);
            });
        }
    }
}
