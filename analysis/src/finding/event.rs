//! Single events.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{LinkFinding, Ns, TraceFinding};
use crate::datum::{Datum, Pairs};
use crate::reading::fields::RecordedFields;
use crate::slow::longest::SlowEvent;
use crate::symbols::Frame;

/// A single event that is shown.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventFinding {
    /// When it was recorded, which is when it ended: nanoseconds since 1970.
    pub timestamp_ns: i64,
    /// When what it measures began; none if its duration is a sum of pieces.
    pub begin_ns: Option<i64>,
    /// When that ended; none if its duration is a sum of pieces.
    pub end_ns: Option<i64>,
    /// The full name of the event.
    pub event: String,
    /// How long it took.
    #[serde(rename = "duration_us")]
    pub duration: Ns,
    /// The machine that it was recorded on, if there is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The process that it came from, where that was recorded.
    pub pid: Option<Datum>,
    /// On whose behalf it happened, where the catalog says which field that is.
    pub client: Option<Datum>,
    /// The values that identify its group.
    pub key: Pairs,
    /// All that was recorded with it.
    pub fields: RecordedFields,
    /// The frames of the fields that are stacks, by name; only where they were looked up.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stacks: BTreeMap<String, Vec<Frame>>,
    /// From the outermost interval that contains it to the innermost within it that took most of the time; empty where
    /// that was not looked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<LinkFinding>,
    /// Why it is shown, in words.
    pub reason: Option<String>,
    /// Whether its duration is a sum of pieces and not an interval.
    pub is_sum: bool,
    /// Whether the unit of its duration is a guess.
    pub unit_is_guess: bool,
}

impl EventFinding {
    pub(crate) fn new(record: &SlowEvent, trace: &TraceFinding) -> Self {
        let kind = &record.kind;
        let fields = record.fields.clone();
        let length = i64::try_from(record.duration_ns).ok();
        EventFinding {
            timestamp_ns: record.timestamp,
            begin_ns: length.and_then(|length| record.timestamp.checked_sub(length)).filter(|_| !kind.is_sum),
            end_ns: (!kind.is_sum).then_some(record.timestamp),
            event: kind.event.clone(),
            duration: Ns(record.duration_ns),
            host: trace.host(record.trace),
            pid: fields.find(|field| field.name == "vpid"),
            client: fields.find(|field| field.is_client),
            key: Pairs(kind.keys.iter().cloned().zip(record.key()).collect()),
            fields,
            stacks: BTreeMap::new(),
            chain: Vec::new(),
            reason: None,
            is_sum: kind.is_sum,
            unit_is_guess: kind.unit_is_guess,
        }
    }
}
