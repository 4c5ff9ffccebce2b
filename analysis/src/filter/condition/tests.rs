use std::sync::Arc;

use super::*;
use crate::reading::synthetic::class;
use ctf_reader::{Enumeration, Integer, Wanted};

fn field() -> Field {
    Wanted::of(&Arc::new(class("app:event", &[("field", FieldKind::Integer)]))).value_at(0)
}

fn holds(condition: &str, kind: FieldKind, value: Value<'_>) -> bool {
    let condition: Condition = condition.parse().unwrap();
    condition.bind(field(), kind, Some(TimeUnit::Microseconds)).unwrap().holds_for(&value)
}

fn refusal(condition: &str, kind: FieldKind, unit: Option<TimeUnit>) -> String {
    condition.parse::<Condition>().unwrap().bind(field(), kind, unit).unwrap_err().0
}

#[test]
fn integers_are_compared_as_numbers() {
    for (condition, value, expected) in [
        ("n=10", 10, true),
        ("n=0xa", 10, true),
        ("n!=10", 10, false),
        ("n>9", 10, true),
        ("n>10", 10, false),
        ("n>=10", 10, true),
        ("n<10.5", 10, true),
        ("n<=9", 10, false),
        ("n~1*", 10, true),
        ("n!~1*", 10, false),
        ("n=-1", -1, true),
    ] {
        assert_eq!(holds(condition, FieldKind::Integer, Value::Signed(value)), expected, "{condition}");
    }
    assert!(holds("n>9223372036854775807", FieldKind::Integer, Value::Unsigned(u64::MAX)));
}

#[test]
fn a_duration_is_compared_in_its_unit() {
    for (condition, microseconds, expected) in [
        ("duration>1ms", 1001, true),
        ("duration>1ms", 1000, false),
        ("duration<=1.5ms", 1500, true),
        ("duration>1000", 1001, true),
        ("duration=2us", 2, true),
    ] {
        let value = Value::Unsigned(microseconds);
        assert_eq!(holds(condition, FieldKind::Integer, value), expected, "{condition} of {microseconds}");
    }
}

#[test]
fn texts_are_compared_byte_by_byte_or_by_glob() {
    for (condition, value, expected) in [
        ("name=get", "get", true),
        ("name=get", "GET", false),
        ("name!=get", "set", true),
        ("name~*set", "hset", true),
        ("addr=", "", true),
        ("addr~127.*:*", "127.0.0.1:5", true),
        ("name=a=b", "a=b", true),
        ("name=42", "42", true),
    ] {
        assert_eq!(holds(condition, FieldKind::Text, Value::Text(value.as_bytes())), expected, "{condition}");
    }
}

#[test]
fn an_enumeration_is_compared_by_label_or_number() {
    let labels = Enumeration { labels: vec![("UNIX".into(), 1..=1)] };
    for (condition, value, expected) in [
        ("prot=UNIX", 1, true),
        ("prot=1", 1, true),
        ("prot!=UNIX", -1, true),
        ("prot=-1", -1, true),
        ("prot~U*", 1, true),
        ("prot>0", 1, true),
    ] {
        let value = Value::Enum(Integer::Signed(value), &labels);
        assert_eq!(holds(condition, FieldKind::Enum, value), expected, "{condition}");
    }
}

#[test]
fn a_condition_that_makes_no_sense_is_refused_with_its_reason() {
    assert!("name".parse::<Condition>().unwrap_err().contains("write FIELD=VALUE"));
    assert!("=x".parse::<Condition>().unwrap_err().contains("write FIELD=VALUE"));
    assert!("name>get".parse::<Condition>().unwrap_err().contains("a number or a duration"));
    assert_eq!(refusal("vpid=x", FieldKind::Integer, None), "vpid is a number, and `x` is not");
    assert!(refusal("name>1", FieldKind::Text, None).contains("is a text"));
    assert!(refusal("size>1ms", FieldKind::Integer, None).contains("no known unit"));
    assert!(refusal("list=1", FieldKind::Compound, None).contains("cannot be compared"));
}
