//! What a catalog says, once read and checked.
//!
//! Everything is in the order of the file, because the order of fields is the order on the wire.

use std::fmt;

use crate::callsite::CallsitePattern;
use crate::field_type::FieldType;
use crate::vocabulary::{Clock, LogLevel, Measure, Unit};

pub use crate::enumeration::{Enumeration, Label};

/// A catalog: one TOML file of providers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Catalog {
    /// A short name for the catalog, e.g. `valkey`.
    pub name: String,
    /// Raised on any change that a reader of traces can see.
    pub version: u32,
    /// What the catalog is about.
    pub doc: String,
    /// The providers, in the order of the file.
    pub providers: Vec<Provider>,
}

/// An LTTng-UST provider: the part of an event's name before the colon.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Provider {
    /// The name as LTTng shows it, e.g. `valkey_commands`.
    pub name: String,
    /// What this provider's events have in common.
    pub doc: String,
    /// Enumerations that this provider's fields may use.
    pub enums: Vec<Enumeration>,
    /// Field lists that several events share.
    pub classes: Vec<Class>,
    /// The events.
    pub events: Vec<Event>,
}

/// Fields that several events of a provider share (an LTTng-UST event class).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Class {
    /// The name, unique among the classes and events of its provider.
    pub name: String,
    /// What the events of the class have in common; may be empty.
    pub doc: String,
    /// The fields, in the order on the wire.
    pub fields: Vec<Field>,
    /// The duration of each event of the class, unless the event names another field.
    pub duration: Option<String>,
    /// What groups each event of the class, unless the event says otherwise.
    pub group_by: Vec<String>,
    /// The client of each event of the class, unless the event names another field.
    pub client: Option<String>,
}

/// An event, with all that a writer and a reader need.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The name as LTTng shows it after the colon.
    pub name: String,
    /// What the event says.
    pub doc: String,
    /// The class that the fields come from, if the event has one.
    pub class: Option<String>,
    /// The fields, in the order on the wire: the class's where there is one.
    pub fields: Vec<Field>,
    /// The log level; LTTng's default if the catalog does not say.
    pub log_level: LogLevel,
    /// Where the event's model is described.
    pub model_uri: Option<String>,
    /// Whether USDT tracers get a second probe, where a measurement of the event begins.
    pub entry: bool,
    /// The spans or events of `tracing` that are recorded as this one; those of its name where the catalog is silent.
    pub tracing: Option<CallsitePattern>,
    /// What the event means to a reader.
    pub meaning: Meaning,
}

/// What an event means to a reader.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Meaning {
    /// The name of the field that is the duration; its unit is the field's.
    pub duration: Option<String>,
    /// Whether the duration is one interval that ends at the event, or a sum of pieces.
    pub measure: Measure,
    /// The clock that the duration was measured with.
    pub clock: Clock,
    /// The names of the fields that tell groups of this event apart, e.g. `name`.
    pub group_by: Vec<String>,
    /// The name of the field that identifies the client the event happened for, e.g. `addr`.
    pub client: Option<String>,
    /// The event whose duration this one only repeats.
    pub repeats: Option<EventName>,
    /// Events that this one, when it overlaps them, can have made slow.
    pub explains: Vec<EventName>,
    /// The event that begins the interval which this one ends, where both are recorded and neither has a duration.
    pub started_by: Option<EventName>,
    /// What it means when this event delays a program, and what helps.
    pub advice: Option<String>,
    /// Advice for single groups, by the value of the first field of `group_by`.
    pub advice_for: Vec<(String, String)>,
    /// Full names that this event had in the past.
    pub formerly: Vec<EventName>,
}

impl Meaning {
    /// What helps when this event, in the group with this first key, delays a program.
    ///
    /// ```
    /// # #[cfg(feature = "advice")] {
    /// let catalog = lttng_catalog::valkey_with_advice();
    /// let event = catalog.event("valkey_commands", "command_call").unwrap();
    /// assert!(event.meaning.advice(Some("keys")).unwrap().contains("SCAN"));
    /// assert!(event.meaning.advice(Some("get")).is_some());
    /// # }
    /// ```
    pub fn advice(&self, key: Option<&str>) -> Option<&str> {
        let own = self.advice_for.iter().find(|(group, _)| Some(&**group) == key);
        own.map(|(_, advice)| advice.as_str()).or(self.advice.as_deref())
    }

    /// Whether the event ends an interval: it has a duration, or another event marks the beginning.
    pub fn is_timed(&self) -> bool {
        self.duration.is_some() || self.started_by.is_some()
    }
}

/// The full name of an event: `provider:event`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventName {
    /// The part before the colon.
    pub provider: String,
    /// The part after the colon.
    pub event: String,
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.event)
    }
}

/// A field of an event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// The name under which the value is recorded.
    pub name: String,
    /// The name of the argument; the field's name if the catalog does not say.
    pub argument: String,
    /// The type of the value.
    pub kind: FieldType,
    /// Whether callers have the length of a text, of bytes or of a sequence as a signed integer, as USDT probes then show it.
    pub signed_length: bool,
    /// False for a value that only filters see and no trace contains.
    pub recorded: bool,
    /// The unit of the value.
    pub unit: Option<Unit>,
    /// What the value means.
    pub doc: String,
    /// Names that this field had in the past.
    pub formerly: Vec<String>,
}
