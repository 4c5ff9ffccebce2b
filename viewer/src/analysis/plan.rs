//! What to do with the events of each class, resolved once a class so that nothing is looked up by name
//! for an event.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::histogram::IMPLAUSIBLE;
use super::key;
use crate::filter::{Bound, Condition, Glob, Mismatch};
use crate::meaning::{Dictionary, Meaning, Named};
use crate::source::{ClassIndex, EventClass, FieldKind, Value};
use crate::unit::TimeUnit;

/// Which events count, and what tells their groups apart.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// What events mean.
    pub dictionary: Dictionary,
    /// Events whose name fits any of these; all if there is none.
    pub events: Vec<Glob>,
    /// Events that fulfil all of these.
    pub conditions: Vec<Condition>,
    /// The names of the fields that tell groups apart, if not those that the catalog says.
    pub by: Option<Vec<String>>,
    /// Whether events that only repeat another's duration count too.
    pub with_repeats: bool,
}

/// Events that are grouped together: the same name, the same keys, the same unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// The full name of the event.
    pub event: String,
    /// The names of the fields that tell groups apart.
    pub keys: Vec<String>,
    /// The unit of the durations; none if the event has no duration.
    pub unit: Option<TimeUnit>,
    /// Whether nobody said what the unit is.
    pub unit_is_guess: bool,
    /// Whether the duration is a sum of pieces and lies at no particular place in time.
    pub is_sum: bool,
}

impl Kind {
    /// A number of durations' units in nanoseconds.
    pub fn ns(&self, ticks: u64) -> u128 {
        u128::from(ticks) * self.unit_ns()
    }

    /// The unit of the durations in nanoseconds.
    pub fn unit_ns(&self) -> u128 {
        self.unit.map_or(1, |unit| unit.nanoseconds().into())
    }
}

/// What was left out and why: names of events, and how many there were of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Events that only repeat another's duration.
    pub repeats: BTreeMap<String, u64>,
    /// Events without a field to group by or to compare.
    pub without_field: BTreeMap<String, u64>,
}

/// What to do with the events of one class.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Which of [`Roster::kinds`].
    pub kind: usize,
    /// The slots of the keys.
    keys: Vec<usize>,
    /// The fields that say the most: the keys and the client, as indexes into the class's fields.
    pub leading: Vec<usize>,
    duration: Option<DurationSlot>,
    conditions: Vec<Bound>,
}

#[derive(Clone, Copy, Debug)]
struct DurationSlot {
    slot: usize,
    /// What a float is multiplied with; integers are taken as they are.
    float_scale: f64,
}

/// What the duration of an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duration {
    /// So many of the kind's unit.
    Plausible(u64),
    /// 2^63 or more: no duration but a clock that went wrong.
    Implausible,
    /// The event has none.
    Absent,
}

impl Plan {
    /// Whether the event fulfils all conditions.
    #[inline]
    pub fn admits(&self, values: &[Value<'_>]) -> bool {
        self.conditions.iter().all(|condition| condition.holds(values))
    }

    /// The event's duration.
    #[inline]
    pub fn duration(&self, values: &[Value<'_>]) -> Duration {
        let Some(DurationSlot { slot, float_scale }) = self.duration else {
            return Duration::Absent;
        };
        match values[slot] {
            Value::Unsigned(ticks) if ticks < IMPLAUSIBLE => Duration::Plausible(ticks),
            Value::Signed(ticks) if ticks >= 0 => Duration::Plausible(ticks as u64),
            Value::Float(value) => {
                let ticks = (value * float_scale).round();
                let is_plausible = (0.0..IMPLAUSIBLE as f64).contains(&ticks);
                if is_plausible { Duration::Plausible(ticks as u64) } else { Duration::Implausible }
            }
            _ => Duration::Implausible,
        }
    }

    /// The slot of the duration.
    pub fn duration_slot(&self) -> Option<usize> {
        self.duration.map(|duration| duration.slot)
    }

    /// Writes the event's keys into a buffer.
    #[inline]
    pub fn encode_key(&self, values: &[Value<'_>], bytes: &mut Vec<u8>) {
        bytes.clear();
        self.keys.iter().for_each(|&slot| key::encode(&values[slot], bytes));
    }
}

/// The plans for all classes met so far, and what is known of them together.
#[derive(Clone, Debug)]
pub(super) struct Roster {
    selection: Arc<Selection>,
    classes: Vec<Option<Entry>>,
    /// What the plans' events are grouped under.
    pub kinds: Vec<Arc<Kind>>,
}

/// A class whose name fits, and how many events of it there are.
#[derive(Clone, Debug)]
struct Entry {
    class: Arc<EventClass>,
    plan: Result<Plan, Unwanted>,
    events: u64,
}

/// Why no event of a class counts.
#[derive(Clone, Debug)]
enum Unwanted {
    Repeats,
    WithoutField,
    Mismatch(Mismatch),
}

impl Roster {
    pub fn new(selection: Arc<Selection>) -> Self {
        Roster::with_kinds(selection, Vec::new())
    }

    /// A roster for another reading, in which the kinds keep their places.
    pub fn with_kinds(selection: Arc<Selection>, kinds: Vec<Arc<Kind>>) -> Self {
        Roster { selection, classes: Vec::new(), kinds }
    }

    /// Makes a plan for the class and says which fields it needs; see [`Collect::want`].
    ///
    /// Classes that fit by name but whose events do not count are wanted too, without any field: only
    /// those that have events at all shall be said to be left out.
    ///
    /// [`Collect::want`]: crate::source::Collect::want
    pub fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        let selection = Arc::clone(&self.selection);
        let meaning = selection.dictionary.look_up(class);
        if !selection.fits(class, &meaning) {
            return None;
        }
        let (plan, fields) = match self.plan_for(&selection, class, &meaning) {
            Ok((plan, fields)) => (Ok(plan), fields),
            Err(unwanted) => (Err(unwanted), Vec::new()),
        };
        if self.classes.len() <= class.index {
            self.classes.resize_with(class.index + 1, || None);
        }
        self.classes[class.index] = Some(Entry { class: Arc::clone(class), plan, events: 0 });
        Some(fields)
    }

    /// Counts an event of the class.
    #[inline]
    pub fn count(&mut self, class: ClassIndex) {
        if let Some(Some(entry)) = self.classes.get_mut(class) {
            entry.events += 1;
        }
    }

    /// The plan for a class whose events count.
    #[inline]
    pub fn plan(&self, class: ClassIndex) -> Option<&Plan> {
        self.classes.get(class)?.as_ref()?.plan.as_ref().ok()
    }

    /// The same plans, and no event yet.
    pub fn emptied(&self) -> Self {
        let mut empty = self.clone();
        empty.classes.iter_mut().flatten().for_each(|entry| entry.events = 0);
        empty
    }

    /// Takes in what another roster met, and says which of our kinds each of its kinds is.
    pub fn absorb(&mut self, other: Roster) -> Vec<usize> {
        if self.classes.len() < other.classes.len() {
            self.classes.resize_with(other.classes.len(), || None);
        }
        let kinds: Vec<usize> = other.kinds.into_iter().map(|kind| self.enter(kind)).collect();
        for (mine, theirs) in self.classes.iter_mut().zip(other.classes) {
            match (mine, theirs) {
                (Some(mine), Some(theirs)) => mine.events += theirs.events,
                (mine @ None, Some(mut theirs)) => {
                    if let Ok(plan) = &mut theirs.plan {
                        plan.kind = kinds[plan.kind];
                    }
                    *mine = Some(theirs);
                }
                (_, None) => {}
            }
        }
        kinds
    }

    /// What was left out, or why the selection makes no sense for this trace.
    pub fn finish(&self) -> Result<LeftOut, Misfit> {
        let mut left_out = LeftOut::default();
        let met: Vec<&Entry> = self.classes.iter().flatten().filter(|entry| entry.events > 0).collect();
        for entry in &met {
            let Err(unwanted) = &entry.plan else { continue };
            let events = match unwanted {
                Unwanted::Repeats => &mut left_out.repeats,
                Unwanted::WithoutField => &mut left_out.without_field,
                Unwanted::Mismatch(mismatch) => return Err(Misfit::Comparison(mismatch.0.clone())),
            };
            *events.entry(entry.class.name.clone()).or_default() += entry.events;
        }
        let dictionary = &self.selection.dictionary;
        for name in self.selection.wanted_fields() {
            let has = |entry: &&Entry| dictionary.look_up(&entry.class).field(&entry.class, name).is_some();
            if !met.is_empty() && !met.iter().any(has) {
                let known = met.iter().flat_map(|entry| &entry.class.fields);
                let known = known.map(|field| field.name.clone()).collect();
                return Err(Misfit::Field { name: name.to_owned(), known });
            }
        }
        Ok(left_out)
    }

    fn enter(&mut self, kind: Arc<Kind>) -> usize {
        let known = self.kinds.iter().position(|known| *known == kind);
        known.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        })
    }

    fn plan_for(
        &mut self,
        selection: &Selection,
        class: &EventClass,
        meaning: &Meaning,
    ) -> Result<(Plan, Vec<usize>), Unwanted> {
        if selection.wanted_fields().any(|name| meaning.field(class, name).is_none()) {
            return Err(Unwanted::WithoutField);
        }
        if meaning.repeats.is_some() && !selection.with_repeats {
            return Err(Unwanted::Repeats);
        }
        let mut slots = Slots::default();
        let keys = selection.keys(class, meaning);
        let conditions = selection.bind(class, meaning, &mut slots).map_err(Unwanted::Mismatch)?;
        let duration = meaning.duration.map(|field| {
            let is_float = class.fields[field.index].kind == FieldKind::Float;
            // A float's fraction would be lost in its own unit.
            let unit = if is_float { TimeUnit::Nanoseconds } else { field.unit };
            let float_scale = field.unit.nanoseconds() as f64;
            (unit, DurationSlot { slot: slots.of(field.index), float_scale })
        });
        let kind = self.enter(Arc::new(Kind {
            event: class.name.clone(),
            keys: keys.iter().map(|key| key.name.clone()).collect(),
            unit: duration.map(|(unit, _)| unit),
            unit_is_guess: meaning.duration.is_some_and(|field| field.is_guess),
            is_sum: meaning.is_sum,
        }));
        let plan = Plan {
            kind,
            keys: keys.iter().map(|key| slots.of(key.index)).collect(),
            leading: keys.iter().map(|key| key.index).chain(meaning.client).collect(),
            duration: duration.map(|(_, slot)| slot),
            conditions,
        };
        Ok((plan, slots.0))
    }
}

/// Why a selection makes no sense for a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// No event has this field.
    Field {
        /// The field.
        name: String,
        /// All fields that events do have.
        known: BTreeSet<String>,
    },
    /// A field cannot be compared like that.
    Comparison(String),
}

impl Selection {
    /// The names of all fields that an event must have to count.
    fn wanted_fields(&self) -> impl Iterator<Item = &str> {
        let conditions = self.conditions.iter().map(|condition| &*condition.field);
        conditions.chain(self.by.iter().flatten().map(String::as_str))
    }

    /// Whether the name of the class fits, or the one that the catalog has for it.
    fn fits(&self, class: &EventClass, meaning: &Meaning) -> bool {
        let fits = |name: &String| self.events.iter().any(|glob| glob.matches_event(name));
        self.events.is_empty() || fits(&class.name) || meaning.event.as_ref().is_some_and(fits)
    }

    fn keys(&self, class: &EventClass, meaning: &Meaning) -> Vec<Named> {
        let named = |name: &String| {
            let index = meaning.field(class, name)?;
            Some(Named { name: meaning.name_of(class, index).to_owned(), index })
        };
        match &self.by {
            Some(names) => names.iter().filter_map(named).collect(),
            None => meaning.group_by.clone(),
        }
    }

    fn bind(&self, class: &EventClass, meaning: &Meaning, slots: &mut Slots) -> Result<Vec<Bound>, Mismatch> {
        let bind = |condition: &Condition| {
            let index = meaning.field(class, &condition.field)?;
            let unit = meaning.duration.filter(|duration| duration.index == index);
            let kind = class.fields[index].kind;
            Some(condition.bind(slots.of(index), kind, unit.map(|duration| duration.unit)))
        };
        self.conditions.iter().filter_map(bind).collect()
    }
}

/// The fields to ask for, each once.
#[derive(Default)]
pub(super) struct Slots(pub Vec<usize>);

impl Slots {
    /// The slot in which the field will be.
    pub fn of(&mut self, field: usize) -> usize {
        let known = self.0.iter().position(|&wanted| wanted == field);
        known.unwrap_or_else(|| {
            self.0.push(field);
            self.0.len() - 1
        })
    }
}
