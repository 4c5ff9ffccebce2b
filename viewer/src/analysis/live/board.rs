//! Groups of events as they arrive, in bounded memory.

use std::sync::Arc;

use ctf_reader::{Brief, EventClass, OrderedEvent, Report};

use super::finding::{Detail, HeatStrip};
use super::slices::{LookBack, Slices};
use crate::analysis::durations::hist::HistGroup;
use crate::analysis::durations::histogram::IMPLAUSIBLE;
use crate::analysis::durations::octave::{OCTAVES, octave_of};
use crate::analysis::finding::{EventFinding, GroupName, TraceFinding};
use crate::analysis::groups::group::{Figures, Folded, Group, Sort};
use crate::analysis::groups::summary::{GROUP_CAP, Summary, rank};
use crate::analysis::groups::table::Groups;
use crate::analysis::reading::Misfit;
use crate::analysis::reading::fields::KeptFields;
use crate::analysis::reading::roster::Roster;
use crate::analysis::reading::selection::{LeftOut, Selection};
use crate::analysis::reading::slots::Slots;
use crate::analysis::slow::longest::{Longest, Record};

/// The most groups with slices of time; later ones have totals only.
const SLICED_CAP: usize = 500;

/// The number of slowest events kept per group with slices.
const SLOWEST: usize = 10;

/// Events aggregated by group, from the beginning and over the last minutes.
pub(super) struct Board {
    roster: Roster,
    /// What is kept of single events, for each class.
    details: Vec<Option<(usize, KeptFields)>>,
    groups: Groups<GroupState>,
    sliced: usize,
    /// The total of groups that are not kept separately.
    folded: Folded,
    durations: Vec<u64>,
    key: Vec<u8>,
}

/// The figures of a group, in total and recent.
#[derive(Clone)]
struct GroupState {
    total: Figures,
    recent: Option<Box<RecentFigures>>,
}

#[derive(Clone)]
struct RecentFigures {
    slices: Slices,
    slowest: Longest,
}

impl Board {
    pub fn new(selection: &Arc<Selection>) -> Board {
        Board {
            roster: Roster::new(Arc::clone(selection)),
            details: Vec::new(),
            groups: Groups::default(),
            sliced: 0,
            folded: Folded::default(),
            durations: Vec::new(),
            key: Vec::new(),
        }
    }

    /// Adds a class whose events come with all fields, in this order.
    pub fn class(&mut self, class: &Arc<EventClass>, wanted: &[usize]) {
        self.roster.want_besides(class, Slots(wanted.to_vec()));
        if self.details.len() <= class.index {
            self.details.resize_with(class.index + 1, || None);
        }
        let meaning = self.roster.selection().dictionary.look_up(class);
        self.details[class.index] = self.roster.plan(class.index).map(|plan| {
            let mut slots = Slots(wanted.to_vec());
            (class.trace, KeptFields::new(class, &meaning, plan, &mut slots))
        });
    }

    /// Adds an event.
    pub fn event(&mut self, event: &OrderedEvent<'_>) {
        let Board { roster, details, groups, sliced, folded, durations, key } = self;
        let of_one = event.events();
        roster.count(&of_one);
        let Some(plan) = roster.plan(of_one.class) else { return };
        let single = of_one.get(0);
        if plan.has_conditions() && !plan.admits(&single) {
            return;
        }
        plan.durations(&of_one, durations);
        let ticks = durations.first().copied();
        let kind = &roster.kinds()[plan.kind];
        // Most events belong to a recently seen group, and their keys need not be encoded.
        let brief = plan.only_key().map_or(Brief::OTHER, |slot| Brief::from(&event.value(slot)));
        let is_recent = brief != Brief::OTHER && groups.of_kind(plan.kind).recall(brief).is_some();
        if !is_recent {
            plan.encode_key(&single, key);
            if groups.keyed() >= GROUP_CAP && groups.get(plan.kind, key).is_none() {
                let mut figures = Figures::default();
                figures.record(ticks);
                return folded.add(&figures, kind.unit_ns());
            }
            let make = || {
                let recent = (*sliced < SLICED_CAP).then(|| {
                    *sliced += 1;
                    Box::new(RecentFigures { slices: Slices::default(), slowest: Longest::new(SLOWEST) })
                });
                GroupState { total: Figures::default(), recent }
            };
            match brief {
                Brief::OTHER => _ = groups.entry(plan.kind, key, make),
                brief => _ = groups.recallable(plan.kind, brief, key, make),
            }
        }
        let state = match brief {
            Brief::OTHER => groups.get_mut(plan.kind, key),
            brief => groups.of_kind(plan.kind).recall(brief),
        };
        let Some(state) = state else { return };
        state.total.record(ticks);
        let Some(recent) = &mut state.recent else { return };
        let time = event.timestamp();
        recent.slices.take(time, ticks);
        if let Some(ticks) = ticks.filter(|&ticks| ticks < IMPLAUSIBLE)
            && recent.slowest.has_room_for(kind.ns(ticks), time)
            && let Some(Some((trace, details))) = details.get(of_one.class)
        {
            plan.encode_key(&single, key);
            recent.slowest.push(Record {
                duration_ns: kind.ns(ticks),
                timestamp: time,
                kind: Arc::clone(kind),
                key: key.as_slice().into(),
                trace: *trace,
                fields: details.of(&single),
            });
        }
    }

    /// What was left out, or why the selection does not fit what has arrived.
    pub fn finish(&self) -> Result<LeftOut, Misfit> {
        self.roster.finish()
    }

    /// The groups of a window, ranked.
    pub fn summary(&self, window: LookBack, now: i64, sort: Sort, report: Report) -> Summary {
        let kinds = self.roster.kinds();
        let entries = self.groups.entries().filter_map(|(kind, key, state)| {
            let figures = match (window, &state.recent) {
                (LookBack::All, _) => state.total.clone(),
                (_, recent) => recent.as_ref()?.slices.sum(window, now),
            };
            let is_there = figures.count() > 0;
            is_there.then(|| Group { kind: Arc::clone(&kinds[kind]), key_bytes: key.into(), figures })
        });
        let mut groups: Vec<Group> = entries.collect();
        rank(&mut groups, sort, |group| group);
        let folded = (self.folded.count > 0).then(|| self.folded.clone());
        // The selection may fit when more has arrived.
        let left_out = self.finish().unwrap_or_default();
        Summary { report, groups, extras: Vec::new(), folded, left_out, pools: Vec::new() }
    }

    /// The number of events of each group in each slice of a window.
    pub fn sparks(&self, groups: &[Group], window: LookBack, now: i64) -> Vec<Vec<u64>> {
        let span = window.slices();
        let spark = |group: &Group| {
            let mut counts = vec![0; span.count];
            if let Some(recent) = self.state(group).and_then(|state| state.recent.as_ref()) {
                recent.slices.each(span, now, |place, figures| counts[place] += figures.count());
            }
            counts
        };
        groups.iter().map(spark).collect()
    }

    /// How long events took in each slice of a window: of one group, or of all.
    pub fn heat(&self, only: Option<&Group>, window: LookBack, now: i64) -> HeatStrip {
        let span = window.slices();
        let mut columns = vec![[0; OCTAVES]; span.count];
        for (kind, key, state) in self.groups.entries() {
            let is_it = |group: &Group| *group.kind == *self.roster.kinds()[kind] && *group.key_bytes == *key;
            if !only.is_none_or(is_it) {
                continue;
            }
            let unit = self.roster.kinds()[kind].unit_ns();
            let Some(recent) = &state.recent else { continue };
            recent.slices.each(span, now, |place, figures| {
                for bucket in figures.durations.buckets() {
                    let ns = u64::try_from(u128::from(bucket.low) * unit).unwrap_or(u64::MAX);
                    columns[place][octave_of(ns).min(OCTAVES - 1)] += bucket.count;
                }
            });
        }
        HeatStrip::new(span.length as u64, &columns)
    }

    /// What is known of one group: its durations in a window, and its slowest events.
    pub fn detail(&self, group: Group, trace: &TraceFinding) -> Detail {
        let recent = self.state(&group).and_then(|state| state.recent.as_ref());
        let records = recent.map(|recent| recent.slowest.clone().into_sorted()).unwrap_or_default();
        Detail {
            name: GroupName::of(&group),
            slowest: records.iter().map(|record| EventFinding::new(record, trace)).collect(),
            durations: HistGroup::new(&group),
        }
    }

    fn state(&self, group: &Group) -> Option<&GroupState> {
        let kind = self.roster.kind_number(&group.kind)?;
        self.groups.get(kind, &group.key_bytes)
    }
}
