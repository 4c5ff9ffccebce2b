//! The values of a span or an event, as far as a plan needs them, kept until they are recorded.
//!
//! `tracing` lends values for the time of a call only, so text is copied, up to what LTTng records of it. Values are
//! formatted here by code of the program, which may panic, or use `tracing` itself: nothing is locked meanwhile.

use std::fmt::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use lttng_provider::Text;
use smallvec::SmallVec;
use tracing_core::Metadata;
use tracing_core::field::{Field, Visit};

use crate::literal::unquote;
use crate::plan::{Plan, Source};
use crate::value::{Buffer, LimitedText, Value};
use crate::warnings::{Place, Warnings};

/// The values of a span or an event, by slots of its plan.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    values: SmallVec<[Value; 4]>,
}

impl Captured {
    /// Captures what `record` visits.
    pub(crate) fn new(
        plan: &Plan,
        metadata: &Metadata<'_>,
        warnings: &Warnings,
        record: impl FnOnce(&mut dyn Visit),
    ) -> Captured {
        let mut captured = Captured { values: (0..plan.slot_count).map(|_| Value::Missing).collect() };
        if plan.slot_count > 0 {
            record(&mut Visitor { plan, metadata, warnings, captured: &mut captured });
        }
        captured
    }

    /// Replaces the values that were recorded anew.
    pub(crate) fn update(&mut self, newer: Captured) {
        for (value, newer) in self.values.iter_mut().zip(newer.values) {
            if newer != Value::Missing {
                *value = newer;
            }
        }
    }

    pub(crate) fn get(&self, slot: usize) -> &Value {
        self.values.get(slot).unwrap_or(&Value::Missing)
    }
}

struct Visitor<'c> {
    plan: &'c Plan,
    metadata: &'c Metadata<'c>,
    warnings: &'c Warnings,
    captured: &'c mut Captured,
}

impl Visitor<'_> {
    fn set(&mut self, field: &Field, value: impl FnOnce() -> Value) {
        if let Some(slot) = self.plan.slot(field).and_then(|slot| self.captured.values.get_mut(slot)) {
            *slot = value();
        }
    }

    /// Tells of a value whose formatting panicked, once for each field that is recorded from it.
    #[cold]
    fn warn_of_panic(&self, field: &Field) {
        let slot = self.plan.slot(field).map(Source::Slot);
        for recording in &self.plan.recordings {
            let fed = recording.sources.iter().position(|source| Some(*source) == slot);
            if let Some(index) = fed.filter(|index| recording.is_first_misfit(*index)) {
                let field = recording.event.fields[index].name;
                self.warnings.panicked(&Place { metadata: self.metadata, event: recording.event, field });
            }
        }
    }
}

impl Visit for Visitor<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, || Value::Float(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, || Value::Integer(value.into()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, || Value::Integer(value.into()));
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.set(field, || Value::Integer(value));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.set(field, || Value::Integer(value.try_into().unwrap_or(i128::MAX)));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, || Value::Bool(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_bytes(field, value.as_bytes());
    }

    fn record_bytes(&mut self, field: &Field, value: &[u8]) {
        self.set(field, || Value::Text(Buffer::from_slice(&value[..value.len().min(Text::MAX)])));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if self.plan.slot(field).is_none() {
            return;
        }
        let mut text = LimitedText(Buffer::new());
        // An error is either the limit, or what the value itself says; what is written counts.
        let formatted = catch_unwind(AssertUnwindSafe(|| write!(text, "{value:?}")));
        if formatted.is_err() {
            self.warn_of_panic(field);
        }
        let LimitedText(mut text) = text;
        unquote(&mut text);
        self.set(field, || Value::Text(text));
    }
}
