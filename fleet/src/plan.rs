//! What becomes of the events of each class: which columns their fields fill, resolved once.

use std::collections::HashMap;
use std::sync::Arc;

use ctf_reader::{EventClass, Field, FieldKind, Scope, Trace, Wanted};
use ltt_analysis::meaning::{ClassMeaning, Dictionary};
use parquet::data_type::ByteArray;

use crate::column::{Column, Kind, Layout};

/// The most columns for fields; those of further fields are in the map.
const MOST_FIELDS: usize = 200;

/// The columns that are filled event by event, in this order, before those of the fields.
pub const PROCESS: usize = 0;
pub const PID: usize = 1;
pub const TID: usize = 2;
pub const CPU: usize = 3;
/// The group and the client, where they are not simply a field.
pub const GROUP: usize = 4;
pub const CLIENT: usize = 5;
const FIELDS: usize = 6;

/// How to fill the table of events.
pub struct EventPlan {
    pub layout: Layout,
    /// The names of the columns of fields.
    pub field_names: Vec<String>,
    /// What the columns hold that are filled event by event.
    pub filled: Vec<Kind>,
    /// By their index.
    pub classes: Vec<Option<ClassPlan>>,
}

/// What becomes of the events of one class.
pub struct ClassPlan {
    pub event: ByteArray,
    pub provider: ByteArray,
    pub session: Option<ByteArray>,
    /// Whether they only repeat the duration of another event.
    pub is_repeat: bool,
    pub duration: Option<DurationPlan>,
    pub group: KeyPlan,
    pub client: KeyPlan,
    pub fields: Vec<FieldPlan>,
    /// The fields to ask the reader for.
    pub wanted: Wanted,
}

/// Where the duration is.
#[derive(Clone, Copy)]
pub struct DurationPlan {
    pub value: Field,
    pub unit_ns: u64,
    pub is_float: bool,
    /// The number of its field's name among [`ClassPlan::fields`]' names, for values that are implausible.
    pub field: usize,
}

/// Where a group or a client comes from.
pub enum KeyPlan {
    None,
    /// A column of texts, by its place among those that are filled.
    Column(usize),
    /// The values of these fields; which of them are booleans.
    Fields(Vec<(Field, bool)>),
}

/// Where the value of a field goes.
pub struct FieldPlan {
    pub value: Field,
    pub name: ByteArray,
    pub is_boolean: bool,
    /// The column among those that are filled, and what it holds; none puts it into the map.
    pub column: Option<(usize, Kind)>,
    /// Whether it goes nowhere unless it does not fit elsewhere: the duration.
    pub is_spare: bool,
}

impl EventPlan {
    /// For the classes of a host's traces. `besides` says which fields of a class are asked for already.
    pub fn new<'c>(
        classes: impl Iterator<Item = &'c Arc<EventClass>>,
        traces: &[Trace],
        dictionary: &Dictionary,
        mut besides: impl FnMut(&Arc<EventClass>) -> Option<Wanted>,
    ) -> parquet::errors::Result<EventPlan> {
        let mut columns = FieldColumns::default();
        let mut plans: Vec<Option<ClassPlan>> = Vec::new();
        for class in classes {
            let session = traces.get(class.trace).and_then(|trace| trace.environment("trace_name"));
            let meaning = dictionary.look_up(class);
            let wanted = besides(class).unwrap_or_else(|| Wanted::of(class));
            let plan = ClassPlan::new(class, &meaning, session, wanted, &mut columns);
            if plans.len() <= class.index {
                plans.resize_with(class.index + 1, || None);
            }
            plans[class.index] = Some(plan);
        }
        let fixed = [Kind::Text, Kind::Integer, Kind::Integer, Kind::Integer, Kind::Text, Kind::Text];
        let filled = fixed.into_iter().chain(columns.list.iter().map(|column| column.kind)).collect();
        let field_names = columns.list.iter().map(|column| column.name.clone()).collect();
        let layout = Layout::new(table().into_iter().chain(columns.list).collect(), true)?;
        Ok(EventPlan { layout, field_names, filled, classes: plans })
    }
}

/// The columns of the table of events before those of the fields.
pub fn table() -> [Column; 14] {
    [
        Column::required("time", Kind::Time),
        Column::required("time_ns", Kind::Integer).growing(),
        Column::new("session", Kind::Text),
        Column::new("process", Kind::Text),
        Column::new("pid", Kind::Integer),
        Column::new("tid", Kind::Integer),
        Column::new("cpu", Kind::Integer),
        Column::required("provider", Kind::Text),
        Column::required("event", Kind::Text),
        Column::new("group_name", Kind::Text),
        Column::new("client", Kind::Text),
        Column::new("duration_ns", Kind::Integer),
        Column::required("is_implausible", Kind::Bool),
        Column::required("is_repeat", Kind::Bool),
    ]
}

/// What a column of a field holds, by its name.
pub fn kind_of(name: &str) -> Kind {
    match name.split('_').next() {
        Some("int") => Kind::Integer,
        Some("float") => Kind::Float,
        Some("bool") => Kind::Bool,
        _ => Kind::Text,
    }
}

/// The columns of fields. The type is part of the name, so that files of different programs fit together.
#[derive(Default)]
struct FieldColumns {
    list: Vec<Column>,
    places: HashMap<String, usize>,
}

impl FieldColumns {
    /// The place of a field's column; none if there are too many.
    fn place(&mut self, name: &str, kind: FieldKind) -> Option<(usize, Kind)> {
        let (prefix, kind) = match kind {
            FieldKind::Integer => ("int", Kind::Integer),
            FieldKind::Float => ("float", Kind::Float),
            FieldKind::Bool => ("bool", Kind::Bool),
            FieldKind::Text | FieldKind::Enum => ("text", Kind::Text),
            _ => ("json", Kind::Text),
        };
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
        let name: String = name.chars().map(plain).collect();
        // Engines do not tell upper from lower case, and files of all hosts must fit together.
        let column = Column::new(format!("{prefix}_{name}").to_lowercase(), kind);
        let place = match self.places.get(&column.name) {
            Some(&place) => place,
            None if self.list.len() == MOST_FIELDS => return None,
            None => {
                self.places.insert(column.name.clone(), self.list.len());
                self.list.push(column);
                self.list.len() - 1
            }
        };
        Some((FIELDS + place, kind))
    }
}

impl ClassPlan {
    fn new(
        class: &EventClass,
        meaning: &ClassMeaning,
        session: Option<&str>,
        mut wanted: Wanted,
        columns: &mut FieldColumns,
    ) -> ClassPlan {
        let mut fields: Vec<FieldPlan> = Vec::new();
        let origins = [("procname", PROCESS), ("vpid", PID), ("vtid", TID), ("cpu_id", CPU)];
        let is_origin = |index: usize| {
            let of = |(name, _): &&(&str, usize)| class.field(name) == Some(index);
            origins.iter().find(of).filter(|_| class.fields[index].scope != Scope::Payload)
        };
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut duration_field = 0;
        for (index, field) in class.fields.iter().enumerate() {
            let kind = meaning.kind(class, index);
            let name = ByteArray::from(meaning.name_of(class, index));
            let is_boolean = meaning.is_boolean(index);
            let is_duration = meaning.duration.is_some_and(|duration| duration.index == index);
            let is_spare = is_duration && kind == FieldKind::Integer;
            let column = match is_origin(index) {
                Some(&(_, PROCESS)) if kind == FieldKind::Text => Some((PROCESS, Kind::Text)),
                Some(&(_, origin)) if kind == FieldKind::Integer => Some((origin, Kind::Integer)),
                _ if field.scope == Scope::Environment => continue,
                _ if is_spare => None,
                _ => {
                    let place = columns.place(meaning.name_of(class, index), kind);
                    place.filter(|(place, _)| {
                        fields.iter().all(|known| known.column.map(|known| known.0) != Some(*place))
                    })
                }
            };
            if is_duration {
                duration_field = fields.len();
            }
            if let Some((place, Kind::Text)) = column {
                places.insert(index, place);
            }
            fields.push(FieldPlan { value: wanted.value_at(index), name, is_boolean, column, is_spare });
        }
        let mut key = |keys: Vec<usize>| match *keys {
            [] => KeyPlan::None,
            [only] if places.contains_key(&only) => KeyPlan::Column(places[&only]),
            _ => KeyPlan::Fields(
                keys.iter().map(|&key| (wanted.value_at(key), meaning.is_boolean(key))).collect(),
            ),
        };
        let group = key(meaning.group_by.iter().map(|key| key.index).collect());
        let client = key(meaning.client.into_iter().collect());
        let duration = meaning.duration.map(|duration| DurationPlan {
            value: wanted.value_at(duration.index),
            unit_ns: duration.unit.nanoseconds(),
            is_float: class.fields[duration.index].kind == FieldKind::Float,
            field: duration_field,
        });
        ClassPlan {
            event: class.name.as_str().into(),
            provider: class.name.split_once(':').map_or("", |(provider, _)| provider).into(),
            session: session.map(ByteArray::from),
            is_repeat: meaning.repeats.is_some(),
            duration,
            group,
            client,
            fields,
            wanted,
        }
    }
}
