//! Events aggregated by group.

mod ranking;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::durations::histogram::Histogram;
use crate::groups::brief_counts::BriefCounts;
use crate::groups::fold::{Spilled, Tracked};
use crate::groups::group::{Extra, Folded, Group, LongOfKind, Sort};
use crate::groups::table::{Groups, Place};
use crate::groups::tally::{Known, Tally};
use crate::parallel::change_in_parallel;
use crate::reading::grown::grown;
use crate::reading::{
    ClassPlan, CollectBeside, CollectInPassing, EventKind, Failure, LeftOut, Misfit, Roster, Selection,
    SourceWindow,
};
use crate::source::Source;
use ctf_reader::{Brief, ClassIndex, Collect, Event, EventClass, Events, Report, Wanted};

pub(crate) use ranking::rank;

/// The most groups with a key that are kept separately; beyond that the lightest are folded together.
pub(crate) const GROUP_CAP: usize = 10_000;

/// The groups of a trace, with their durations.
#[derive(Debug)]
pub(crate) struct Summary<E = ()> {
    /// What was read.
    pub report: Report,
    /// The groups, in the order asked for.
    pub groups: Vec<Group>,
    /// What each of them has besides its figures.
    pub extras: Vec<E>,
    /// The total of groups that are not kept separately.
    pub folded: Option<Folded>,
    /// What was left out.
    pub left_out: LeftOut,
    /// The durations of each kind, all groups together, folded ones too.
    pub pools: Pools,
    /// The processes, at most [`PROCESSES_MAX`] and one, where they were to be counted.
    pub processes: BTreeSet<u64>,
}

/// With more processes than this, they are not told apart.
pub(crate) const PROCESSES_MAX: usize = 64;

/// The number of events that makes it likely that many are alike.
pub(crate) const MANY: usize = 64;

/// All durations of each kind.
pub(crate) type Pools = Vec<(Arc<EventKind>, Histogram)>;

/// Aggregates events by group and ranks the groups, keeping at most `cap` keys separately.
pub(crate) fn summarise<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    sort: Sort,
    cap: usize,
) -> Result<Summary, Failure> {
    summarise_into::<(), S>(input, selection, sort, cap, ())
}

/// Like [`summarise`], with more than figures for each group.
pub(crate) fn summarise_into<E: Extra, S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    sort: Sort,
    cap: usize,
    context: E::Context,
) -> Result<Summary<E>, Failure> {
    let (collected, report) = input.read(SummaryCollector::<E>::of(selection, cap, context))?;
    collected.summary(input, report, sort)
}

#[derive(Clone, Debug)]
enum Phase {
    /// Every group is kept separately.
    Exact,
    /// There are too many: keyed groups are only totals of hash buckets.
    Spilled(Box<Spilled>),
    /// Only groups in the heaviest buckets count.
    Tracked(Tracked),
}

/// Aggregates events by group while a source is read.
#[derive(Debug)]
pub(crate) struct SummaryCollector<E: Extra> {
    roster: Roster,
    groups: Groups<Tally<E>>,
    phase: Phase,
    cap: usize,
    context: E::Context,
    processes: BTreeSet<u64>,
    /// Which of the last events a later reading looks at, if that is known.
    ahead: Option<Vec<usize>>,
    /// By kind.
    long: Vec<LongOfKind>,
    buffers: Buffers,
}

/// Buffers that are reused.
#[derive(Debug, Default)]
struct Buffers {
    durations: Vec<u64>,
    briefs: Vec<Brief>,
    /// The events whose groups are not in the cache.
    others: Vec<usize>,
    counts: BriefCounts,
    key: Vec<u8>,
    processes: Vec<u64>,
    times: Vec<i64>,
}

impl<E: Extra> SummaryCollector<E> {
    /// Keeps at most `cap` keys separately.
    pub fn of(selection: &Arc<Selection>, cap: usize, context: E::Context) -> Self {
        SummaryCollector::new(Roster::new(Arc::clone(selection)), Phase::Exact, cap, context)
    }

    /// The groups, ranked. If there are too many, the source is read again.
    pub fn summary<S: Source>(
        mut self,
        input: &mut SourceWindow<'_, S>,
        report: Report,
        sort: Sort,
    ) -> Result<Summary<E>, Failure> {
        self.make_room();
        let Phase::Spilled(spilled) = self.phase else {
            return Ok(self.finish(report, sort, None)?);
        };
        let ranks = spilled.ranks(sort);
        let (roster, phase) = (
            Roster::new(Arc::clone(self.roster.selection())),
            Phase::Tracked(Tracked::new(Arc::clone(&ranks))),
        );
        let again = SummaryCollector::<E>::new(roster, phase, self.cap, self.context);
        let (mut again, report) = input.read(again)?;
        again.make_room();
        let folded = match &again.phase {
            Phase::Tracked(tracked) => spilled.folded(&ranks, tracked.below),
            Phase::Exact | Phase::Spilled(_) => Folded::default(),
        };
        let pools = self.roster.kinds().iter().cloned().zip(spilled.into_pools()).collect();
        Ok(again.finish(report, sort, Some((folded, pools)))?)
    }

    fn new(roster: Roster, phase: Phase, cap: usize, mut context: E::Context) -> Self {
        // Which groups a folded reading keeps is known only at its end.
        if matches!(phase, Phase::Tracked(_)) {
            E::adapt(&mut context, usize::MAX);
        }
        SummaryCollector {
            roster,
            groups: Groups::default(),
            phase,
            cap,
            context,
            processes: BTreeSet::new(),
            ahead: E::LOOKS_AHEAD.then(Vec::new),
            long: Vec::new(),
            buffers: Buffers::default(),
        }
    }

    /// The most keyed groups before room is made.
    #[inline]
    fn limit(&self) -> usize {
        match self.phase {
            Phase::Exact | Phase::Spilled(_) => self.cap,
            // Twice the cap, so that buckets are rarely dropped.
            Phase::Tracked(_) => 2 * self.cap,
        }
    }

    /// Adds an event whose group is not in the cache.
    fn enter(&mut self, class: ClassIndex, event: &Event<'_>) {
        let SummaryCollector { roster, groups, phase, buffers, context, .. } = self;
        let Some(plan) = roster.plan(class) else { return };
        let kind = plan.kind;
        plan.encode_key(event, &mut buffers.key);
        if let Phase::Tracked(tracked) = phase
            && !buffers.key.is_empty()
            && !tracked.has(&roster.kinds()[kind], &buffers.key)
        {
            return;
        }
        let tally = match buffers.briefs.get(event.number) {
            Some(&brief) if brief != Brief::OTHER => {
                groups.recallable(kind, brief, &buffers.key, Tally::default)
            }
            _ => groups.entry(kind, &buffers.key, Tally::default),
        };
        let time = if E::IS_TIMED { event.timestamp() } else { 0 };
        tally.take(buffers.durations.get(event.number).copied(), E::moment(time, context), context);
        E::adapt(context, groups.keyed());
        if self.groups.keyed() > self.limit() {
            self.make_room();
        }
    }

    /// Finds out which events of a batch, whose groups are all known, a later reading looks at.
    #[inline(never)]
    fn look_ahead(&mut self, events: &Events<'_>) {
        let SummaryCollector { roster, groups, phase, ahead, long, buffers, .. } = self;
        let Buffers { durations, briefs, times, .. } = buffers;
        let mut found = ahead.take().unwrap_or_default();
        found.clear();
        let plan = roster.plan(events.class);
        // Which groups are kept in the end is not known if there are too many, and filters are asked for each event.
        if !matches!(phase, Phase::Exact) || plan.is_some_and(ClassPlan::has_conditions) {
            return;
        }
        let mut unknown = 0;
        if let Some(plan) = plan {
            let (of_kind, long) = (groups.of_kind(plan.kind), grown(long, plan.kind));
            times.clear();
            events.timestamps(times);
            for (event, (&ticks, &time)) in durations.iter().zip(&*times).enumerate() {
                let tally = match briefs.get(event) {
                    Some(brief) => of_kind.recall(*brief),
                    None => of_kind.at(Place::Keyless),
                };
                unknown += usize::from(tally.is_none());
                if tally.is_none_or(|tally| tally.extra.looks_at(long, ticks, time)) {
                    found.push(event);
                }
            }
        }
        // Groups of several keys or of long ones are not recalled, and to look at all of their events saves nothing.
        if unknown < MANY || 2 * unknown <= events.count {
            *ahead = Some(found);
        }
    }

    /// Removes groups that the phase does not allow.
    #[cold]
    fn make_room(&mut self) {
        let SummaryCollector { roster, groups, phase, cap, .. } = self;
        if matches!(phase, Phase::Exact) && groups.keyed() > *cap {
            *phase = Phase::Spilled(Box::new(Spilled::new()));
        }
        match phase {
            Phase::Exact => {}
            Phase::Tracked(tracked) => tracked.shrink(groups, roster.kinds(), *cap),
            Phase::Spilled(spilled) => {
                for (kind, key, tally) in groups.take_keyed() {
                    spilled.add(&roster.kinds()[kind], kind, &key, &tally.figures);
                }
            }
        }
    }

    fn finish(
        self,
        report: Report,
        sort: Sort,
        folding: Option<(Folded, Pools)>,
    ) -> Result<Summary<E>, Misfit> {
        let left_out = self.roster.finish()?;
        let kinds = self.roster.kinds();
        let mut context = self.context;
        E::adapt(&mut context, self.groups.keyed());
        let group = |(kind, key_bytes, tally): (usize, Box<[u8]>, Tally<E>)| {
            let Tally { figures, mut extra } = tally;
            extra.looked_at(self.long.get(kind).copied().unwrap_or_default());
            (Group { kind: Arc::clone(&kinds[kind]), key_bytes, figures }, extra)
        };
        let mut groups: Vec<(Group, E)> = self.groups.into_entries().map(group).collect();
        if E::IS_TIMED {
            change_in_parallel(&mut groups, |(_, extra)| extra.finish(&context));
        }
        let (folded, keyed_pools) = folding.unzip();
        let summary = Summary::new(report, groups, sort, keyed_pools.unwrap_or_default());
        Ok(Summary { folded, left_out, processes: self.processes, ..summary })
    }
}

impl<E: Extra> CollectBeside for SummaryCollector<E> {
    fn want_besides(&mut self, class: &Arc<EventClass>, wanted: &mut Wanted) -> bool {
        self.roster.want_besides(class, wanted)
    }
}

impl<E: Extra + Sync> CollectInPassing for SummaryCollector<E> {
    fn count(&mut self, class: ClassIndex, events: u64) {
        self.roster.count_of(class, events);
    }
}

impl<E: Extra> Collect for SummaryCollector<E> {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        self.roster.want(class)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let SummaryCollector {
            roster,
            groups,
            context,
            processes,
            buffers: Buffers { durations, briefs, others, counts, processes: of_events, .. },
            ..
        } = self;
        let Some(plan) = roster.count(events) else {
            // Nothing else is wanted of them.
            self.ahead.iter_mut().for_each(Vec::clear);
            return ControlFlow::Continue(());
        };
        if let Some(field) = plan.process.filter(|_| processes.len() <= PROCESSES_MAX) {
            of_events.clear();
            match events.are_common([field]) {
                true => of_events.push(events.get(0).value(field)),
                false => events.integers(field, of_events),
            }
            of_events.dedup();
            processes.extend(of_events.iter().take(PROCESSES_MAX + 1));
        }
        plan.durations(events, durations);
        briefs.clear();
        others.clear();
        let (durations, has_conditions) = (&**durations, plan.has_conditions());
        match plan.only_key() {
            None if plan.keys().is_empty() && !has_conditions => {
                let tally = groups.entry(plan.kind, &[], Tally::default);
                for (range, time) in events.ranges(|time| E::alike_until(time, context)) {
                    let moment = E::moment(time, context);
                    let is_counted = E::IS_TIMED && range.len() >= MANY;
                    for event in range {
                        let ticks = durations.get(event).copied();
                        match ticks.and_then(|ticks| counts.of(0, ticks)).filter(|_| is_counted) {
                            Some(count) => *count += 1,
                            None => tally.take(ticks, moment, context),
                        }
                    }
                    if is_counted {
                        counts.take(|_, ticks, count| tally.take_many(ticks, count, moment, context));
                    }
                }
            }
            None => others.extend((0..events.count).filter(|&event| plan.admits(&events.get(event)))),
            Some(key) => {
                events.briefs(key, briefs);
                let of_kind = groups.of_kind(plan.kind);
                for (range, time) in events.ranges(|time| E::alike_until(time, context)) {
                    let moment = E::moment(time, context);
                    let known = Known::<E> { briefs, durations, moment, context };
                    if has_conditions {
                        let admitted = range.filter(|&event| plan.admits(&events.get(event)));
                        known.take(of_kind, admitted, others);
                    } else if E::IS_TIMED && range.len() >= MANY && !durations.is_empty() {
                        known.take_brief(of_kind, range, counts, others);
                    } else {
                        known.take(of_kind, range, others);
                    }
                }
            }
        }
        for other in 0..self.buffers.others.len() {
            self.enter(events.class, &events.get(self.buffers.others[other]));
        }
        if E::LOOKS_AHEAD {
            self.look_ahead(events);
        }
        ControlFlow::Continue(())
    }

    fn noted(&self) -> Option<&[usize]> {
        self.ahead.as_deref()
    }

    fn split(&self) -> Self {
        let phase = match &self.phase {
            Phase::Exact | Phase::Spilled(_) => Phase::Exact,
            Phase::Tracked(tracked) => Phase::Tracked(tracked.clone()),
        };
        SummaryCollector::new(self.roster.emptied(), phase, self.cap, self.context)
    }

    fn absorb(&mut self, mut other: Self) {
        other.make_room();
        self.processes.append(&mut other.processes);
        let kinds = self.roster.absorb(other.roster);
        for (kind, key, tally) in other.groups.into_entries() {
            let mut theirs = Some(tally);
            let mine = self.groups.entry(kinds[kind], &key, || theirs.take().unwrap_or_default());
            theirs.into_iter().for_each(|theirs| mine.absorb(theirs));
            E::adapt(&mut self.context, self.groups.keyed());
        }
        for (kind, theirs) in other.long.into_iter().enumerate() {
            grown(&mut self.long, kinds[kind]).absorb(theirs);
        }
        match (&mut self.phase, other.phase) {
            (Phase::Spilled(mine), Phase::Spilled(theirs)) => mine.absorb(*theirs, &kinds),
            (mine @ Phase::Exact, Phase::Spilled(theirs)) => {
                let mut spilled = Box::new(Spilled::new());
                spilled.absorb(*theirs, &kinds);
                *mine = Phase::Spilled(spilled);
            }
            (Phase::Tracked(mine), Phase::Tracked(theirs)) => mine.below = mine.below.min(theirs.below),
            _ => {}
        }
        self.make_room();
    }
}

#[cfg(test)]
mod tests;
