//! Events become rows: values are sorted into columns as they are read.

use ctf_reader::{Brief, Field, OrderedEvent, Value};
use parquet::data_type::ByteArray;

use crate::column::{Kind, NULL, Values};
use crate::interner::{Interner, NONE};
use crate::plan::{CLIENT, ClassPlan, EventPlan, FieldPlan, GROUP, KeyPlan};
use crate::text;

/// The rows that are encoded together: enough for dictionaries to pay off, and few enough for any machine's memory.
pub const MOST_ROWS: usize = 1 << 17;

/// The most bytes of texts of a column in the rows that are encoded together, but for the last text.
const MOST_BYTES: usize = 16 << 20;

/// Durations from here on come from a clock that was set back.
const IMPLAUSIBLE_TICKS: u64 = 1 << 63;

/// Stands for an implausible duration.
pub const IMPLAUSIBLE: i64 = NULL + 1;

/// Rows of one date.
pub struct Rows {
    /// Days since 1970.
    pub date: i64,
    pub times: Vec<i64>,
    pub classes: Vec<u32>,
    /// Nanoseconds, [`NULL`] or [`IMPLAUSIBLE`].
    pub durations: Vec<i64>,
    /// The columns that are filled event by event.
    pub columns: Vec<Values>,
    /// The texts of each of them.
    pub texts: Vec<Vec<ByteArray>>,
    /// Values without a column.
    pub other: Vec<OtherValue>,
}

/// A value without a column: the row, the field and the value.
pub type OtherValue = (usize, ByteArray, ByteArray);

/// Rows in the making.
pub struct RowBuilder {
    rows: Rows,
    interners: Vec<Interner>,
    other_bytes: usize,
    is_full: bool,
}

impl RowBuilder {
    pub fn new(plan: &EventPlan, date: i64) -> RowBuilder {
        let rows = Rows {
            date,
            times: Vec::new(),
            classes: Vec::new(),
            durations: Vec::new(),
            columns: plan.filled.iter().map(|&kind| Values::new(kind)).collect(),
            texts: Vec::new(),
            other: Vec::new(),
        };
        let interners = plan.filled.iter().map(|_| Interner::default()).collect();
        RowBuilder { rows, interners, other_bytes: 0, is_full: false }
    }

    pub fn date(&self) -> i64 {
        self.rows.date
    }

    pub fn is_empty(&self) -> bool {
        self.rows.times.is_empty()
    }

    /// Adds an event, and says whether there are enough.
    #[inline]
    pub fn add(&mut self, event: &OrderedEvent<'_>, class: usize, plan: &ClassPlan) -> bool {
        let row = self.rows.times.len();
        self.rows.times.push(event.timestamp());
        self.rows.classes.push(class as u32);
        for field in &plan.fields {
            let Some((column, kind)) = field.column else {
                if !field.is_spare {
                    self.other(row, &field.name, &event.value(field.value));
                }
                continue;
            };
            if kind == Kind::Text {
                self.put_text(row, column, event, field);
                continue;
            }
            let value = event.value(field.value);
            if !self.put(row, column, &value, field.is_boolean) {
                self.other(row, &field.name, &value);
            }
        }
        let duration = plan.duration.map_or(NULL, |duration| {
            let value = event.value(duration.value);
            let length = length_ns(&value, duration.unit_ns, duration.is_float);
            if length == IMPLAUSIBLE && plan.fields[duration.field].is_spare {
                self.other(row, &plan.fields[duration.field].name, &value);
            }
            length
        });
        self.rows.durations.push(duration);
        for (column, key) in [(GROUP, &plan.group), (CLIENT, &plan.client)] {
            if let KeyPlan::Fields(fields) = key {
                self.key(row, column, fields, event);
            }
        }
        row + 1 >= MOST_ROWS || self.is_full
    }

    /// Puts the text of a value into a column.
    #[inline]
    fn put_text(&mut self, row: usize, column: usize, event: &OrderedEvent<'_>, field: &FieldPlan) {
        let interner = &mut self.interners[column];
        let brief = event.brief(field.value);
        // What the text does not say: the number of a label that several numbers have.
        let mut rest = None;
        let number = interner.recall(brief).unwrap_or_else(|| match event.value(field.value) {
            Value::Text(text) => interner.enter(brief, text),
            Value::Enum(number, labels) => {
                let number = i128::from(number);
                match labels.labels.iter().find(|(_, numbers)| numbers.contains(&number)) {
                    Some((label, numbers)) => {
                        rest = (numbers.start() != numbers.end()).then(|| number.to_string());
                        interner.text(label.as_bytes())
                    }
                    None => interner.text(number.to_string().as_bytes()),
                }
            }
            other => interner.enter(brief, text::text(&text::datum(&other)).as_bytes()),
        });
        let rest = rest.or_else(|| interner.invalid(number).map(|bytes| bytes.escape_ascii().to_string()));
        if let Some(rest) = rest {
            self.push_other(row, &field.name, rest);
        }
        self.push_text(row, column, number);
    }

    #[inline]
    fn push_text(&mut self, row: usize, column: usize, number: u32) {
        self.is_full |= self.interners[column].bytes >= MOST_BYTES;
        if let Values::Text(numbers) = &mut self.rows.columns[column] {
            pad(numbers, row, NONE);
            numbers.push(number);
        }
    }

    /// Puts a value that is not a text into a column, if it fits.
    #[inline]
    fn put(&mut self, row: usize, column: usize, value: &Value<'_>, is_boolean: bool) -> bool {
        match (&mut self.rows.columns[column], value) {
            (Values::Integer(numbers), value) => {
                let number = match *value {
                    Value::Unsigned(number) => i64::try_from(number).ok(),
                    Value::Signed(number) => Some(number),
                    _ => None,
                };
                let Some(number) = number.filter(|&number| number != NULL) else { return false };
                pad(numbers, row, NULL);
                numbers.push(number);
                true
            }
            (Values::Float(numbers), Value::Float(number)) => {
                pad(numbers, row, None);
                numbers.push(Some(*number));
                true
            }
            (Values::Bool(truths), value) => {
                let truth = match *value {
                    Value::Bool(truth) => Some(truth),
                    _ if is_boolean => value.integer().map(|number| number != 0),
                    _ => None,
                };
                pad(truths, row, None);
                truths.push(truth);
                truth.is_some()
            }
            (Values::Float(_) | Values::Text(_), _) => false,
        }
    }

    /// Puts the text of several values, or of one that has no column, into a column.
    fn key(&mut self, row: usize, column: usize, fields: &[(Field, bool)], event: &OrderedEvent<'_>) {
        let value = |&(field, is_boolean): &(Field, bool)| match event.value(field) {
            Value::Unsigned(number) if is_boolean => Value::Bool(number != 0),
            Value::Signed(number) if is_boolean => Value::Bool(number != 0),
            value => value,
        };
        let interner = &mut self.interners[column];
        let number = match fields {
            [only] => {
                let value = value(only);
                let brief = Brief::from(&value);
                let known = interner.recall(brief);
                known.unwrap_or_else(|| interner.enter(brief, text::text(&text::datum(&value)).as_bytes()))
            }
            several => {
                let keys: Vec<_> = several.iter().map(|field| text::datum(&value(field))).collect();
                interner.text(text::group(keys.iter()).unwrap_or_default().as_bytes())
            }
        };
        self.push_text(row, column, number);
    }

    #[cold]
    fn other(&mut self, row: usize, name: &ByteArray, value: &Value<'_>) {
        self.push_other(row, name, text::text(&text::datum(value)));
    }

    fn push_other(&mut self, row: usize, name: &ByteArray, text: String) {
        self.other_bytes += text.len() + 64;
        self.is_full |= self.other_bytes >= MOST_BYTES;
        self.rows.other.push((row, name.clone(), text.into_bytes().into()));
    }

    /// The rows, complete.
    pub fn finish(mut self) -> Rows {
        self.rows.texts = self.interners.iter_mut().map(Interner::take).collect();
        self.rows
    }
}

#[inline]
fn pad<T: Clone>(values: &mut Vec<T>, row: usize, none: T) {
    if values.len() < row {
        values.resize(row, none);
    }
}

/// A recorded duration in nanoseconds.
#[inline]
fn length_ns(value: &Value<'_>, unit_ns: u64, is_float: bool) -> i64 {
    let ns = match value {
        Value::Float(value) if is_float => {
            let ns = (value * unit_ns as f64).round();
            (0.0..IMPLAUSIBLE_TICKS as f64).contains(&ns).then_some(ns as u64)
        }
        value => value
            .integer()
            .filter(|&ticks| ticks < IMPLAUSIBLE_TICKS && !is_float)
            .and_then(|ticks| ticks.checked_mul(unit_ns)),
    };
    ns.and_then(|ns| i64::try_from(ns).ok()).unwrap_or(IMPLAUSIBLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_nanoseconds_or_implausible() {
        let cases = [
            (Value::Unsigned(7), 1000, false, 7000),
            (Value::Unsigned(u64::MAX), 1000, false, IMPLAUSIBLE),
            (Value::Signed(-1), 1, false, IMPLAUSIBLE),
            // Longer than 292 years.
            (Value::Unsigned(1 << 62), 1000, false, IMPLAUSIBLE),
            (Value::Float(1.5), 1_000_000, true, 1_500_000),
            (Value::Float(-0.1), 1_000_000_000, true, IMPLAUSIBLE),
            (Value::Float(f64::NAN), 1, true, IMPLAUSIBLE),
        ];
        for (value, unit, is_float, expected) in cases {
            assert_eq!(length_ns(&value, unit, is_float), expected, "{value:?}");
        }
    }
}
