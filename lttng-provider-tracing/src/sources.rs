//! From the sources of a plan to the values of an event.

use std::time::Duration;

use lttng_provider::Unit;
use tracing_core::{Level, Metadata};

use crate::captured::Captured;
use crate::convert::{Argument, Fit, convert};
use crate::kind::Kind;
use crate::plan::{Recording, Source};
use crate::span::Times;
use crate::value::Value;
use crate::values::Values;
use crate::warnings::{Place, Warnings};

/// The values of an event's arguments, each from its source.
pub(crate) fn values<'v>(
    recording: &Recording,
    metadata: &'v Metadata<'v>,
    captured: &'v Captured,
    times: Times,
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
            Source::Wall => time(times.wall, &field.kind),
            Source::Busy => time(times.busy, &field.kind),
            Source::Idle => time(times.wall.saturating_sub(times.busy), &field.kind),
            Source::Name => about(metadata.name(), &field.kind),
            Source::Target => about(metadata.target(), &field.kind),
            Source::Level => about(name(metadata.level()), &field.kind),
            Source::File => about(metadata.file().unwrap_or_default(), &field.kind),
            Source::Line => convert_line(metadata.line(), &field.kind),
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

fn convert_line(line: Option<u32>, kind: &Kind) -> Argument<'static> {
    match (kind, convert(kind, &Value::Integer(line.unwrap_or_default().into())).0) {
        (Kind::Integer { .. }, Argument::Integer(line)) => Argument::Integer(line),
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
