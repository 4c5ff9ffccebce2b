//! What a trace holds.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::groups::Groups;
use super::key::{self, Datum};
use super::plan::Slots;
use super::reading::{Failure, Reading};
use super::roster::Roster;
use super::selection::Selection;
use crate::source::Source;
use ctf_reader::{ClassIndex, Collect, EventClass, Events, Report};

/// Beyond so many processes none is told apart: the trace is not one of a service's few.
const PROCESS_CAP: usize = 10_000;

/// What a trace holds.
#[derive(Debug)]
pub struct Info {
    /// What was read.
    pub report: Report,
    /// How many events of each name there are.
    pub events_by_name: BTreeMap<String, u64>,
    /// The processes that the events came from, the busiest first; none if there are too many.
    pub processes: Option<Vec<Process>>,
}

/// A process, as far as the trace tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Its number.
    pub pid: Option<Datum>,
    /// Its name.
    pub name: Option<Datum>,
    /// How many events came from it.
    pub events: u64,
}

/// Counts events by name and by process.
pub fn info<S: Source>(reading: &mut Reading<'_, S>, selection: &Arc<Selection>) -> Result<Info, Failure> {
    let (collector, report) = reading.read(Collector::new(Roster::new(Arc::clone(selection)), Vec::new()))?;
    let mut events_by_name = BTreeMap::new();
    for class in collector.classes.into_iter().flatten().filter(|class| class.count > 0) {
        *events_by_name.entry(class.name).or_default() += class.count;
    }
    collector.roster.finish()?;
    let processes = (!collector.too_many).then(|| {
        let mut entries: Vec<_> = collector.processes.into_entries().collect();
        entries.sort_by(|(_, a_key, a), (_, b_key, b)| (b, a_key).cmp(&(a, b_key)));
        entries.into_iter().map(|(known, key, events)| Process::new(known, &key, events)).collect()
    });
    Ok(Info { report, events_by_name, processes })
}

/// What a class tells of its process, as the kind of its group: any of these, added up.
const PID: usize = 1;
const NAME: usize = 2;

impl Process {
    fn new(known: usize, key: &[u8], events: u64) -> Self {
        let mut values = key::decode(key).into_iter();
        let mut next = |what| (known & what != 0).then(|| values.next()).flatten();
        Process { pid: next(PID), name: next(NAME), events }
    }
}

struct Collector {
    roster: Roster,
    classes: Vec<Option<Counted>>,
    processes: Groups<u64>,
    too_many: bool,
    /// Room for the last key and the next.
    keys: [Vec<u8>; 2],
}

#[derive(Clone)]
struct Counted {
    name: String,
    count: u64,
    /// The slots of what tells the process.
    process: Vec<usize>,
    known: usize,
}

impl Collector {
    fn new(roster: Roster, classes: Vec<Option<Counted>>) -> Self {
        Collector { roster, classes, processes: Groups::default(), too_many: false, keys: Default::default() }
    }

    fn class(&mut self, index: ClassIndex) -> &mut Option<Counted> {
        if self.classes.len() <= index {
            self.classes.resize_with(index + 1, || None);
        }
        &mut self.classes[index]
    }

    fn check_room(&mut self) {
        if self.processes.keyed() > PROCESS_CAP {
            self.processes.take_keyed();
            self.too_many = true;
        }
    }
}

impl Collect for Collector {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        let mut slots = Slots(self.roster.want(class)?);
        let fields = [(PID, class.field("vpid")), (NAME, class.field("procname"))];
        let found = fields.into_iter().filter_map(|(what, field)| Some((what, field?)));
        let (known, process): (Vec<usize>, _) = found.map(|(what, field)| (what, slots.of(field))).unzip();
        let name = class.name.clone();
        *self.class(class.index) = Some(Counted { name, count: 0, process, known: known.iter().sum() });
        Some(slots.0)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let Some(plan) = self.roster.count(events) else { return ControlFlow::Continue(()) };
        let Some(Some(class)) = self.classes.get_mut(events.class) else { return ControlFlow::Continue(()) };
        // Events of one process mostly come in a row.
        let [last, key] = &mut self.keys;
        let mut in_a_row = 0;
        for event in events.iter().filter(|event| plan.admits(event)) {
            class.count += 1;
            key.clear();
            class.process.iter().for_each(|&slot| key::encode(&event.value(slot), key));
            if in_a_row > 0 && key != last {
                *self.processes.entry(class.known, last, || 0) += std::mem::take(&mut in_a_row);
            }
            std::mem::swap(key, last);
            in_a_row += 1;
        }
        if in_a_row > 0 {
            *self.processes.entry(class.known, last, || 0) += in_a_row;
        }
        self.check_room();
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        let mut classes = self.classes.clone();
        classes.iter_mut().flatten().for_each(|class| class.count = 0);
        Collector::new(self.roster.emptied(), classes)
    }

    fn absorb(&mut self, other: Self) {
        self.roster.absorb(other.roster);
        for (index, theirs) in other.classes.into_iter().enumerate() {
            let Some(theirs) = theirs else { continue };
            match self.class(index) {
                Some(mine) => mine.count += theirs.count,
                unknown => *unknown = Some(theirs),
            }
        }
        for (known, key, events) in other.processes.into_entries() {
            *self.processes.entry(known, &key, || 0) += events;
        }
        self.too_many |= other.too_many;
        self.check_room();
    }
}
