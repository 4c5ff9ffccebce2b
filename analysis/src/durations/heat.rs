//! How durations are distributed over time: a heat map for each group.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range, RangeInclusive};
use std::sync::Arc;

use serde::Serialize;

use crate::durations::hist::Outline;
use crate::durations::histogram::IMPLAUSIBLE;
use crate::durations::octave::{OCTAVES, octave_of, octave_start};
use crate::finding::{Notes, Ns, TraceFinding};
use crate::groups::{GROUP_CAP, Group, Groups, Sort, summarise};
use crate::reading::{Failure, Kinds, Roster, Selection, SourceWindow};
use crate::source::Source;
use ctf_reader::{Collect, EventClass, Events, Wanted};

/// The most maps; each needs memory for all of its cells.
const MAP_CAP: usize = 100;

/// Heat maps of the first groups of a trace.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Heat {
    /// What was read.
    pub trace: TraceFinding,
    /// What the columns are.
    pub columns: TimeColumns,
    /// The first groups that have durations.
    pub groups: Vec<HeatGroup>,
    /// The number of groups with durations after those.
    pub hidden_groups: u64,
    /// Notes for the reader.
    pub notes: Notes,
}

/// A group and its map.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HeatGroup {
    /// Which group, and its main figures.
    #[serde(flatten)]
    pub outline: Outline,
    /// The shortest duration of each row, from 0 on.
    pub rows_from_us: Vec<Ns>,
    /// For each column the number of events in each row.
    pub counts: Vec<Vec<u64>>,
    /// The first row that has any events.
    pub first_row: usize,
    /// The number of events in the densest cell.
    pub densest: u64,
}

impl HeatGroup {
    fn new(group: &Group, map: &Map) -> Self {
        let is_used = |row: &usize| map.0.iter().any(|column| column[*row] > 0);
        let rows = (0..OCTAVES).rfind(is_used).map_or(0, |last| last + 1);
        HeatGroup {
            outline: Outline::new(group),
            rows_from_us: (0..rows).map(|row| Ns(group.kind.ns(octave_start(row)))).collect(),
            counts: map.0.iter().map(|column| column[..rows].to_vec()).collect(),
            first_row: (0..rows).find(is_used).unwrap_or(0),
            densest: map.0.iter().flatten().copied().max().unwrap_or(0),
        }
    }
}

/// The number of events of a group in each column of time and each octave of duration.
#[derive(Clone, Debug)]
struct Map(Vec<[u64; OCTAVES]>);

/// Equal parts of the time from the first to the last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeColumns {
    /// When the first column begins: nanoseconds since 1970.
    pub begin_ns: i64,
    /// How long each column is; at least 1.
    pub width_ns: u64,
    /// The number of columns.
    pub count: usize,
    /// When the last column ends.
    pub end_ns: i64,
}

impl TimeColumns {
    pub(crate) fn new(span: Option<RangeInclusive<i64>>, count: usize) -> Self {
        let span = span.unwrap_or(0..=0);
        let length = span.end().abs_diff(*span.start()).saturating_add(1);
        let (begin_ns, width_ns) = (*span.start(), length.div_ceil(count as u64).max(1));
        let end_ns = begin_ns.saturating_add_unsigned(width_ns.saturating_mul(count as u64));
        TimeColumns { begin_ns, width_ns, count, end_ns }
    }

    /// Half as many columns, each twice as wide.
    pub(crate) fn halved(&self) -> Self {
        let (width_ns, count) = (self.width_ns.saturating_mul(2), self.count.div_ceil(2));
        let end_ns = self.begin_ns.saturating_add_unsigned(width_ns.saturating_mul(count as u64));
        TimeColumns { width_ns, count, end_ns, ..*self }
    }

    #[inline]
    pub(crate) fn of(&self, timestamp: i64) -> usize {
        let column = timestamp.abs_diff(self.begin_ns) / self.width_ns;
        (column as usize).min(self.count - 1)
    }

    /// The times of a column.
    pub(crate) fn span(&self, column: usize) -> Range<i64> {
        let begin = self.begin_ns.saturating_add_unsigned(self.width_ns.saturating_mul(column as u64));
        begin..begin.saturating_add_unsigned(self.width_ns)
    }
}

/// Aggregates events by group, ranks the groups, and makes a map for each of the first ones.
pub(crate) fn heat<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    sort: Sort,
    limit: usize,
    columns: usize,
) -> Result<Heat, Failure> {
    let summary = summarise(input, selection, sort, GROUP_CAP)?;
    let columns = TimeColumns::new(summary.report.span.clone(), columns.max(1));
    let timed = || summary.groups.iter().filter(|group| group.kind.unit.is_some());
    let chosen: Vec<&Group> = timed().take(limit.min(MAP_CAP)).collect();
    let mut kinds = Kinds::default();
    let mut places = Groups::default();
    for (place, group) in chosen.iter().enumerate() {
        let kind = kinds.enter(Arc::clone(&group.kind));
        places.entry(kind, &group.key_bytes, || place);
    }
    let collector = HeatCollector {
        roster: Roster::with_kinds(Arc::clone(selection), kinds),
        places: Arc::new(places),
        maps: vec![Map(vec![[0; OCTAVES]; columns.count]); chosen.len()],
        columns,
        durations: Vec::new(),
        key: Vec::new(),
    };
    let (collector, _) = input.read(collector)?;
    let maps = chosen.iter().zip(&collector.maps);
    Ok(Heat {
        trace: TraceFinding::new(&summary.report),
        columns,
        groups: maps.map(|(group, map)| HeatGroup::new(group, map)).collect(),
        hidden_groups: (timed().count() - chosen.len()) as u64,
        notes: Notes::of_summary(&summary),
    })
}

struct HeatCollector {
    roster: Roster,
    /// The map of each group.
    places: Arc<Groups<usize>>,
    maps: Vec<Map>,
    columns: TimeColumns,
    durations: Vec<u64>,
    key: Vec<u8>,
}

impl Collect for HeatCollector {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
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
                self.maps[place].0[self.columns.of(event.timestamp())][octave_of(ticks)] += 1;
            }
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        HeatCollector {
            roster: self.roster.emptied(),
            places: Arc::clone(&self.places),
            maps: vec![Map(vec![[0; OCTAVES]; self.columns.count]); self.maps.len()],
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
