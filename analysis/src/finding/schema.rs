//! `docs/findings.schema.json`: made from the types of findings. `OVERWRITE=1 cargo test -p ltt-analysis schema` writes it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lttng_testing::{assert_golden, workspace};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::json::{TIMES, VERSION};
use super::{Ns, Percentiles};
use crate::Finding;
use crate::compare::{FIGURES, SideFigures};
use crate::datum::{Datum, Pairs};
use crate::groups::Sort;
use crate::live::LookBack;
use crate::reading::RecordedFields;

/// Types that serialise themselves, and what they are serialised as.
macro_rules! serialised_as {
    ($($type:ty => $schema:expr),+ $(,)?) => {
        $(impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        })+
    };
}

serialised_as! {
    Ns => json_schema!({ "type": "number", "description": "A duration in microseconds, whole where it is whole." }),
    Datum => json_schema!(true),
    Pairs => json_schema!({ "type": "object", "additionalProperties": true }),
    RecordedFields => json_schema!({ "type": "object", "additionalProperties": true }),
    Sort => json_schema!({ "type": "string" }),
    LookBack => json_schema!({ "type": "string" }),
    Percentiles => json_schema!({ "type": "object", "patternProperties": { "^p[0-9]+_us$": { "type": ["number", "null"] } } }),
    SideFigures => {
        let figures = FIGURES.map(|figure| (figure, json!({ "type": ["number", "null"] })));
        json_schema!({ "type": "object", "properties": BTreeMap::from(figures), "required": FIGURES })
    },
}

/// Adds what [`Finding::to_json`] adds to what the types say: each time in words, and the version after the kind.
fn complete(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(complete),
        Value::Object(members) => {
            members.values_mut().for_each(complete);
            let Some(Value::Object(properties)) = members.get_mut("properties") else { return };
            for (key, known_as) in
                TIMES.into_iter().filter(|(key, _)| properties.contains_key(*key)).collect::<Vec<_>>()
            {
                let words = json!({ "type": "string", "format": "date-time", "description": format!("`{key}` in UTC.") });
                properties.insert(known_as.into(), words);
            }
        }
        _ => {}
    }
}

fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Finding>().to_value();
    complete(&mut schema);
    for kind in schema["oneOf"].as_array_mut().expect("a schema for each kind") {
        kind["properties"]["version"] = json!({ "const": VERSION });
        kind["required"].as_array_mut().expect("its kind is required").push("version".into());
    }
    schema["title"] = "What ltt-top writes with --format json".into();
    schema
}

#[test]
fn schema_is_made_from_the_types() {
    let text = serde_json::to_string_pretty(&schema()).expect("JSON") + "\n";
    assert_golden(workspace().join("docs/findings.schema.json"), &text);
}
