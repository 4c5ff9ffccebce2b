//! `catalog.schema.json`, by which editors complete and check catalogs: made from the model, with exactly the keys that the
//! parser takes, and valid for every catalog.
//!
//! `OVERWRITE=1 cargo test -p lttng-catalog schema` writes it.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::sync::{LazyLock, Mutex};

use lttng_catalog::{Catalog, Clock, LogLevel, Measure, Unit};
use lttng_testing::{assert_golden, cases, workspace};
use regex::Regex;
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use super::cases::{REFUSED, table};

/// An integer, as a field or an element has it.
const INTEGER: &str = "[ui](8|16|32|64)( +hex| +network| +network +hex| +hex +network)?";

/// What a name in a catalog may be; C refuses some of these, too.
const NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

const EVENT_NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*:[A-Za-z_][A-Za-z0-9_]*$";

#[test]
fn schema_is_made_from_the_model() {
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    assert_golden(workspace().join("catalog/catalog.schema.json"), &text);
}

fn schema() -> Value {
    let text = |doc: &str| json!({ "type": "string", "pattern": "[^ \\t\\n]", "description": doc });
    let matching =
        |pattern: &str, doc: &str| json!({ "type": "string", "pattern": pattern, "description": doc });
    let strings = |pattern: &str, doc: &str| json!({ "type": "array", "items": { "type": "string", "pattern": pattern }, "description": doc });
    let words = |names: Vec<&str>, doc: &str| json!({ "enum": names, "description": doc });
    let by_name = |of: &str, doc: &str| {
        let contents = json!({ "$ref": format!("#/$defs/{of}") });
        json!({ "type": "object", "patternProperties": { NAME: contents }, "additionalProperties": false,
            "description": doc })
    };
    let object = |required: &[&str], properties: Value| json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false });
    let fields = json!({ "type": "array", "items": { "$ref": "#/$defs/field" },
        "description": "The fields, in the order on the wire." });
    let duration = text("The field that is the duration: a recorded integer with a unit of time.");
    let group_by = strings(NAME, "The fields that tell groups of this event apart.");
    let client = text("The field that identifies the client the event happened for.");
    let kinds = format!(
        "^ *({INTEGER}|f32|f64|bool|string|text|bytes|stack|enum +[A-Za-z_][A-Za-z0-9_]*|\\[ *(char|{INTEGER}) *; *[0-9]+ *\\]|\\[ *{INTEGER} *\\]) *$"
    );
    let event = object(
        &["doc"],
        json!({
            "doc": text("What the event says."),
            "fields": fields,
            "class": matching(NAME, "The class that its fields come from, instead of `fields`."),
            "log-level": words(LogLevel::ALL.iter().map(|level| level.name()).collect(), "LTTng's log level."),
            "model-uri": { "type": "string", "description": "Where the event's model is described." },
            "entry": { "type": "boolean",
                "description": "A second USDT probe, `EVENT__start`, where a measurement of the event begins." },
            "tracing": text("The spans or events of `tracing` that are recorded as this event: `target[name{field}]`."),
            "duration": duration,
            "measure": words(Measure::ALL.iter().map(|measure| measure.name()).collect(),
                "Whether the duration is an interval that ends at the event, or a sum of pieces."),
            "clock": words(Clock::ALL.iter().map(|clock| clock.name()).collect(), "What the duration was measured with."),
            "group-by": group_by,
            "client": client,
            "repeats": matching(EVENT_NAME, "The event, as `provider:event`, whose duration this one only repeats."),
            "explains": strings(EVENT_NAME, "Events that this one, when it overlaps them, can have made slow."),
            "started-by": matching(EVENT_NAME, "The event that begins the interval which this one ends."),
            "advice": text("What it means when this event delays a program, and what helps."),
            "advice-for": { "type": "object", "additionalProperties": { "type": "string" },
                "description": "Advice for single groups, by values of the first field of `group-by`." },
            "formerly": strings(EVENT_NAME, "Full names that the event had in the past."),
        }),
    );
    let class = object(
        &["fields"],
        json!({ "doc": { "type": "string", "description": "What the events of the class have in common." }, "fields": fields, "duration": duration,
            "group-by": group_by, "client": client }),
    );
    let field = object(
        &["name", "type", "doc"],
        json!({
            "name": matching(NAME, "The name under which the value is recorded."),
            "type": matching(&kinds, "`u8` to `u64`, `i8` to `i64` (also `hex`, `network`), `f32`, `f64`, `bool`, \
                `enum NAME`, `string`, `text`, `bytes`, `[char; 16]`, `[u32; 4]`, `[u32]` or `stack`."),
            "doc": text("What the value means."),
            "arg": matching(NAME, "The name of the argument, if it differs from `name`."),
            "unit": words(Unit::ALL.iter().map(|unit| unit.name()).collect(), "The unit of the value."),
            "length": { "enum": ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"],
                "description": "For `text`, `bytes` and sequences: what the length is recorded in; `u32` by default." },
            "record": { "type": "boolean", "description": "False for a value that only filters see." },
            "formerly": strings(NAME, "Names that the field had in the past."),
        }),
    );
    let label = object(
        &["name"],
        json!({
            "name": text("The label as readers show it."),
            "doc": { "type": "string", "description": "What the label means." },
            "value": { "type": "integer", "description": "The value with this label." },
            "values": matching("^ *-?[0-9]+ *\\.\\.= *-?[0-9]+ *$", "A range of values, as `3..=7`."),
        }),
    );
    let enumeration = object(
        &["doc", "type", "labels"],
        json!({
            "doc": text("What is enumerated."),
            "type": matching(&format!("^ *{INTEGER} *$"), "The integer that is recorded."),
            "labels": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/label" },
                "description": "The labels; no two overlap." },
        }),
    );
    let provider = object(
        &["doc"],
        json!({
            "doc": text("What the provider's events have in common."),
            "enum": by_name("enum", "Enums that its fields may use."),
            "class": by_name("class", "Field lists that several of its events share."),
            "event": by_name("event", "Its events."),
        }),
    );
    let head = object(
        &["name", "version", "doc"],
        json!({
            "name": text("A short name for the catalog."),
            "version": { "type": "integer", "minimum": 1,
                "description": "Raised on any change that a reader of traces can see." },
            "doc": text("What the catalog is about."),
        }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A catalog of LTTng-UST events",
        "type": "object",
        "required": ["catalog"],
        "properties": { "catalog": head, "provider": by_name("provider", "The providers.") },
        "additionalProperties": false,
        "$defs": { "provider": provider, "enum": enumeration, "label": label, "class": class, "event": event,
            "field": field },
    })
}

#[test]
fn schema_has_the_keys_that_the_parser_takes() {
    let start = "[catalog]\nname = \"a\"\nversion = 1\ndoc = \"-\"\n";
    let inside = |definition: &str| format!("/$defs/{definition}/properties");
    let tables = [
        (format!("{start}[wrong_key]\n"), "/properties".to_owned()),
        (format!("{start}wrong_key = 1\n"), "/properties/catalog/properties".to_owned()),
        (format!("{start}[provider.p]\nwrong_key = 1\n"), inside("provider")),
        (format!("{start}[provider.p.enum.e]\nwrong_key = 1\n"), inside("enum")),
        (
            format!("{start}[provider.p.enum.e]\nlabels = [{{ name = \"A\", wrong_key = 1 }}]\n"),
            inside("label"),
        ),
        (format!("{start}[provider.p.class.c]\nwrong_key = 1\n"), inside("class")),
        (format!("{start}[provider.p.event.e]\nwrong_key = 1\n"), inside("event")),
        (
            format!("{start}[provider.p.event.e]\nfields = [{{ name = \"f\", wrong_key = 1 }}]\n"),
            inside("field"),
        ),
    ];
    for (catalog, pointer) in tables {
        let errors = Catalog::parse("a.toml", &catalog).unwrap_err().to_string();
        let line =
            errors.lines().find(|line| line.contains("unknown key")).unwrap_or_else(|| panic!("{errors}"));
        let taken: BTreeSet<&str> = line.split('`').skip(3).step_by(2).collect();
        let schema = schema();
        let listed =
            schema.pointer(&pointer).and_then(Value::as_object).unwrap_or_else(|| panic!("{pointer}"));
        assert_eq!(listed.keys().map(String::as_str).collect::<BTreeSet<_>>(), taken, "{pointer}: {line}");
    }
}

#[test]
fn every_catalog_is_valid_and_names_the_schema() {
    let folder = workspace();
    for file in
        ["catalog/valkey.toml", "catalog/valkey-module.toml", "catalog/memcached.toml", "catalog/redis.toml"]
    {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains("#:schema catalog.schema.json\n"), "{file}");
        assert_eq!(wrong(&text), [""; 0], "{file}");
    }
    for file in ["tests/catalogs/every-type.toml", "tests/catalogs/probing.toml", "tests/catalogs/twin.toml"]
    {
        assert_eq!(wrong(&fs::read_to_string(folder.join(file)).unwrap()), [""; 0], "{file}");
    }
    for case in cases(table("accepted")) {
        assert_eq!(wrong(&case.input), [""; 0], "{}", case.name);
    }
}

/// The schema knows keys, types and words; what contradicts another part of a catalog, or what C, Rust or LTTng refuse, it
/// cannot know. What is not TOML has no value to be judged.
#[test]
fn schema_refuses_what_is_wrong_in_itself() {
    let mut refused = Vec::new();
    let mut accepted = Vec::new();
    for case in REFUSED.iter().flat_map(|topic| cases(table(&format!("refused-{topic}")))) {
        let by_itself =
            ["unknown key", "unknown type", " is missing", "is expected, not", "unknown unit", "` is empty"];
        let is_by_itself = by_itself.iter().any(|words| case.expected.contains(words));
        let is_toml = DeTable::parse(&case.input).is_ok();
        match is_toml && !wrong(&case.input).is_empty() {
            true => refused.push(case.name),
            false if is_by_itself && is_toml => accepted.push(case.name),
            false => {}
        }
    }
    println!("refused: {refused:?}");
    assert!(accepted.is_empty(), "valid by the schema: {accepted:?}");
    assert!(refused.len() >= 30, "{}", refused.len());
}

/// What is wrong with a catalog according to the schema.
fn wrong(text: &str) -> Vec<String> {
    static SCHEMA: LazyLock<Value> = LazyLock::new(schema);
    let root = DeTable::parse(text).unwrap();
    let mut found = Vec::new();
    judge(&SCHEMA, &SCHEMA, &from_table(root.get_ref()), "", &mut found);
    found
}

/// Each pattern is compiled once.
fn matches(pattern: &str, text: &str) -> bool {
    static PATTERNS: Mutex<Option<HashMap<String, Regex>>> = Mutex::new(None);
    let mut patterns = PATTERNS.lock().unwrap();
    let compiled = patterns.get_or_insert_default().entry(pattern.to_owned());
    compiled.or_insert_with(|| Regex::new(pattern).unwrap()).is_match(text)
}

fn from_table(table: &DeTable<'_>) -> Value {
    let entries = table.iter().map(|(key, value)| (key.get_ref().to_string(), from_toml(value.get_ref())));
    Value::Object(entries.collect())
}

fn from_toml(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => {
            number.to_string().parse::<i64>().map_or(json!(0), |number| json!(number))
        }
        DeValue::Float(number) => json!(number.to_string().parse::<f64>().unwrap_or_default()),
        DeValue::Boolean(value) => json!(value),
        DeValue::Datetime(date) => json!({ "date": date.to_string() }),
        DeValue::Array(values) => values.iter().map(|value| from_toml(value.get_ref())).collect(),
        DeValue::Table(table) => from_table(table),
    }
}

/// Judges a value by the part of JSON Schema that is used here; a keyword that is not known is an error of this test.
fn judge(root: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        let fits = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "properties" | "patternProperties" => true,
            "$ref" => {
                let pointer = rule.as_str().and_then(|reference| reference.strip_prefix('#')).unwrap();
                judge(root, root.pointer(pointer).unwrap(), value, place, found);
                true
            }
            "type" => match rule.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "integer" => value.is_i64(),
                "boolean" => value.is_boolean(),
                other => panic!("unknown type {other}"),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "pattern" => value.as_str().is_none_or(|text| matches(rule.as_str().unwrap(), text)),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
            "minimum" => value.as_i64().is_none_or(|number| number >= rule.as_i64().unwrap()),
            "required" => {
                let has = |key: &Value| value.get(key.as_str().unwrap()).is_some();
                !value.is_object() || rule.as_array().unwrap().iter().all(has)
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    judge(root, rule, item, &format!("{place}[{index}]"), found);
                }
                true
            }
            "additionalProperties" => {
                for (key, entry) in value.as_object().into_iter().flatten() {
                    let place = format!("{place}.{key}");
                    let patterns =
                        schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
                    let mut patterns = patterns.filter(|(pattern, _)| matches(pattern, key));
                    let named = schema.get("properties").and_then(|properties| properties.get(key));
                    match named.or_else(|| patterns.next().map(|(_, rule)| rule)) {
                        Some(rule) => judge(root, rule, entry, &place, found),
                        None if rule == &json!(false) => found.push(format!("{place} is not allowed")),
                        None => judge(root, rule, entry, &place, found),
                    }
                }
                true
            }
            other => panic!("unknown keyword {other}"),
        };
        if !fits {
            found.push(format!("{place}: {keyword} {rule}"));
        }
    }
}
