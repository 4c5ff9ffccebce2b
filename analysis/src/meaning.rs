//! What the events of a class mean: which field is the duration, in which unit, and what identifies their group.
//!
//! The command line comes first, then the catalogs, which also know former names of events and fields, then what the trace
//! itself says, and last the names of the fields themselves. A program built with a prefix for its providers records the catalog's events under
//! other names; they are recognised by the end of the provider's name, the event's name and its fields.

mod in_trace;

use lttng_catalog::{
    Catalog, Content, Event, EventName, Extent, Field, FieldType, Measure, NumberKind, Provider, Shape,
};

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
        let known =
            known(&class.name).or_else(|| known(pair?.0)).map(|(catalog, event)| (catalog, event, ""));
        let prefixed = || self.catalogs.iter().find_map(|catalog| find_prefixed(catalog, class));
        let mut meaning = known
            .or_else(prefixed)
            .map(|(catalog, event, prefix)| from_catalog(catalog, event, prefix, class))
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

    /// What helps when an event, in the group with these keys, holds a program up; `is_known` if its class is in a
    /// catalog, be it under a prefix.
    pub fn advice(&self, event: &str, is_known: bool, key: &[Datum]) -> Option<&str> {
        let exact = self.catalogs.iter().find_map(|catalog| find(catalog, event));
        let mut prefixed = self.catalogs.iter().flat_map(|catalog| named(catalog, event, str::ends_with));
        let (_, known) = exact.or_else(|| prefixed.next().filter(|_| is_known))?;
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
    named(catalog, full_name, |recorded, known| recorded == known).next()
}

/// The catalog's event that a program recorded with a prefix before the provider's name, and that prefix: one with the
/// same fields, so that a provider whose name only ends like another's is not taken for it.
fn find_prefixed<'a, 'c>(
    catalog: &'a Catalog,
    class: &'c EventClass,
) -> Option<(&'a Catalog, (&'a Provider, &'a Event), &'c str)> {
    let (recorded, _) = class.name.split_once(':')?;
    let (provider, event) =
        named(catalog, &class.name, str::ends_with).find(|(_, event)| has_fields_of(class, event))?;
    let names =
        std::iter::once(&provider.name).chain(event.meaning.formerly.iter().map(|name| &name.provider));
    let prefix = names.filter_map(|name| recorded.strip_suffix(name.as_str())).next()?;
    Some((catalog, (provider, event), prefix))
}

/// The catalog's events with this full name, then those that had it in the past; `is_provider` compares the recorded
/// name of the provider with a known one.
fn named<'a, 'n>(
    catalog: &'a Catalog,
    full_name: &'n str,
    is_provider: impl Fn(&'n str, &'a str) -> bool + Copy,
) -> impl Iterator<Item = (&'a Provider, &'a Event)> {
    let (provider, name) = full_name.split_once(':').unwrap_or_default();
    let today = catalog
        .events()
        .filter(move |(owner, event)| event.name == name && is_provider(provider, &owner.name));
    let formerly = catalog.events().filter(move |(_, event)| {
        let mut former = event.meaning.formerly.iter();
        former.any(|former| former.event == name && is_provider(provider, &former.provider))
    });
    today.chain(formerly)
}

/// Whether the class has the fields of the catalog's event, of the same kinds, and no others.
fn has_fields_of(class: &EventClass, event: &Event) -> bool {
    let recorded: Vec<&Field> = event.fields.iter().filter(|field| field.recorded).collect();
    let index = |field: &Field| recorded_field(class, field);
    let agrees =
        |field: &&Field| index(field).is_some_and(|index| fits(class.fields[index].kind, &field.kind));
    let is_length = |name: &str| recorded.iter().any(|field| field.length_name().as_deref() == Some(name));
    let own = class.fields.iter().filter(|field| field.scope == Scope::Payload && !is_length(&field.name));
    recorded.iter().all(agrees) && own.count() == recorded.len()
}

/// Whether the catalog's type is recorded as this kind.
fn fits(kind: FieldKind, of: &FieldType) -> bool {
    let Shape { content, element, extent } = of.shape(&[]);
    let expected = match (content, extent) {
        (Content::Text, _) => FieldKind::Text,
        (Content::Enumeration, _) => FieldKind::Enum,
        (_, Extent::One) if element.kind == NumberKind::Float => FieldKind::Float,
        (_, Extent::One) => FieldKind::Integer,
        _ => FieldKind::Compound,
    };
    kind == expected || (kind == FieldKind::Bool && *of == FieldType::Bool)
}

/// The field of the payload that is this field of the catalog, under its name or a former one.
fn recorded_field(class: &EventClass, field: &Field) -> Option<usize> {
    let mut names = std::iter::once(&field.name).chain(&field.formerly);
    names.find_map(|name| payload_field(class, name))
}

fn from_catalog(
    catalog: &Catalog,
    (provider, event): (&Provider, &Event),
    prefix: &str,
    class: &EventClass,
) -> ClassMeaning {
    let name = EventName { provider: provider.name.clone(), event: event.name.clone() };
    let recorded = |name: &str| match event.field(name) {
        Some(field) => recorded_field(class, field),
        None => payload_field(class, name),
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
        (Some(_), _) => Some((format!("{prefix}{name}"), Side::End)),
        (None, Some((provider, event))) => {
            Some((format!("{prefix}{}:{}", provider.name, event.name), Side::Begin))
        }
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
