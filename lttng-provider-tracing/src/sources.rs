//! From the sources of a plan to the values of an event.

use std::time::Duration;

use lttng_provider::Unit;
use tracing_core::{Level, Metadata};

use crate::captured::Captured;
use crate::convert::{Argument, Fit, convert};
use crate::kind::Kind;
use crate::plan::{Recording, Source};
use crate::span::Facts;
use crate::value::Value;
use crate::values::Values;
use crate::warnings::{Place, Warnings};

/// The values of an event's arguments, each from its source.
pub(crate) fn values<'v>(
    recording: &Recording,
    metadata: &'v Metadata<'v>,
    captured: &'v Captured,
    facts: Facts,
    warnings: &Warnings,
) -> Values<'v> {
    let argument = |(index, source): (usize, &Source)| {
        let field = &recording.event.fields[index];
        match *source {
            Source::Slot(slot) => {
                let (argument, fit) = convert(&field.kind, captured.get(slot));
                if fit != Fit::Good && recording.is_first_misfit(index) {
                    let place = Place { metadata, event: recording.event, field: field.name };
                    warn(warnings, &place, fit);
                }
                argument
            }
            Source::Wall => time(facts.wall, &field.kind),
            Source::Busy => time(facts.busy, &field.kind),
            Source::Idle => time(facts.wall.saturating_sub(facts.busy), &field.kind),
            Source::Name => about(metadata.name(), &field.kind),
            Source::Target => about(metadata.target(), &field.kind),
            Source::Level => about(name(metadata.level()), &field.kind),
            Source::File => about(metadata.file().unwrap_or_default(), &field.kind),
            Source::Line => whole(metadata.line().unwrap_or_default().into(), &field.kind),
            Source::Span => whole(facts.span, &field.kind),
            Source::Parent => whole(facts.parent, &field.kind),
            Source::Nowhere => Argument::Nothing,
        }
    };
    Values::new(recording.sources.iter().enumerate().map(argument))
}

#[cold]
fn warn(warnings: &Warnings, place: &Place<'_>, fit: Fit) {
    match fit {
        Fit::Good => {}
        Fit::OutOfRange(min, max) => warnings.out_of_range(place, min, max),
        Fit::WrongType => warnings.wrong_type(place),
    }
}

/// A time in the unit of its field, or else in nanoseconds; the largest number if it is more than fits.
fn time(duration: Duration, kind: &Kind) -> Argument<'static> {
    let (unit, max) = match *kind {
        Kind::Integer { max, unit, .. } => (unit.unwrap_or(Unit::Nanoseconds), max),
        Kind::Float => return Argument::Float(duration.as_secs_f64()),
        _ => return Argument::Nothing,
    };
    Argument::Integer(i128::from(unit.count(duration)).min(max))
}

/// What is known of a call site, which a text can record.
fn about<'v>(text: &'v str, kind: &Kind) -> Argument<'v> {
    match kind {
        Kind::Text | Kind::Bytes => Argument::Text(text.as_bytes()),
        _ => Argument::Nothing,
    }
}

/// A line or the number of a span, which an integer can record.
fn whole(number: u64, kind: &Kind) -> Argument<'static> {
    match (kind, convert(kind, &Value::Integer(number.into())).0) {
        (Kind::Integer { .. }, Argument::Integer(number)) => Argument::Integer(number),
        _ => Argument::Nothing,
    }
}

fn name(level: &Level) -> &'static str {
    match *level {
        Level::ERROR => "ERROR",
        Level::WARN => "WARN",
        Level::INFO => "INFO",
        Level::DEBUG => "DEBUG",
        _ => "TRACE",
    }
}
