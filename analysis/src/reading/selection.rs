//! Which events count and how they are grouped, and why a selection may not fit a trace.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::filter::{BoundCondition, Condition, Glob, Mismatch};
use crate::meaning::{ClassMeaning, Dictionary, HOST, NamedField};
use crate::unit::TimeUnit;
use ctf_reader::{EventClass, Wanted};

/// Which events count, and how they are grouped.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// What events mean.
    pub dictionary: Dictionary,
    /// Events whose name matches any of these; all if empty.
    pub events: Vec<EventGlob>,
    /// Events that meet all of these.
    pub conditions: Vec<Condition>,
    /// The names of the fields to group by, if not those of the catalog.
    pub by: Option<Vec<String>>,
    /// Whether events that only repeat the duration of another count too.
    pub with_repeats: bool,
    /// Whether processes are told apart.
    pub processes: Processes,
}

/// Whether the events of different processes are in different groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Processes {
    /// They are together.
    #[default]
    Together,
    /// They are together, and the processes are counted.
    Counted,
    /// They are apart: the process is the last key of a group.
    Apart,
}

/// The field that identifies a process.
pub(crate) const PROCESS: &str = "vpid";

/// A pattern for names of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventGlob(pub Glob);

impl EventGlob {
    /// Whether the name of the class matches, or the one that the catalog has for it.
    pub(crate) fn fits(&self, class: &EventClass, meaning: &ClassMeaning) -> bool {
        let fits = |name: &String| self.0.matches_event(name);
        fits(&class.name) || meaning.event.as_ref().is_some_and(fits)
    }
}

impl std::fmt::Display for EventGlob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Events that are grouped together: the same name, the same keys, the same unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKind {
    /// The full name of the event.
    pub event: String,
    /// The names of the fields that identify a group.
    pub keys: Vec<String>,
    /// The unit of the durations; none if the event has no duration.
    pub unit: Option<TimeUnit>,
    /// Whether the unit is a guess.
    pub unit_is_guess: bool,
    /// Whether the duration is a sum of pieces, and not an interval.
    pub is_sum: bool,
}

impl EventKind {
    /// A number of ticks of the durations' unit, in nanoseconds.
    pub fn ns(&self, ticks: u64) -> u128 {
        u128::from(ticks) * self.unit_ns()
    }

    /// The unit of the durations in nanoseconds.
    pub fn unit_ns(&self) -> u128 {
        self.unit.map_or(1, |unit| unit.nanoseconds().into())
    }
}

/// What was left out and why: names of events, with their numbers; and whether durations are derived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Events that only repeat another's duration.
    pub repeats: BTreeMap<String, u64>,
    /// Events without a field to group by or to compare.
    pub without_field: BTreeMap<String, u64>,
    /// Whether the module for stock servers has recorded it, which knows where a command begins but derives where it ends.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub derived: bool,
}

impl Selection {
    /// Whether events may be left out that were recorded.
    pub(crate) fn is_filter(&self) -> bool {
        !self.events.is_empty() || !self.conditions.is_empty()
    }

    /// Whether it is all events, grouped as the catalogs say, without those that repeat others.
    pub(crate) fn is_plain(&self) -> bool {
        let is_whole = self.by.is_none() && self.processes == Processes::Together;
        !self.is_filter() && is_whole && !self.with_repeats
    }

    /// The same without conditions on durations: events are not judged by those among them that took long.
    pub(crate) fn of_any_duration(&self) -> Selection {
        let mut selection = self.clone();
        selection.conditions.retain(|condition| condition.field != "duration");
        selection
    }

    /// All events, grouped as the catalogs say.
    pub(crate) fn unfiltered(&self) -> Selection {
        Selection { dictionary: self.dictionary.clone(), ..Selection::default() }
    }

    /// The same without filters.
    pub(crate) fn of_all_events(&self) -> Selection {
        Selection { events: Vec::new(), conditions: Vec::new(), ..self.clone() }
    }

    /// The field of the process, where it is to be told and is not a key anyway.
    pub(crate) fn process(&self, class: &EventClass) -> Option<usize> {
        let is_key = self.by.iter().flatten().any(|name| name == PROCESS || name == "pid");
        class.field(PROCESS).filter(|_| self.processes != Processes::Together && !is_key)
    }

    /// The names of all fields that an event must have to count.
    pub(crate) fn wanted_fields(&self) -> impl Iterator<Item = &str> {
        let conditions = self.conditions.iter().map(|condition| &*condition.field);
        conditions.chain(self.by.iter().flatten().map(String::as_str))
    }

    pub(crate) fn keys(&self, class: &EventClass, meaning: &ClassMeaning) -> Vec<NamedField> {
        let named = |name: &String| {
            let index = meaning.field(class, name)?;
            let known_as = if name == HOST { name } else { meaning.name_of(class, index) };
            Some(NamedField { name: known_as.to_owned(), index })
        };
        let mut keys: Vec<NamedField> = match &self.by {
            Some(names) => names.iter().filter_map(named).collect(),
            None => meaning.group_by.clone(),
        };
        let apart = self.process(class).filter(|_| self.processes == Processes::Apart);
        keys.extend(apart.map(|index| NamedField { name: PROCESS.to_owned(), index }));
        keys
    }

    pub(crate) fn bind(
        &self,
        class: &EventClass,
        meaning: &ClassMeaning,
        wanted: &mut Wanted,
    ) -> Result<Vec<BoundCondition>, Mismatch> {
        let bind = |condition: &Condition| {
            let index = meaning.field(class, &condition.field)?;
            let unit = meaning.duration.filter(|duration| duration.index == index);
            let kind = meaning.kind(class, index);
            Some(condition.bind(wanted.value_at(index), kind, unit.map(|duration| duration.unit)))
        };
        self.conditions.iter().filter_map(bind).collect()
    }
}
