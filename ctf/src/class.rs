//! Event classes: what is known of all events of one kind before the first of them is read.

use std::ops::Index;
use std::sync::Arc;

/// The number of an event class within one reader, dense from 0.
pub type ClassIndex = usize;

/// What is known of all events of one kind in one trace.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Base, FieldKind, Scope};
///
/// let reader = example();
/// let class = reader.classes().next().unwrap();
/// let names: Vec<_> = class.fields.iter().map(|field| &*field.name).collect();
/// assert_eq!(names, ["hostname", "cpu_id", "name", "duration"]);
/// let name = &class.fields[class.field("name").unwrap()];
/// assert_eq!((name.scope, name.kind, name.base), (Scope::Payload, FieldKind::Text, Base::Decimal));
/// ```
#[derive(Clone, Debug)]
pub struct EventClass {
    /// The number of this class within its reader.
    pub index: ClassIndex,
    /// The full name, e.g. `valkey_commands:command_call`.
    pub name: String,
    /// The numeric log level, where the trace has one.
    pub log_level: Option<i64>,
    /// Where the event's model is described, or what the event means, where the trace has it.
    pub model_uri: Option<String>,
    /// All fields of all scopes, outermost scope first.
    pub fields: FieldClasses,
    /// The trace that the class belongs to, as an index into [`Report::traces`](crate::Report::traces).
    pub trace: usize,
}

impl EventClass {
    /// The index of the field with this name; the payload's comes before a context's.
    pub fn field(&self, name: &str) -> Option<usize> {
        let in_scope = |is_payload: bool| {
            let fits =
                |field: &FieldClass| *field.name == *name && (field.scope == Scope::Payload) == is_payload;
            self.fields.iter().position(fits)
        };
        in_scope(true).or_else(|| in_scope(false))
    }
}

/// The fields of an event class.
///
/// Those outside of the event itself are the same for all classes of a stream, and shared between them.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldClasses {
    shared: Arc<[FieldClass]>,
    own: Box<[FieldClass]>,
}

impl FieldClasses {
    /// The fields that a class shares with others, and then its own.
    pub fn new(shared: Arc<[FieldClass]>, own: impl Into<Box<[FieldClass]>>) -> FieldClasses {
        FieldClasses { shared, own: own.into() }
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The field with this index.
    pub fn get(&self, index: usize) -> Option<&FieldClass> {
        self.shared.get(index).or_else(|| self.own.get(index.checked_sub(self.shared.len())?))
    }

    /// All fields, in their order.
    pub fn iter(
        &self,
    ) -> std::iter::Chain<std::slice::Iter<'_, FieldClass>, std::slice::Iter<'_, FieldClass>> {
        self.shared.iter().chain(&self.own)
    }
}

impl Index<usize> for FieldClasses {
    type Output = FieldClass;

    fn index(&self, index: usize) -> &FieldClass {
        match index.checked_sub(self.shared.len()) {
            Some(own) => &self.own[own],
            None => &self.shared[index],
        }
    }
}

impl<'a> IntoIterator for &'a FieldClasses {
    type Item = &'a FieldClass;
    type IntoIter = std::iter::Chain<std::slice::Iter<'a, FieldClass>, std::slice::Iter<'a, FieldClass>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromIterator<FieldClass> for FieldClasses {
    fn from_iter<I: IntoIterator<Item = FieldClass>>(fields: I) -> FieldClasses {
        FieldClasses::new(Arc::from([]), fields.into_iter().collect::<Vec<_>>())
    }
}

/// A field of an event class.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldClass {
    /// The name, without the underscore that LTTng puts before it in CTF 1.8.
    pub name: Arc<str>,
    /// Where the field is recorded.
    pub scope: Scope,
    /// What its values are.
    pub kind: FieldKind,
    /// The base in which the metadata asks to show its integers, or those in it.
    pub base: Base,
}

/// The base in which integers are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Base {
    /// Base 2.
    Binary,
    /// Base 8.
    Octal,
    /// Base 10.
    #[default]
    Decimal,
    /// Base 16.
    Hexadecimal,
}

/// Where a field is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Scope {
    /// The same for the whole trace, e.g. `hostname`, and with per-process buffers `vpid` and `procname`.
    Environment,
    /// The same for a packet: `cpu_id`.
    Packet,
    /// Recorded with each event of a stream, e.g. `vpid`.
    StreamContext,
    /// Recorded with each event of a class.
    EventContext,
    /// The event's own.
    Payload,
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// A [`Value::Unsigned`](crate::Value::Unsigned) or [`Value::Signed`](crate::Value::Signed).
    Integer,
    /// A [`Value::Float`](crate::Value::Float).
    Float,
    /// A [`Value::Text`](crate::Value::Text).
    Text,
    /// A [`Value::Enum`](crate::Value::Enum).
    Enum,
    /// A [`Value::Bool`](crate::Value::Bool).
    Bool,
    /// A [`Value::List`](crate::Value::List) or [`Value::Struct`](crate::Value::Struct).
    Compound,
}
