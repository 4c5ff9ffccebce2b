//! From a captured value to what a field records.

use std::fmt::Write as _;

use lttng_provider::Unit;

use crate::kind::Kind;
use crate::literal::nanoseconds;
use crate::value::{Buffer, LimitedText, Value};

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Argument<'v> {
    /// 0, false or empty.
    Nothing,
    Integer(i128),
    Float(f64),
    Bool(bool),
    Text(&'v [u8]),
    /// A number as text.
    Written(Buffer),
}

/// How well a value fits its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It does.
    Good,
    /// It is an integer that is not from the first to the second, so the nearest is recorded.
    OutOfRange(i128, i128),
    /// It is something else.
    WrongType,
}

/// The value as a field of this kind records it.
pub(crate) fn convert<'v>(kind: &Kind, value: &'v Value) -> (Argument<'v>, Fit) {
    if *value == Value::Missing {
        return (Argument::Nothing, Fit::Good);
    }
    let converted = match *kind {
        Kind::Integer { min, max, unit } => return in_range(integer(value, unit), min, max),
        Kind::Enumeration { min, max, labels } => {
            return in_range(label(value, labels).or_else(|| integer(value, None)), min, max);
        }
        Kind::Float => float(value).map(Argument::Float),
        Kind::Bool => boolean(value).map(Argument::Bool),
        Kind::Text => Some(text(value)),
        Kind::Bytes => match value {
            Value::Text(bytes) => Some(Argument::Text(bytes)),
            _ => None,
        },
        // The plan has warned of it.
        Kind::List => Some(Argument::Nothing),
    };
    match converted {
        Some(argument) => (argument, Fit::Good),
        None => (Argument::Nothing, Fit::WrongType),
    }
}

fn in_range(integer: Option<i128>, min: i128, max: i128) -> (Argument<'static>, Fit) {
    match integer {
        None => (Argument::Nothing, Fit::WrongType),
        Some(integer) if (min..=max).contains(&integer) => (Argument::Integer(integer), Fit::Good),
        Some(integer) => (Argument::Integer(integer.clamp(min, max)), Fit::OutOfRange(min, max)),
    }
}

fn integer(value: &Value, unit: Option<Unit>) -> Option<i128> {
    match value {
        Value::Missing => None,
        Value::Integer(integer) => Some(*integer),
        Value::Bool(truth) => Some((*truth).into()),
        Value::Float(float) => (float.trunc() == *float).then_some(*float as i128),
        Value::Text(text) => {
            let text = std::str::from_utf8(text).ok()?.trim();
            let time = || Some(nanoseconds(text)? / nanoseconds_of(unit?));
            text.parse().ok().or_else(time)
        }
    }
}

fn nanoseconds_of(unit: Unit) -> i128 {
    match unit {
        Unit::Microseconds => 1_000,
        Unit::Milliseconds => 1_000_000,
        Unit::Seconds => 1_000_000_000,
        _ => 1,
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Missing => None,
        Value::Integer(integer) => Some(*integer as f64),
        Value::Float(float) => Some(*float),
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Value::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
    }
}

fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Integer(0) => Some(false),
        Value::Integer(1) => Some(true),
        Value::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
        _ => None,
    }
}

fn text(value: &Value) -> Argument<'_> {
    let mut written = LimitedText(Buffer::new());
    let formatted = match value {
        Value::Missing => return Argument::Nothing,
        Value::Text(text) => return Argument::Text(text),
        Value::Bool(truth) => return Argument::Text(if *truth { b"true" } else { b"false" }),
        Value::Integer(integer) => write!(written, "{integer}"),
        Value::Float(float) => write!(written, "{float}"),
    };
    debug_assert!(formatted.is_ok(), "a number is short");
    Argument::Written(written.0)
}

/// The value of the label that a text names: as it is, or as `Debug` writes a variant, `InProgress(3)` for `IN_PROGRESS`.
fn label(value: &Value, labels: &[(&str, i128)]) -> Option<i128> {
    let Value::Text(text) = value else { return None };
    let text = std::str::from_utf8(text).ok()?;
    let variant = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
    let found = labels.iter().find(|(name, _)| *name == text);
    let found = found.or_else(|| labels.iter().find(|(name, _)| letters(name).eq(letters(variant))));
    found.map(|(_, value)| *value)
}

fn letters(name: &str) -> impl Iterator<Item = u8> + '_ {
    name.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{I8, U8, U64};

    fn text(text: &str) -> Value {
        Value::Text(Buffer::from_slice(text.as_bytes()))
    }

    #[test]
    fn integers_are_recorded_or_clamped() {
        assert_eq!(convert(&U8, &Value::Integer(7)), (Argument::Integer(7), Fit::Good));
        assert_eq!(convert(&U8, &Value::Integer(-1)), (Argument::Integer(0), Fit::OutOfRange(0, 255)));
        assert_eq!(convert(&U8, &Value::Integer(256)), (Argument::Integer(255), Fit::OutOfRange(0, 255)));
        assert_eq!(convert(&U8, &text(" 12 ")), (Argument::Integer(12), Fit::Good));
        assert_eq!(convert(&U8, &Value::Float(12.0)), (Argument::Integer(12), Fit::Good));
        for wrong in [text("twelve"), text(""), text("1.5ms"), Value::Float(1.5), Value::Float(f64::NAN)] {
            assert_eq!(convert(&U8, &wrong), (Argument::Nothing, Fit::WrongType), "{wrong:?}");
        }
    }

    #[test]
    fn duration_is_counted_in_the_unit_of_the_field() {
        let micros = U64.in_unit(Unit::Microseconds);
        assert_eq!(convert(&micros, &text("1.5ms")), (Argument::Integer(1_500), Fit::Good));
    }

    #[test]
    fn labels_are_found_as_variants_are_written() {
        let kind = I8.labelled(&[("IDLE", 3), ("IN_PROGRESS", -4)]);
        for name in ["IN_PROGRESS", "InProgress", "in_progress", "InProgress(3)", "InProgress { done: 3 }"] {
            assert_eq!(convert(&kind, &text(name)), (Argument::Integer(-4), Fit::Good), "{name}");
        }
        assert_eq!(convert(&kind, &Value::Integer(9)), (Argument::Integer(9), Fit::Good));
        assert_eq!(convert(&kind, &text("Done")), (Argument::Nothing, Fit::WrongType));
    }

    #[test]
    fn anything_is_text() {
        assert_eq!(convert(&Kind::Text, &Value::Bool(true)).0, Argument::Text(b"true"));
        let number = convert(&Kind::Text, &Value::Integer(-12)).0;
        assert_eq!(number, Argument::Written(Buffer::from_slice(b"-12")));
    }
}
