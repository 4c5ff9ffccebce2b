//! How durations are distributed over time: a heat map for each group.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::group::{Group, Sort};
use super::groups::Groups;
use super::histogram::IMPLAUSIBLE;
use super::reading::{Failure, Reading};
use super::roster::Roster;
use super::selection::{Kind, Selection};
use super::top::{GROUP_CAP, Top, top};
use crate::source::Source;
use ctf_reader::{Collect, EventClass, Events};

/// Rows for 0 and for each power of two below 2^63.
pub const ROWS: usize = 64;

/// How many maps there are at most; each takes memory for all of its cells.
const MAP_CAP: usize = 100;

/// Heat maps of the first groups of a [`Top`].
#[derive(Debug)]
pub struct Heat {
    /// The groups in their order.
    pub top: Top,
    /// A map for each of the first groups.
    pub maps: Vec<Map>,
    /// What the columns are.
    pub columns: Columns,
}

/// How many events of a group there are in each column of time and each row of duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map(Vec<[u64; ROWS]>);

impl Map {
    /// The columns; each has a count for every row, of which row 0 is a duration of 0 and row n one of
    /// 2^(n-1) up to but not including 2^n.
    pub fn columns(&self) -> &[[u64; ROWS]] {
        &self.0
    }
}

/// Equal pieces of the time from the first to the last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// When the first column begins.
    pub begin: i64,
    /// How long each column is, in nanoseconds; at least 1.
    pub width: u64,
    /// How many there are.
    pub count: usize,
}

impl Columns {
    fn new(span: Option<RangeInclusive<i64>>, count: usize) -> Self {
        let span = span.unwrap_or(0..=0);
        let length = span.end().abs_diff(*span.start()).saturating_add(1);
        Columns { begin: *span.start(), width: length.div_ceil(count as u64).max(1), count }
    }

    #[inline]
    fn of(&self, timestamp: i64) -> usize {
        let column = timestamp.abs_diff(self.begin) / self.width;
        (column as usize).min(self.count - 1)
    }
}

/// Sums groups up, ranks them, and draws a map of the first ones.
pub fn heat<S: Source>(
    reading: &mut Reading<'_, S>,
    selection: &Arc<Selection>,
    sort: Sort,
    limit: usize,
    columns: usize,
) -> Result<Heat, Failure> {
    let top = top(reading, selection, sort, GROUP_CAP)?;
    let columns = Columns::new(top.report.span.clone(), columns.max(1));
    let chosen = || top.groups.iter().filter(|group| group.kind.unit.is_some()).take(limit.min(MAP_CAP));
    let mut kinds: Vec<Arc<Kind>> = Vec::new();
    let mut places = Groups::default();
    for (place, group) in chosen().enumerate() {
        let known = kinds.iter().position(|kind| *kind == group.kind);
        let kind = known.unwrap_or_else(|| {
            kinds.push(Arc::clone(&group.kind));
            kinds.len() - 1
        });
        places.entry(kind, &group.key_bytes, || place);
    }
    let collector = Collector {
        roster: Roster::with_kinds(Arc::clone(selection), kinds),
        places: Arc::new(places),
        maps: vec![Map(vec![[0; ROWS]; columns.count]); chosen().count()],
        columns,
        durations: Vec::new(),
        key: Vec::new(),
    };
    let (collector, _) = reading.read(collector)?;
    Ok(Heat { maps: collector.maps, columns, top })
}

impl Heat {
    /// The groups that have a map, with it.
    pub fn groups(&self) -> impl Iterator<Item = (&Group, &Map)> {
        self.top.groups.iter().filter(|group| group.kind.unit.is_some()).zip(&self.maps)
    }
}

struct Collector {
    roster: Roster,
    /// Which map a group has.
    places: Arc<Groups<usize>>,
    maps: Vec<Map>,
    columns: Columns,
    durations: Vec<u64>,
    key: Vec<u8>,
}

impl Collect for Collector {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        self.roster.want(class)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let Some(plan) = self.roster.plan(events.class) else { return ControlFlow::Continue(()) };
        plan.durations(events, &mut self.durations);
        for (event, &ticks) in events.iter().zip(&self.durations) {
            if ticks >= IMPLAUSIBLE || !plan.admits(&event) {
                continue;
            }
            plan.encode_key(&event, &mut self.key);
            if let Some(&place) = self.places.get(plan.kind, &self.key) {
                let row = (u64::BITS - ticks.leading_zeros()) as usize;
                self.maps[place].0[self.columns.of(event.timestamp())][row] += 1;
            }
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        Collector {
            roster: self.roster.clone(),
            places: Arc::clone(&self.places),
            maps: vec![Map(vec![[0; ROWS]; self.columns.count]); self.maps.len()],
            columns: self.columns,
            durations: Vec::new(),
            key: Vec::new(),
        }
    }

    fn absorb(&mut self, other: Self) {
        for (mine, theirs) in self.maps.iter_mut().zip(other.maps) {
            for (mine, theirs) in mine.0.iter_mut().flatten().zip(theirs.0.iter().flatten()) {
                *mine += theirs;
            }
        }
    }
}
