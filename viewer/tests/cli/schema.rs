//! What every command writes as JSON is what `docs/findings.schema.json` says, with no key that it does not know.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use lttng_testing::workspace;
use serde_json::Value;

use super::run::{json, ltt_top, small_trace};
use super::shared_trace::SharedTrace;

/// Fails unless the schema describes the object.
#[track_caller]
pub fn check(object: &Value, kind: &str) {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let text = std::fs::read_to_string(workspace().join("docs/findings.schema.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    });
    assert_eq!((&object["kind"], &object["version"]), (&kind.into(), &1.into()));
    let kinds = SCHEMA["oneOf"].as_array().unwrap();
    let of_kind = kinds.iter().find(|schema| schema["properties"]["kind"]["const"] == kind).unwrap();
    let judged = Judge(&SCHEMA).all_keys(of_kind, object, kind);
    assert_eq!(judged, Vec::<String>::new());
}

/// Judges values by the part of JSON Schema that the schema uses; a keyword that is not known is an error of this test.
struct Judge<'s>(&'s Value);

impl Judge<'_> {
    /// What is wrong with a value, including keys that the schema does not name.
    fn all_keys(&self, schema: &Value, value: &Value, place: &str) -> Vec<String> {
        let (mut wrong, mut known) = (Vec::new(), BTreeSet::new());
        self.judge(schema, value, place, &mut wrong, &mut known);
        let unknown = value.as_object().into_iter().flatten().filter(|(key, _)| !known.contains(*key));
        wrong.extend(unknown.map(|(key, _)| format!("{place}.{key} is not in the schema")));
        wrong
    }

    fn judge(
        &self,
        schema: &Value,
        value: &Value,
        place: &str,
        wrong: &mut Vec<String>,
        known: &mut BTreeSet<String>,
    ) {
        let Some(schema) = schema.as_object() else { return known.extend(keys(value)) };
        for (keyword, rule) in schema {
            let fits = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "format" | "minimum" | "maximum"
                | "uniqueItems" => true,
                "type" => match rule {
                    Value::Array(types) => types.iter().any(|of| is_of(value, of)),
                    of => is_of(value, of),
                },
                "const" => value == rule,
                "enum" => rule.as_array().unwrap().contains(value),
                "required" => {
                    rule.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some())
                }
                "properties" | "patternProperties" | "additionalProperties" => {
                    for (key, member) in value.as_object().into_iter().flatten() {
                        let is_named = schema.get("properties").is_some_and(|named| named.get(key).is_some());
                        let rule = match keyword.as_str() {
                            "properties" => rule.get(key),
                            "patternProperties" => rule.get("^p[0-9]+_us$").filter(|_| is_percentile(key)),
                            _ => (!is_named).then_some(rule),
                        };
                        if let Some(rule) = rule {
                            known.insert(key.clone());
                            wrong.extend(self.all_keys(rule, member, &format!("{place}.{key}")));
                        }
                    }
                    true
                }
                "items" => {
                    let items = value.as_array().into_iter().flatten().enumerate();
                    wrong.extend(
                        items.flat_map(|(at, item)| self.all_keys(rule, item, &format!("{place}[{at}]"))),
                    );
                    true
                }
                "minItems" => {
                    value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap())
                }
                "maxItems" => {
                    value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap())
                }
                "prefixItems" => {
                    let items = value.as_array().into_iter().flatten().zip(rule.as_array().unwrap());
                    wrong.extend(items.flat_map(|(item, rule)| self.all_keys(rule, item, place)));
                    true
                }
                "$ref" => {
                    let pointer = rule.as_str().and_then(|reference| reference.strip_prefix('#')).unwrap();
                    self.judge(self.0.pointer(pointer).unwrap(), value, place, wrong, known);
                    true
                }
                "oneOf" | "anyOf" => rule.as_array().unwrap().iter().any(|rule| {
                    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
                    self.judge(rule, value, place, &mut wrong, &mut seen);
                    known.extend(seen);
                    wrong.is_empty()
                }),
                other => panic!("{place}: unknown keyword {other}"),
            };
            if !fits {
                wrong.push(format!("{place}: {keyword} {rule}: {value}"));
            }
        }
    }
}

fn keys(value: &Value) -> impl Iterator<Item = String> {
    value.as_object().into_iter().flatten().map(|(key, _)| key.clone())
}

fn is_percentile(key: &str) -> bool {
    key.strip_prefix('p')
        .and_then(|key| key.strip_suffix("_us"))
        .is_some_and(|digits| digits.parse::<u64>().is_ok())
}

fn is_of(value: &Value, of: &Value) -> bool {
    match of.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}

#[test]
fn what_commands_write_is_what_the_schema_says() {
    let busy = SharedTrace::unpack_named("valkey-lite-busy");
    let traces = [busy.folder(), small_trace()];
    let commands: [(&[&str], &str); 10] = [
        (&["report"], "report"),
        (&["incidents"], "incidents"),
        (&["top", "--every", "1s"], "top"),
        (&["top", "--percentiles", "5,99.99"], "top"),
        (&["slow"], "slow"),
        (&["outliers"], "outliers"),
        (&["outliers", "--slower-than", "1us"], "outliers"),
        (&["hist"], "hist"),
        (&["hist", "--over-time"], "heat"),
        (&["info"], "info"),
    ];
    for trace in traces {
        for (command, kind) in commands {
            check(&json(ltt_top(command).arg(trace)), kind);
        }
    }
    let pair = SharedTrace::unpack_named("valkey-pair");
    let sides = ["before", "slower"].map(|name| pair.folder().join(name));
    check(&json(ltt_top(["compare"]).args(sides)), "compare");
    // A key that has gone and one that is new are both seen.
    let mut found = json(ltt_top(["top"]).arg(traces[1]));
    let trace = found["trace"].as_object_mut().unwrap();
    let events = trace.remove("events").unwrap();
    trace.insert("evnets".into(), events);
    assert!(std::panic::catch_unwind(|| check(&found, "top")).is_err());
}
