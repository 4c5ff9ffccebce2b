//! `--where`: a field, an operator and what to compare with.

use std::cmp::Ordering;
use std::str::FromStr;

use super::Glob;
use crate::meaning::as_boolean;
use crate::unit::{TimeUnit, parse_duration};
use ctf_reader::{Event, Field, FieldKind, Value};

/// A condition on a field, e.g. `name=get`, `duration>1ms` or `addr~127.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The name of the field.
    pub field: String,
    /// The option, as it was given.
    pub given: String,
    operator: Operator,
    operand: Operand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
    NotLike,
}

/// Longer ones first, so that `>=` is not taken for `>`.
const OPERATORS: [(&str, Operator); 8] = [
    ("!=", Operator::NotEqual),
    ("!~", Operator::NotLike),
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Like),
];

/// What a field is compared with, in every way that the text can be read.
#[derive(Clone, Debug, PartialEq)]
struct Operand {
    text: String,
    glob: Glob,
    number: Option<Number>,
    nanoseconds: Option<i64>,
    truth: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Integer(i128),
    Float(f64),
}

/// Why a condition does not apply to a field, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch(pub String);

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = || format!("`{text}` is not a condition: write FIELD=VALUE, or with != > >= < <= ~ !~");
        let at = text.find(['!', '=', '<', '>', '~']).filter(|&at| at > 0).ok_or_else(usage)?;
        let (field, rest) = text.split_at(at);
        let (operator, operand) = OPERATORS
            .iter()
            .find_map(|(sign, operator)| Some((*operator, rest.strip_prefix(sign)?)))
            .ok_or_else(usage)?;
        let operand = Operand::new(operand.trim());
        let is_order =
            !matches!(operator, Operator::Equal | Operator::NotEqual | Operator::Like | Operator::NotLike);
        if is_order && operand.number.is_none() && operand.nanoseconds.is_none() {
            return Err(format!("`{text}`: < and > compare with a number or a duration such as 1ms"));
        }
        let (field, given) = (field.trim().to_owned(), format!("--where {text}"));
        Ok(Condition { field, given, operator, operand })
    }
}

impl Condition {
    /// The condition of an option that a duration is at least this long.
    pub(crate) fn at_least(option: &str, field: &str, nanoseconds: u64) -> Self {
        Condition {
            field: field.into(),
            given: format!("{option} {nanoseconds}ns"),
            operator: Operator::GreaterOrEqual,
            operand: Operand::new(&format!("{nanoseconds}ns")),
        }
    }

    /// The condition of an option that an integer field has this value.
    pub fn equals(option: &str, field: &str, value: i64) -> Self {
        Condition {
            field: field.into(),
            given: format!("{option} {value}"),
            operator: Operator::Equal,
            operand: Operand::new(&value.to_string()),
        }
    }

    /// The text that the field is compared with.
    pub fn operand(&self) -> &str {
        &self.operand.text
    }

    /// Binds the condition to a field of a class.
    pub fn bind(
        &self,
        bound: Field,
        kind: FieldKind,
        unit: Option<TimeUnit>,
    ) -> Result<BoundCondition, Mismatch> {
        let Condition { field, operator, operand, .. } = self;
        let refuse = |reason: &str| Err(Mismatch(format!("{field} {reason}")));
        let is_order = operator.order().is_some();
        let is_glob = matches!(operator, Operator::Like | Operator::NotLike);
        let test = match (kind, operand.number, operand.nanoseconds) {
            (FieldKind::Compound, ..) => return refuse("is a list or a structure: it cannot be compared"),
            _ if is_glob => Test::Glob(operand.glob.clone()),
            (FieldKind::Text, ..) if is_order => return refuse("is a text: compare it with =, != or ~"),
            (FieldKind::Text, ..) => Test::Text(operand.text.clone().into_bytes()),
            (FieldKind::Bool, ..) if is_order => return refuse("is true or false: compare it with = or !="),
            (FieldKind::Bool, ..) => match operand.truth {
                Some(truth) => Test::Truth(truth),
                None => return refuse("is a boolean: compare it with true or false"),
            },
            (FieldKind::Enum, number, _) => match number {
                Some(number) => Test::Number(number),
                None if is_order => return refuse("is an enumeration: < and > compare it with a number"),
                None => Test::Label(operand.text.clone()),
            },
            (_, Some(number), _) => Test::Number(number),
            (_, None, Some(nanoseconds)) => match unit {
                Some(unit) => Test::Duration { nanoseconds, unit: unit.nanoseconds() },
                None => return refuse("has no known unit: compare it with a number"),
            },
            (_, None, None) => {
                return refuse(&format!("is a number, and `{}` is not", operand.text));
            }
        };
        let is_boolean = kind == FieldKind::Bool;
        Ok(BoundCondition { field: bound, is_boolean, operator: *operator, test })
    }
}

impl Operand {
    fn new(text: &str) -> Self {
        let integer = match text.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let float = || text.parse().ok().filter(|number: &f64| number.is_finite()).map(Number::Float);
        Operand {
            text: text.to_owned(),
            glob: Glob::new(text),
            number: integer.ok().map(Number::Integer).or_else(float),
            nanoseconds: parse_duration(text),
            truth: match text {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
        }
    }
}

impl Operator {
    /// Which orderings of field and operand satisfy the operator; none for globs.
    fn order(self) -> Option<fn(Ordering) -> bool> {
        match self {
            Operator::Less => Some(Ordering::is_lt),
            Operator::LessOrEqual => Some(Ordering::is_le),
            Operator::Greater => Some(Ordering::is_gt),
            Operator::GreaterOrEqual => Some(Ordering::is_ge),
            _ => None,
        }
    }

    fn holds(self, ordering: Option<Ordering>) -> bool {
        match self {
            Operator::Equal | Operator::Like => ordering == Some(Ordering::Equal),
            Operator::NotEqual | Operator::NotLike => ordering != Some(Ordering::Equal),
            _ => ordering.is_some_and(|ordering| self.order().is_some_and(|test| test(ordering))),
        }
    }
}

/// A condition on one of the decoded fields.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundCondition {
    field: Field,
    /// Whether the field is a boolean, though it may be recorded as an integer.
    is_boolean: bool,
    operator: Operator,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    Text(Vec<u8>),
    Label(String),
    Glob(Glob),
    Number(Number),
    Truth(bool),
    Duration { nanoseconds: i64, unit: u64 },
}

impl BoundCondition {
    /// Whether the event meets the condition.
    pub fn holds(&self, event: &Event<'_>) -> bool {
        self.holds_for(&self.value(event))
    }

    /// The value that is compared.
    pub fn value<'e>(&self, event: &Event<'e>) -> Value<'e> {
        let value = event.value(self.field);
        if self.is_boolean { as_boolean(value) } else { value }
    }

    /// The field that is compared.
    pub fn field(&self) -> Field {
        self.field
    }

    /// Whether a value meets the condition.
    pub(crate) fn holds_for(&self, value: &Value<'_>) -> bool {
        let ordering = match (&self.test, value) {
            (Test::Text(wanted), Value::Text(text)) => Some((*text).cmp(wanted)),
            (Test::Label(wanted), Value::Enum(number, labels)) => {
                equal(labels.label(*number) == Some(wanted))
            }
            (Test::Glob(glob), value) => equal(glob_matches(glob, value)),
            (Test::Truth(wanted), Value::Bool(truth)) => equal(truth == wanted),
            (Test::Number(wanted), Value::Float(number)) => number.partial_cmp(&wanted.as_float()),
            (Test::Number(wanted), value) => integer(value).and_then(|number| wanted.compare(number)),
            (Test::Duration { nanoseconds, unit }, Value::Float(number)) => {
                (number * *unit as f64).partial_cmp(&(*nanoseconds as f64))
            }
            (Test::Duration { nanoseconds, unit }, value) => {
                integer(value).map(|number| (number * i128::from(*unit)).cmp(&i128::from(*nanoseconds)))
            }
            _ => None,
        };
        self.operator.holds(ordering)
    }
}

impl Number {
    fn as_float(self) -> f64 {
        match self {
            Number::Integer(number) => number as f64,
            Number::Float(number) => number,
        }
    }

    fn compare(self, with: i128) -> Option<Ordering> {
        match self {
            Number::Integer(number) => Some(with.cmp(&number)),
            Number::Float(number) => (with as f64).partial_cmp(&number),
        }
    }
}

fn equal(is_equal: bool) -> Option<Ordering> {
    is_equal.then_some(Ordering::Equal)
}

fn integer(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::Unsigned(number) => Some((*number).into()),
        Value::Signed(number) => Some((*number).into()),
        Value::Enum(number, _) => Some((*number).into()),
        _ => None,
    }
}

fn glob_matches(glob: &Glob, value: &Value<'_>) -> bool {
    match value {
        Value::Text(text) => glob.matches(text),
        Value::Float(number) => glob.matches(number.to_string().as_bytes()),
        Value::Bool(truth) => glob.matches(truth.to_string().as_bytes()),
        Value::Enum(number, labels) => match labels.label(*number) {
            Some(label) => glob.matches(label.as_bytes()),
            None => glob.matches(i128::from(*number).to_string().as_bytes()),
        },
        value => integer(value).is_some_and(|number| glob.matches(number.to_string().as_bytes())),
    }
}

#[cfg(test)]
mod tests;
