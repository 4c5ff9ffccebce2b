//! Groups of events as they arrive, in bounded memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use ctf_reader::{Brief, ClassIndex, Digest, DigestedEvent, EventClass, OrderedEvent, Report, Wanted};

use super::alike::{Alike, LastAlike};
use super::counters::{GROUP_COUNTERS, add, group_counters};
use super::finding::{Detail, HeatStrip};
use super::group_state::{AllEvents, GroupState, RecentFigures, add_steps};
use super::slices::{LookBack, SLICES, Slices};
use super::steps::STEPS;
use crate::durations::hist::HistGroup;
use crate::durations::histogram::IMPLAUSIBLE;
use crate::finding::{EventFinding, GroupName, TraceFinding};
use crate::groups::{Figures, Folded, GROUP_CAP, Group, Groups, Place, Sort, Summary, rank};
use crate::intervals::{Said, Translation};
use crate::reading::{ClassPlan, EventKind, LeftOut, Misfit, Roster, Selection, grown};
use crate::slow::longest::Recorder;

/// The most slices of time that all groups have together: those of 500 groups that are always busy.
const SLICE_CAP: usize = 500 * 2 * SLICES;

/// Events aggregated by group, from the beginning and over the last minutes.
///
/// Any new group may become the busiest one, so every group has slices. If they are too many, the groups in which the least
/// happened lately lose theirs; if there are too many groups, those that matter least are folded together.
#[derive(Clone)]
pub(super) struct Board {
    roster: Roster,
    recorder: Recorder,
    groups: Groups<GroupState>,
    /// For each class, what its events are grouped by.
    grouping: Vec<Grouping>,
    /// The kind and the place of the group of each such name, by its number.
    named: Translation<(usize, Place)>,
    /// Events that are not in their groups yet.
    alike: LastAlike,
    /// All events together.
    all: Slices<AllEvents>,
    /// The number of slices of all groups.
    sliced: usize,
    /// The time of the last event.
    latest: i64,
    /// The total of groups that are not kept separately.
    folded: Folded,
    /// The same for monitors.
    folded_counters: [u64; GROUP_COUNTERS],
    key: Vec<u8>,
}

/// What the events of a class are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Grouping {
    /// By fields that are read here.
    #[default]
    Fields,
    /// By the name that they were found to have where they were read, and all count.
    Name,
    /// The same, and those count that meet conditions.
    Conditions,
}

impl Board {
    pub fn new(selection: &Arc<Selection>) -> Board {
        Board {
            roster: Roster::new(Arc::clone(selection)),
            recorder: Recorder::default(),
            groups: Groups::default(),
            grouping: Vec::new(),
            named: Translation::default(),
            alike: LastAlike::default(),
            all: Slices::default(),
            sliced: 0,
            latest: i64::MIN,
            folded: Folded::default(),
            folded_counters: [0; GROUP_COUNTERS],
            key: Vec::new(),
        }
    }

    /// Adds a class whose events come with all fields, in this order. Where they are read, they are named by a plan.
    pub fn class(&mut self, class: &Arc<EventClass>, wanted: &Wanted, named: Option<&ClassPlan>) {
        // It wants nothing that is not wanted already.
        let mut wanted = wanted.clone();
        self.roster.want_besides(class, &mut wanted);
        self.recorder.want(class, &self.roster, &mut wanted);
        let plans = self.roster.plan(class.index).zip(named);
        *grown(&mut self.grouping, class.index) = match plans {
            Some((plan, named)) if plan.reads_like(named) => match plan.has_conditions() {
                true => Grouping::Conditions,
                false => Grouping::Name,
            },
            _ => Grouping::Fields,
        };
    }

    /// Whether events of a class are only counted.
    pub fn is_idle(&self, class: ClassIndex) -> bool {
        self.roster.plan(class).is_none()
    }

    /// Counts events of a class of which nothing else is needed.
    pub fn count_of(&mut self, class: ClassIndex, events: u64) {
        self.roster.count_of(class, events);
    }

    /// Adds an event of a class, with what it says.
    #[inline]
    pub fn event(&mut self, event: DigestedEvent<'_>, class: ClassIndex, digest: Digest) {
        let has_name = self.grouping.get(class) == Some(&Grouping::Name);
        if !has_name || !self.alike.count(class, digest.into(), event.timestamp()) {
            self.add(event);
        }
    }

    /// Adds an event that is not like the last ones.
    #[inline(never)]
    fn add(&mut self, event: DigestedEvent<'_>) {
        let event = &event.event();
        let class = event.class().index;
        let Some(plan) = self.roster.count_of(class, 1) else { return };
        if plan.has_conditions() && !plan.admits(&event.events().get(0)) {
            return;
        }
        let grouping = self.grouping[class];
        let digest = if grouping == Grouping::Fields { Digest::default() } else { event.digest() };
        let said = Said::from(digest);
        let (kind, time) = (plan.kind, event.timestamp());
        let ticks = said.ticks.or_else(|| plan.duration(event));
        self.latest = time.max(self.latest);
        let place = match self.named.get(said.name) {
            Some((of, place)) if of == kind => place,
            _ => self.place(event, said.name),
        };
        let Some(state) = self.groups.of_kind(kind).at(place) else { return };
        let recent = state.recent_at(time, &mut self.all, &mut self.sliced);
        recent.pending.record(ticks);
        let begin = recent.begin;
        match ticks {
            Some(ticks) if (recent.least..IMPLAUSIBLE).contains(&ticks) => {
                self.note_slow(event, place, ticks)
            }
            Some(IMPLAUSIBLE..) => {}
            // Others like it are not among the slowest, either.
            _ if grouping == Grouping::Name && said.name != 0 && said.ticks == ticks => {
                let others = self.alike.replace(class, said, begin, (kind, place));
                self.add_alike(others);
            }
            _ => {}
        }
        if self.sliced > SLICE_CAP {
            self.settle();
            self.sliced = shed_slices(&mut self.groups, self.roster.kinds(), self.latest);
        }
    }

    /// Adds events that are alike.
    fn add_alike(&mut self, alike: Alike) {
        let Alike { class, begin, kind, place, count, .. } = alike;
        if count == 0 {
            return;
        }
        self.roster.count_of(class, count);
        self.latest = self.latest.max(begin);
        if let Some(state) = self.groups.of_kind(kind).at(place) {
            let recent = state.recent_at(begin, &mut self.all, &mut self.sliced);
            match alike.ticks {
                Some(ticks) => recent.pending.record_many(ticks, count),
                None => recent.pending.untimed += count,
            }
        }
    }

    /// Keeps an event if it is among the slowest of the group in a place.
    #[inline(never)]
    fn note_slow(&mut self, event: &OrderedEvent<'_>, place: Place, ticks: u64) {
        let Board { roster, recorder, groups, .. } = self;
        let (class, single) = (event.class().index, event.events());
        let Some(plan) = roster.plan(class) else { return };
        let (kind, state) = (&roster.kinds()[plan.kind], groups.of_kind(plan.kind).at(place));
        if let Some(GroupState { recent, .. }) = state
            && recent.slowest.has_room_for(kind.ns(ticks), event.timestamp())
            && let Some(record) = recorder.record(class, (plan, kind), ticks, &single.get(0))
        {
            recent.slowest.push(record);
            recent.least = recent.slowest.least(kind);
        }
    }

    /// The place of the group of an event, which is added unless it is known. The event's name may have a number.
    #[inline(never)]
    fn place(&mut self, event: &OrderedEvent<'_>, name: u32) -> Place {
        let Some(plan) = self.roster.plan(event.class().index) else { return Place::Keyless };
        let kind = plan.kind;
        // Most events belong to a recently seen group, and their keys need not be encoded.
        let of_kind = self.groups.of_kind(kind);
        let (recalled, brief) = match plan.only_key() {
            Some(field) => {
                let brief = event.brief(field);
                (of_kind.recall_place(brief), brief)
            }
            None if plan.keys().is_empty() => (of_kind.keyless_place(), Brief::OTHER),
            None => (None, Brief::OTHER),
        };
        let place = match recalled {
            Some(place) => place,
            None => {
                plan.encode_key(&event.events().get(0), &mut self.key);
                let known = self.groups.find(kind, &self.key).filter(|_| brief == Brief::OTHER);
                known.unwrap_or_else(|| self.enter(kind, brief))
            }
        };
        self.named.enter(name, (kind, place));
        place
    }

    /// Adds the group of a kind that has the key that was encoded last, unless it is known, and returns its place. A brief
    /// key can be recalled from now on.
    #[inline(never)]
    fn enter(&mut self, kind: usize, brief: Brief) -> Place {
        if self.groups.keyed() >= GROUP_CAP && self.groups.find(kind, &self.key).is_none() {
            self.settle();
            let Board { roster, groups, latest, folded, folded_counters, .. } = self;
            make_room(groups, roster.kinds(), *latest, |figures, unit_ns| {
                folded.add(figures, unit_ns);
                add(folded_counters, &group_counters(figures, unit_ns));
            });
            self.named = Translation::default();
            self.sliced = groups.entries().map(|(_, _, state)| state.recent.slices.len()).sum();
        }
        let unit_ns = self.roster.kinds()[kind].unit_ns();
        let make = || GroupState {
            unit_ns,
            total: Figures::default(),
            recent: Box::new(RecentFigures::new(i64::MIN)),
        };
        match brief == Brief::OTHER {
            true => self.groups.entry(kind, &self.key, make),
            false => self.groups.recallable(kind, brief, &self.key, make),
        };
        self.groups.find(kind, &self.key).unwrap_or(Place::Keyless)
    }

    /// Adds what is pending to all figures; to be called before they are read.
    pub fn settle(&mut self) {
        std::mem::take(&mut self.alike).into_iter().for_each(|alike| self.add_alike(alike));
        let Board { groups, all, sliced, .. } = self;
        groups.values_mut().for_each(|state| state.settle(all, sliced));
    }

    /// What was left out, or why the selection does not fit what has arrived.
    pub fn finish(&self) -> Result<LeftOut, Misfit> {
        // A name that is mistyped is said before events come that would show it.
        match self.roster.is_empty().then(|| self.roster.unknown_name()).flatten() {
            Some(misfit) => Err(misfit),
            None => self.roster.finish(),
        }
    }

    /// All groups from the beginning.
    pub fn totals(&self) -> impl Iterator<Item = Group> {
        let kinds = self.roster.kinds();
        self.groups.entries().map(|(kind, key, state)| Group {
            kind: Arc::clone(&kinds[kind]),
            key_bytes: key.into(),
            figures: state.total.clone(),
        })
    }

    /// What is counted of groups that are not kept separately.
    pub fn folded_counters(&self) -> [u64; GROUP_COUNTERS] {
        self.folded_counters
    }

    /// The groups of a window, ranked.
    pub fn summary(&self, window: LookBack, now: i64, sort: Sort, report: Report) -> Summary {
        let kinds = self.roster.kinds();
        let entries = self.groups.entries().filter_map(|(kind, key, state)| {
            let figures = match window {
                LookBack::All => state.total.clone(),
                window => state.recent.slices.sum(window, now),
            };
            let is_there = figures.count() > 0;
            is_there.then(|| Group { kind: Arc::clone(&kinds[kind]), key_bytes: key.into(), figures })
        });
        let mut groups: Vec<Group> = entries.collect();
        rank(&mut groups, sort, |group| group);
        let folded = (self.folded.count > 0).then(|| self.folded.clone());
        // The selection may fit when more has arrived.
        let left_out = self.finish().unwrap_or_default();
        Summary {
            report,
            groups,
            extras: Vec::new(),
            folded,
            left_out,
            pools: Vec::new(),
            processes: BTreeSet::new(),
        }
    }

    /// The number of events of each group in each slice of a window.
    pub fn sparks(&self, groups: &[Group], window: LookBack, now: i64) -> Vec<Vec<u64>> {
        let span = window.slices();
        let spark = |group: &Group| {
            let mut counts = vec![0; span.count];
            if let Some(state) = self.state(group) {
                state.recent.slices.each(span, now, |place, figures| counts[place] += figures.count());
            }
            counts
        };
        groups.iter().map(spark).collect()
    }

    /// How long events took in each slice of a window: of one group, or of all.
    pub fn heat(&self, only: Option<&Group>, window: LookBack, now: i64) -> HeatStrip {
        let span = window.slices();
        let mut columns = vec![[0; STEPS]; span.count];
        match only {
            None => self.all.each(span, now, |place, all| columns[place] = all.steps),
            Some(group) => {
                let slices = self.state(group).map(|state| &state.recent.slices);
                let unit = group.kind.unit_ns();
                slices.iter().for_each(|slices| {
                    slices.each(span, now, |place, figures| add_steps(&mut columns[place], figures, unit));
                });
            }
        }
        HeatStrip::new(span.length as u64, &columns)
    }

    /// The number of events in a window, of all groups.
    pub fn count(&self, window: LookBack, now: i64) -> u64 {
        let totals = || self.groups.entries().map(|(_, _, state)| state.total.count()).sum::<u64>();
        match window {
            LookBack::All => totals() + self.folded.count,
            window => {
                let mut count = 0;
                self.all.each(window.slices(), now, |_, all| count += all.count);
                count
            }
        }
    }

    /// The number of groups whose figures of a window are incomplete, because they had lost their slices.
    pub fn incomplete(&self, window: LookBack, now: i64) -> u64 {
        let begin = if window == LookBack::All { i64::MAX } else { window.slices().begin(now) };
        self.groups.entries().filter(|(_, _, state)| state.recent.since > begin).count() as u64
    }

    /// What is known of one group: its durations in a window, and its slowest events.
    pub fn detail(&self, group: Group, trace: &TraceFinding) -> Detail {
        let state = self.state(&group);
        let records = state.map(|state| state.recent.slowest.clone().into_sorted()).unwrap_or_default();
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

/// What happened lately in a group: time in nanoseconds, and the number of events.
fn weight(kinds: &[Arc<EventKind>], kind: usize, state: &GroupState, now: i64) -> (u128, u64) {
    let (ticks, count) = state.recent.slices.weight(now);
    (ticks.saturating_mul(kinds[kind].unit_ns()), count)
}

/// Takes the slices from the groups in which the least happened lately, and returns how many are left.
fn shed_slices(groups: &mut Groups<GroupState>, kinds: &[Arc<EventKind>], now: i64) -> usize {
    let entries = groups.entries().map(|(kind, _, state)| weight(kinds, kind, state, now));
    let weights: Vec<(u128, u64)> = entries.collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_unstable_by_key(|&place| std::cmp::Reverse(weights[place]));
    let mut rank = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &group)| rank[group] = place);
    // The busiest keep theirs, up to three quarters of what all may have.
    let lengths: Vec<usize> = groups.entries().map(|(_, _, state)| state.recent.slices.len()).collect();
    let (mut kept, mut left) = (0, 0);
    while kept < order.len() && left + lengths[order[kept]] <= SLICE_CAP / 4 * 3 {
        left += lengths[order[kept]];
        kept += 1;
    }
    groups.values_mut().zip(rank).filter(|(_, rank)| *rank >= kept).for_each(|(state, _)| {
        *state.recent = RecentFigures::new(now);
    });
    left
}

/// Folds groups together, except those that took the most time in all and those in which the most happened lately.
fn make_room(
    groups: &mut Groups<GroupState>,
    kinds: &[Arc<EventKind>],
    now: i64,
    mut fold: impl FnMut(&Figures, u128),
) {
    const KEPT: usize = GROUP_CAP * 2 / 5;
    let mut all = groups.take_keyed();
    let total = |(kind, _, state): &(usize, Box<[u8]>, GroupState)| {
        (state.total.durations.total().saturating_mul(kinds[*kind].unit_ns()), state.total.count())
    };
    all.sort_by_cached_key(|group| std::cmp::Reverse(total(group)));
    let mut rest = all.split_off(KEPT.min(all.len()));
    rest.sort_by_cached_key(|(kind, _, state)| std::cmp::Reverse(weight(kinds, *kind, state, now)));
    for (kind, _, state) in rest.drain(KEPT.min(rest.len())..) {
        fold(&state.total, kinds[kind].unit_ns());
    }
    for (kind, key, state) in all.into_iter().chain(rest) {
        groups.entry(kind, &key, || state);
    }
}
