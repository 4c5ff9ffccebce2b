//! Events summed up by group.

use std::cmp::Reverse;
use std::sync::Arc;

use super::fold::{Spilled, Tracked};
use super::group::{Figures, Folded, Group, Sort};
use super::groups::Groups;
use super::histogram::Histogram;
use super::key::Brief;
use super::plan::Duration;
use super::reading::{Failure, Reading};
use super::roster::Roster;
use super::selection::{Kind, LeftOut, Misfit, Selection};
use crate::source::{Collect, Event, EventClass, Report, Source};

/// How many groups with a key are told apart; beyond that the lightest are folded together.
pub const GROUP_CAP: usize = 10_000;

/// The groups of a trace.
#[derive(Debug)]
pub struct Top {
    /// What was read.
    pub report: Report,
    /// The groups, in the order asked for.
    pub groups: Vec<Group>,
    /// What belongs to groups that are not told apart.
    pub folded: Option<Folded>,
    /// What was left out.
    pub left_out: LeftOut,
    /// The durations of each kind, all groups together, folded ones too.
    pub pools: Pools,
}

/// All durations of each kind.
pub type Pools = Vec<(Arc<Kind>, Histogram)>;

/// Sums up events by group and ranks the groups, keeping at most `cap` keys apart.
pub fn top<S: Source>(
    reading: &mut Reading<'_, S>,
    selection: &Arc<Selection>,
    sort: Sort,
    cap: usize,
) -> Result<Top, Failure> {
    let collector = |state| Collector::new(Roster::new(Arc::clone(selection)), state, cap);
    let (mut first, report) = reading.read(collector(State::Exact))?;
    first.make_room();
    let State::Spilled(spilled) = first.state else {
        return Ok(first.finish(report, sort, None)?);
    };
    let ranks = spilled.ranks(sort);
    let (mut second, report) = reading.read(collector(State::Tracked(Tracked::new(Arc::clone(&ranks)))))?;
    second.make_room();
    let folded = match &second.state {
        State::Tracked(tracked) => spilled.folded(&ranks, tracked.below),
        State::Exact | State::Spilled(_) => Folded::default(),
    };
    let pools = first.roster.kinds.into_iter().zip(spilled.into_pools()).collect();
    Ok(second.finish(report, sort, Some((folded, pools)))?)
}

#[derive(Clone, Debug)]
enum State {
    /// Every group is told apart.
    Exact,
    /// There are too many: keyed groups are only totals of hash buckets.
    Spilled(Box<Spilled>),
    /// Only groups in the heaviest buckets count.
    Tracked(Tracked),
}

#[derive(Debug)]
struct Collector {
    roster: Roster,
    groups: Groups<Figures>,
    state: State,
    cap: usize,
    key: Vec<u8>,
}

impl Collector {
    fn new(roster: Roster, state: State, cap: usize) -> Self {
        Collector { roster, groups: Groups::default(), state, cap, key: Vec::new() }
    }

    /// How many keyed groups there may be before room is made.
    #[inline]
    fn limit(&self) -> usize {
        match self.state {
            State::Exact | State::Spilled(_) => self.cap,
            // Room for as many again, so that giving up a bucket is rare.
            State::Tracked(_) => 2 * self.cap,
        }
    }

    /// Takes in an event whose group was not met lately.
    #[inline(never)]
    fn enter(&mut self, event: &Event<'_>, brief: Option<Brief>, duration: Duration) {
        let Some(plan) = self.roster.plan(event.class) else { return };
        let kind = plan.kind;
        plan.encode_key(event.values, &mut self.key);
        if let State::Tracked(tracked) = &self.state
            && !self.key.is_empty()
            && !tracked.has(&self.roster.kinds[kind], &self.key)
        {
            return;
        }
        let figures = match &brief {
            Some(brief) => self.groups.recallable(kind, brief, &self.key, Figures::default),
            None => self.groups.entry(kind, &self.key, Figures::default),
        };
        figures.take(duration);
        if self.groups.keyed() > self.limit() {
            self.make_room();
        }
    }

    /// Puts groups away that the state does not allow.
    #[cold]
    fn make_room(&mut self) {
        let Collector { roster, groups, state, cap, .. } = self;
        if matches!(state, State::Exact) && groups.keyed() > *cap {
            *state = State::Spilled(Box::new(Spilled::new()));
        }
        match state {
            State::Exact => {}
            State::Tracked(tracked) => tracked.shrink(groups, &roster.kinds, *cap),
            State::Spilled(spilled) => {
                for (kind, key, figures) in groups.take_keyed() {
                    spilled.add(&roster.kinds[kind], kind, &key, &figures);
                }
            }
        }
    }

    fn finish(self, report: Report, sort: Sort, folding: Option<(Folded, Pools)>) -> Result<Top, Misfit> {
        let kinds = self.roster.kinds.clone();
        let left_out = self.roster.finish()?;
        let group = |(kind, key_bytes, figures): (usize, Box<[u8]>, Figures)| Group {
            kind: Arc::clone(&kinds[kind]),
            key_bytes,
            figures,
        };
        let mut groups: Vec<Group> = self.groups.into_entries().map(group).collect();
        groups.sort_by(|a, b| {
            let weights = Reverse(a.weight(sort)).cmp(&Reverse(b.weight(sort)));
            weights.then_with(|| (&a.kind, &a.key_bytes).cmp(&(&b.kind, &b.key_bytes)))
        });
        let (folded, keyed_pools) = folding.unzip();
        let pools = pools(&groups, keyed_pools.unwrap_or_default());
        Ok(Top { report, groups, folded, left_out, pools })
    }
}

/// All durations of each kind: known already for kinds whose groups were folded, and else their groups'.
fn pools(groups: &[Group], mut pools: Pools) -> Pools {
    pools.retain(|(_, pool)| pool.count() > 0);
    let complete = pools.len();
    for group in groups {
        match pools.iter().position(|(kind, _)| *kind == group.kind) {
            Some(known) if known < complete => {}
            Some(known) => pools[known].1.merge(&group.figures.durations),
            None => pools.push((Arc::clone(&group.kind), group.figures.durations.clone())),
        }
    }
    pools
}

impl Collect for Collector {
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        self.roster.want(class)
    }

    // Not inlined: a source's loop has few registers to spare.
    #[inline(never)]
    fn event(&mut self, event: &Event<'_>) {
        let Some(plan) = self.roster.count(event.class) else { return };
        if !plan.admits(event.values) {
            return;
        }
        let duration = plan.duration(event.values);
        let brief = plan.brief_key(event.values);
        // A group that is recalled is there, and so the state allows it.
        if let Some(brief) = &brief
            && let Some(figures) = self.groups.recall(plan.kind, brief)
        {
            figures.take(duration);
            return;
        }
        self.enter(event, brief, duration);
    }

    fn split(&self) -> Self {
        let state = match &self.state {
            State::Exact | State::Spilled(_) => State::Exact,
            State::Tracked(tracked) => State::Tracked(tracked.clone()),
        };
        Collector::new(self.roster.emptied(), state, self.cap)
    }

    fn absorb(&mut self, mut other: Self) {
        other.make_room();
        let kinds = self.roster.absorb(other.roster);
        for (kind, key, figures) in other.groups.into_entries() {
            self.groups.entry(kinds[kind], &key, Figures::default).absorb(&figures);
        }
        match (&mut self.state, other.state) {
            (State::Spilled(mine), State::Spilled(theirs)) => mine.absorb(*theirs, &kinds),
            (mine @ State::Exact, State::Spilled(theirs)) => {
                let mut spilled = Box::new(Spilled::new());
                spilled.absorb(*theirs, &kinds);
                *mine = State::Spilled(spilled);
            }
            (State::Tracked(mine), State::Tracked(theirs)) => mine.below = mine.below.min(theirs.below),
            _ => {}
        }
        self.make_room();
    }
}

#[cfg(test)]
mod tests;
