//! What the events of a class mean: which field is the duration, in which unit, and what identifies their group.
//!
//! The command line comes first, then the catalogs, which also know former names of events and fields, then what the
//! trace itself says, and last the names of the fields themselves.

mod in_trace;

use lttng_catalog::{Catalog, Event, EventName, FieldType, Measure, Provider};

use crate::datum::Datum;
use crate::pair::{Side, pair_of};
use crate::unit::TimeUnit;
use ctf_reader::{EventClass, FieldClass, FieldKind, Scope, Value};

/// All that is known of events before the trace is read.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    /// The catalogs; where two describe an event, the earlier one applies.
    pub catalogs: Vec<Catalog>,
    /// The field that the user says is the duration, in the events that have it.
    pub duration: Option<(String, Option<TimeUnit>)>,
}

/// What the events of one class mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassMeaning {
    /// The full name that the catalog has for the event, which may be a newer one.
    pub event: Option<String>,
    /// The field that is the duration.
    pub duration: Option<DurationField>,
    /// Whether the duration is a sum of pieces, and not an interval.
    pub is_sum: bool,
    /// The full name of the event whose duration this one only repeats.
    pub repeats: Option<String>,
    /// The fields that identify a group.
    pub group_by: Vec<NamedField>,
    /// The field that says on whose behalf the event happened.
    pub client: Option<usize>,
    /// The interval that the event begins or ends, where it is one of a pair without a duration.
    pub pair: Option<(String, Side)>,
    /// Whether it is the outermost interval that the catalog knows: others explain it, and it explains none. While
    /// it lasts, everything that its thread serves has to wait.
    pub is_outermost: bool,
    /// The full names of events that this one can have made slow.
    pub explains: Vec<String>,
    /// Fields under the names that the catalog has for them, where the trace has others.
    aliases: Vec<NamedField>,
    /// Integers that the catalog says are booleans.
    booleans: Vec<usize>,
    /// The fields that the catalog says are stacks: return addresses, the nearest caller's first.
    pub stacks: Vec<usize>,
}

/// A duration field of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurationField {
    /// Which of [`EventClass::fields`].
    pub index: usize,
    /// The unit of its values.
    pub unit: TimeUnit,
    /// Whether the unit is a guess.
    pub is_guess: bool,
}

/// A field of a class under the name that readers know it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedField {
    /// The name.
    pub name: String,
    /// Which of [`EventClass::fields`].
    pub index: usize,
}

/// The name of the field for the machine that a trace was recorded on.
pub const HOST: &str = "host";

/// The unit of a duration whose unit is unknown: that of LTTng's clock.
const UNIT_BY_DEFAULT: TimeUnit = TimeUnit::Nanoseconds;

impl Dictionary {
    /// What the events of this class mean.
    pub fn look_up(&self, class: &EventClass) -> ClassMeaning {
        let known = |name| self.catalogs.iter().find_map(|catalog| Some((catalog, find(catalog, name)?)));
        let pair = pair_of(&class.name);
        let known = known(&class.name).or_else(|| known(pair?.0));
        let mut meaning = known
            .map(|(catalog, event)| from_catalog(catalog, event, class))
            .unwrap_or_else(|| in_trace::meaning(class));
        let given = self.given_duration(class).map(|(index, name, unit)| {
            let known = meaning.duration.filter(|known| known.index == index).map(|known| known.unit);
            let unit = unit.or(known).or_else(|| unit_from_suffix(name));
            DurationField { index, unit: unit.unwrap_or(UNIT_BY_DEFAULT), is_guess: unit.is_none() }
        });
        meaning.duration = given.or(meaning.duration).or_else(|| from_names(class));
        let by_name = || pair.map(|(interval, side)| (interval.to_owned(), side));
        meaning.pair = meaning.pair.or_else(by_name).filter(|_| meaning.duration.is_none());
        meaning
    }

    /// What helps when an event, in the group with these keys, holds a program up.
    pub fn advice(&self, event: &str, key: &[Datum]) -> Option<&str> {
        let (_, known) = self.catalogs.iter().find_map(|catalog| find(catalog, event))?;
        let key = match key.first() {
            Some(Datum::Text(text)) => std::str::from_utf8(text).ok(),
            _ => None,
        };
        known.meaning.advice(key)
    }

    /// The field of the class that the user gave as the duration, if it exists and is a number.
    pub(crate) fn given_duration(&self, class: &EventClass) -> Option<(usize, &str, Option<TimeUnit>)> {
        let (name, unit) = self.duration.as_ref()?;
        let index = class.field(name).filter(|&index| is_number(class, index))?;
        Some((index, name, *unit))
    }
}

impl ClassMeaning {
    /// The field of the class that the user means by a name: one that the trace records, the catalog's
    /// name for one, or one of the short names `duration`, `client`, `pid`, `tid`, `cpu` and `host`.
    pub fn field(&self, class: &EventClass, name: &str) -> Option<usize> {
        let recorded = class.field(name);
        let by_catalog = || self.aliases.iter().find(|alias| alias.name == name).map(|alias| alias.index);
        let short = || match name {
            "duration" => self.duration.map(|duration| duration.index),
            "client" => self.client,
            "pid" => class.field("vpid"),
            "tid" => class.field("vtid"),
            "cpu" => class.field("cpu_id"),
            HOST => {
                let is_host =
                    |field: &FieldClass| field.scope == Scope::Environment && *field.name == *"hostname";
                class.fields.iter().position(is_host)
            }
            _ => None,
        };
        recorded.or_else(by_catalog).or_else(short)
    }

    /// What the values of a field are: as recorded, but for integers that the catalog says are booleans.
    pub fn kind(&self, class: &EventClass, index: usize) -> FieldKind {
        if self.is_boolean(index) { FieldKind::Bool } else { class.fields[index].kind }
    }

    /// Whether a field is an integer that the catalog says is a boolean.
    pub fn is_boolean(&self, index: usize) -> bool {
        self.booleans.contains(&index)
    }

    /// The name that the catalog has for a field, or else the recorded one.
    pub fn name_of<'a>(&'a self, class: &'a EventClass, index: usize) -> &'a str {
        let alias = self.aliases.iter().find(|alias| alias.index == index);
        alias.map_or(&class.fields[index].name, |alias| &alias.name)
    }
}

/// An integer as the boolean that the catalog says it is.
pub(crate) fn as_boolean(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Unsigned(number) => Value::Bool(number != 0),
        Value::Signed(number) => Value::Bool(number != 0),
        value => value,
    }
}

/// The catalog's event that had this full name, now or in the past.
fn find<'a>(catalog: &'a Catalog, full_name: &str) -> Option<(&'a Provider, &'a Event)> {
    let (provider, name) = full_name.split_once(':')?;
    let is_named = |(owner, event): &(&Provider, &Event)| owner.name == provider && event.name == name;
    let was_named = |(_, event): &(&Provider, &Event)| {
        event.meaning.formerly.iter().any(|former| former.provider == provider && former.event == name)
    };
    catalog.events().find(is_named).or_else(|| catalog.events().find(was_named))
}

fn from_catalog(
    catalog: &Catalog,
    (provider, event): (&Provider, &Event),
    class: &EventClass,
) -> ClassMeaning {
    let name = EventName { provider: provider.name.clone(), event: event.name.clone() };
    let recorded = |name: &str| {
        let formerly = event.field(name).map_or(&[][..], |field| &field.formerly);
        let mut names = std::iter::once(name).chain(formerly.iter().map(String::as_str));
        names.find_map(|name| payload_field(class, name))
    };
    let duration = event.meaning.duration.as_ref().and_then(|name| {
        let index = recorded(name).filter(|&index| is_number(class, index))?;
        let unit = event.field(name).and_then(|field| TimeUnit::of(field.unit?));
        Some(DurationField { index, unit: unit.unwrap_or(UNIT_BY_DEFAULT), is_guess: unit.is_none() })
    });
    let named = |name: &String| Some(NamedField { name: name.clone(), index: recorded(name)? });
    let aliases = event.fields.iter().filter(|field| class.field(&field.name).is_none());
    let booleans = event.fields.iter().filter(|field| field.kind == FieldType::Bool);
    let booleans = booleans.filter_map(|field| recorded(&field.name));
    let stacks = event.fields.iter().filter(|field| field.kind == FieldType::Stack);
    let stacks = stacks.filter_map(|field| recorded(&field.name));
    let starts = |(_, other): &(&Provider, &Event)| other.meaning.started_by.as_ref() == Some(&name);
    let ended = catalog.events().find(starts);
    let pair = match (&event.meaning.started_by, ended) {
        (Some(_), _) => Some((name.to_string(), Side::End)),
        (None, Some((provider, event))) => Some((format!("{}:{}", provider.name, event.name), Side::Begin)),
        (None, None) => None,
    };
    let is_explained = catalog.events().any(|(_, other)| other.meaning.explains.contains(&name));
    ClassMeaning {
        event: Some(name.to_string()),
        pair,
        is_outermost: is_explained && event.meaning.explains.is_empty(),
        explains: event.meaning.explains.iter().map(ToString::to_string).collect(),
        duration,
        is_sum: event.meaning.measure == Measure::Sum,
        repeats: event.meaning.repeats.as_ref().map(ToString::to_string),
        group_by: event.meaning.group_by.iter().filter_map(named).collect(),
        client: event.meaning.client.as_ref().and_then(|name| recorded(name)),
        aliases: aliases.filter_map(|field| named(&field.name)).collect(),
        booleans: booleans.filter(|&index| class.fields[index].kind == FieldKind::Integer).collect(),
        stacks: stacks.filter(|&index| class.fields[index].kind == FieldKind::Compound).collect(),
    }
}

fn payload_field(class: &EventClass, name: &str) -> Option<usize> {
    class.field(name).filter(|&index| class.fields[index].scope == Scope::Payload)
}

fn is_number(class: &EventClass, index: usize) -> bool {
    matches!(class.fields[index].kind, FieldKind::Integer | FieldKind::Float)
}

/// The duration by its name alone: an integer in the payload named `duration`, `latency` or `elapsed`, with or
/// without a unit as its suffix.
fn from_names(class: &EventClass) -> Option<DurationField> {
    class.fields.iter().enumerate().find_map(|(index, field)| {
        let unit = unit_from_suffix(&field.name);
        let stem = unit.map_or(&*field.name, |unit| &field.name[..field.name.len() - unit.name().len() - 1]);
        let is_duration = matches!(stem, "duration" | "latency" | "elapsed");
        let is_own_integer = field.scope == Scope::Payload && field.kind == FieldKind::Integer;
        (is_duration && is_own_integer).then_some(DurationField {
            index,
            unit: unit.unwrap_or(UNIT_BY_DEFAULT),
            is_guess: unit.is_none(),
        })
    })
}

/// The unit that a field's name ends in, e.g. `latency_us`.
fn unit_from_suffix(name: &str) -> Option<TimeUnit> {
    let (_, suffix) = name.rsplit_once('_')?;
    TimeUnit::ALL.into_iter().find(|unit| unit.name() == suffix)
}

#[cfg(test)]
mod tests;
