//! The stacks of single events, with the names of functions.

use std::collections::BTreeMap;

use crate::datum::Datum;
use crate::finding::{EventFinding, TraceFinding};
use crate::reading::{Failure, RecordedFields, SourceWindow};
use crate::slow::longest::SlowEvent;
use crate::source::Source;
use crate::symbols::{Frame, ProcessKey, Symbols};

/// Adds recorded stacks to events. The trace is read for the names of functions only if there are any stacks.
pub(crate) fn add_stacks<S: Source>(
    input: &mut SourceWindow<'_, S>,
    trace: &TraceFinding,
    records: &[SlowEvent],
    events: &mut [EventFinding],
) -> Result<(), Failure> {
    if !records.iter().any(|record| record.fields.iter().any(|(field, _)| field.is_stack)) {
        return Ok(());
    }
    let symbols = Symbols::read(input.source, input.progress)?;
    for (record, event) in records.iter().zip(events) {
        let process =
            ProcessKey { host: trace.recorded_on(record.trace), pid: event.pid.as_ref().and_then(pid) };
        event.stacks =
            stacks(&record.fields, |addresses| symbols.frames(&process, record.timestamp, addresses));
    }
    Ok(())
}

fn stacks<F: std::ops::Deref<Target = Frame>>(
    fields: &RecordedFields,
    name: impl Fn(&[u64]) -> Vec<F>,
) -> BTreeMap<String, Vec<Frame>> {
    let stacks = fields.iter().filter(|(field, _)| field.is_stack);
    let named = stacks.map(|(field, value)| {
        let frames = name(&addresses(&value));
        (field.name.clone(), frames.iter().map(|frame| Frame::clone(frame)).collect())
    });
    named.collect()
}

fn pid(value: &Datum) -> Option<i128> {
    match value {
        Datum::Integer(number) => Some(*number),
        Datum::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
        _ => None,
    }
}

fn addresses(value: &Datum) -> Vec<u64> {
    let Datum::List { elements, .. } = value else { return Vec::new() };
    let address = |element: &Datum| match element {
        Datum::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    elements.iter().filter_map(address).collect()
}
