//! The values of one event, as its generated function takes them.

use std::time::Duration;

use lttng_provider::{Text, Unit};
use smallvec::SmallVec;
use tracing_core::{Level, Metadata};

use crate::captured::{Captured, Value};
use crate::convert::{Argument, Fit, convert};
use crate::generated::Kind;
use crate::plan::{Recording, Source};
use crate::warnings::{Place, Warnings};

/// The values of an event's arguments.
#[derive(Debug)]
pub struct Values<'v> {
    /// LTTng-UST takes no more than ten.
    arguments: SmallVec<[Argument<'v>; 10]>,
}

/// How long a span took; an event of `tracing` took no time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) wall: Duration,
    pub(crate) busy: Duration,
}

impl<'v> Values<'v> {
    pub(crate) fn new(
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
        Values { arguments: recording.sources.iter().enumerate().map(argument).collect() }
    }

    /// An integer; 0 if the value is none.
    pub fn integer<T: TryFrom<i128> + Default>(&self, index: usize) -> T {
        match self.arguments.get(index) {
            Some(Argument::Integer(integer)) => T::try_from(*integer).unwrap_or_default(),
            _ => T::default(),
        }
    }

    /// A floating-point number; 0 if the value is none.
    pub fn float(&self, index: usize) -> f64 {
        match self.arguments.get(index) {
            Some(Argument::Float(float)) => *float,
            _ => 0.0,
        }
    }

    /// Whether it is true.
    pub fn boolean(&self, index: usize) -> bool {
        self.arguments.get(index) == Some(&Argument::Bool(true))
    }

    /// Text; empty if the value is none.
    pub fn text(&self, index: usize) -> Text<'_> {
        Text::Bytes(self.bytes(index))
    }

    /// Bytes; empty if the value is none.
    pub fn bytes(&self, index: usize) -> &[u8] {
        match self.arguments.get(index) {
            Some(Argument::Text(text)) => text,
            Some(Argument::Written(text)) => text,
            _ => &[],
        }
    }
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
