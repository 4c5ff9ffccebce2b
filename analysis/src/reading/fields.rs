//! The fields of an event that is shown.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::datum::{Datum, pairs};
use crate::meaning::ClassMeaning;
use crate::reading::key;
use crate::reading::plan::{ClassPlan, KeyField};
use crate::reading::selection::PROCESS;
use ctf_reader::{Event, EventClass, FieldKind, Scope, Wanted};

/// The most bytes kept of an event: a sequence may have millions of elements, and a thousand events may be kept.
const EVENT_LENGTH: usize = 64 << 10;

/// The bytes reserved for each field, however much the others need.
const FIELD_LENGTH: usize = 256;

/// A field of an event that is shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordedField {
    /// The name, as recorded.
    pub name: String,
    /// Whether it is a field of the payload, other than the duration.
    pub is_detail: bool,
    /// Whether it says on whose behalf the event happened.
    pub is_client: bool,
    /// Whether it is a stack: return addresses.
    pub is_stack: bool,
    /// Whether its values have labels.
    pub is_enum: bool,
}

/// RecordedFields and their values. They are kept as bytes, which take far less memory than [`Datum`]s do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordedFields {
    values: Box<[u8]>,
    fields: Arc<Vec<RecordedField>>,
}

impl RecordedFields {
    /// The fields with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&RecordedField, Datum)> {
        self.fields.iter().zip(key::values(&self.values))
    }

    /// The value of the first field that is wanted.
    pub(crate) fn find(&self, is_wanted: impl Fn(&RecordedField) -> bool) -> Option<Datum> {
        self.iter().find(|(field, _)| is_wanted(field)).map(|(_, value)| value)
    }
}

impl Serialize for RecordedFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        pairs(self.iter().map(|(field, value)| (&field.name, value)), serializer)
    }
}

/// The fields of a class that are kept of its events, and where their values are.
#[derive(Clone, Debug)]
pub(crate) struct KeptFields {
    fields: Arc<Vec<RecordedField>>,
    values: Vec<KeyField>,
    /// The fields that events can have in common.
    common: Arc<Vec<CommonField>>,
}

/// A field whose value several events can have in common.
#[derive(Clone, Debug)]
pub(crate) struct CommonField {
    /// How important it is; 0 is the most important.
    pub order: usize,
    pub name: Arc<str>,
    pub field: KeyField,
    /// Whether it identifies the group.
    pub is_key: bool,
}

/// The fields outside of the payload that say where an event comes from.
const ORIGINS: [&str; 4] = ["procname", PROCESS, "vtid", "cpu_id"];

impl KeptFields {
    /// All fields, the most important first; of the environment only those that identify the process.
    pub fn new(class: &EventClass, meaning: &ClassMeaning, plan: &ClassPlan, wanted: &mut Wanted) -> Self {
        let duration = plan.duration_index();
        let is_shown = |&index: &usize| {
            let field = &class.fields[index];
            field.scope != Scope::Environment || matches!(&*field.name, "vpid" | "procname")
        };
        let others = (0..class.fields.len()).filter(|index| !plan.leading.contains(index));
        let mut order: Vec<usize> = plan.leading.iter().copied().chain(others).filter(is_shown).collect();
        // A client may be a key, too.
        let mut known = vec![false; class.fields.len()];
        order.retain(|&index| !std::mem::replace(&mut known[index], true));
        let field = |&index: &usize| {
            let field = &class.fields[index];
            let is_detail = field.scope == Scope::Payload && duration != Some(index);
            RecordedField {
                name: field.name.to_string(),
                is_detail,
                is_client: meaning.client == Some(index),
                is_stack: meaning.stacks.contains(&index),
                is_enum: matches!(field.kind, FieldKind::Enum),
            }
        };
        let values: Vec<KeyField> =
            order.iter().map(|&index| KeyField::new(index, meaning, wanted)).collect();
        let keys = plan.keys();
        let common = order.iter().zip(&values).enumerate().filter_map(|(order, (&index, &value))| {
            let field = &class.fields[index];
            let is_origin = ORIGINS.contains(&&*field.name);
            let is_simple = !matches!(field.kind, FieldKind::Float | FieldKind::Compound);
            let is_stack = meaning.stacks.contains(&index);
            let is_common = is_simple && !is_stack && duration != Some(index);
            let name = if meaning.client == Some(index) { "client" } else { &*field.name };
            // A process is a key only where processes are judged apart.
            let is_key = keys.contains(&index) && &*field.name != PROCESS;
            (is_common && (is_origin || field.scope == Scope::Payload)).then(|| CommonField {
                order,
                name: name.into(),
                field: value,
                is_key,
            })
        });
        let common = Arc::new(common.collect());
        KeptFields { fields: Arc::new(order.iter().map(field).collect()), values, common }
    }

    /// The fields that events can have in common.
    pub fn common(&self) -> &[CommonField] {
        &self.common
    }

    /// The fields of an event.
    pub fn of(&self, event: &Event<'_>) -> RecordedFields {
        let mut values = Vec::new();
        for (place, field) in self.values.iter().enumerate() {
            let reserved = FIELD_LENGTH * (self.values.len() - place - 1);
            let room = EVENT_LENGTH.saturating_sub(values.len() + reserved).max(FIELD_LENGTH);
            key::encode_within(&field.value(event), &mut values, room);
        }
        RecordedFields { fields: Arc::clone(&self.fields), values: values.into() }
    }
}
