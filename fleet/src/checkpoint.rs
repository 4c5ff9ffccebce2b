//! Checkpoints of a Delta Lake log: all that counts as of a version in one Parquet file, in place of the versions before.
//!
//! Actions are JSON, here as in the log; each is a row, whose one column that is not null says what it is.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, Row};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;
use serde_json::{Value, json};

const SCHEMA: &str = "message checkpoint {
    optional group txn { optional binary appId (UTF8); optional int64 version; }
    optional group add {
        optional binary path (UTF8);
        optional group partitionValues (MAP) {
            repeated group key_value { required binary key (UTF8); optional binary value (UTF8); }
        }
        optional int64 size;
        optional int64 modificationTime;
        optional boolean dataChange;
        optional binary stats (UTF8);
    }
    optional group remove {
        optional binary path (UTF8);
        optional int64 deletionTimestamp;
        optional boolean dataChange;
    }
    optional group metaData {
        optional binary id (UTF8);
        optional binary name (UTF8);
        optional group format {
            optional binary provider (UTF8);
            optional group options (MAP) {
                repeated group key_value { required binary key (UTF8); optional binary value (UTF8); }
            }
        }
        optional binary schemaString (UTF8);
        optional group partitionColumns (LIST) { repeated group list { optional binary element (UTF8); } }
        optional group configuration (MAP) {
            repeated group key_value { required binary key (UTF8); optional binary value (UTF8); }
        }
        optional int64 createdTime;
    }
    optional group protocol { optional int32 minReaderVersion; optional int32 minWriterVersion; }
}";

/// The values of a column with their levels.
#[derive(Clone, Default)]
struct Leaf {
    values: Vec<Value>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

/// Writes actions as a Parquet file.
pub fn encode(actions: &[Value]) -> Result<Vec<u8>> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::clone(&schema), Arc::new(properties))?;
    let mut leaves = vec![Leaf::default(); writer.schema_descr().num_columns()];
    for action in actions {
        let mut used = 0;
        for field in schema.get_fields() {
            used += shred(field, &action[field.name()], (0, 0), &mut leaves[used..]);
        }
    }
    let mut group = writer.next_row_group()?;
    for Leaf { values, definitions, repetitions } in leaves {
        let missing = || ParquetError::General("columns are missing".into());
        let mut column = group.next_column()?.ok_or_else(missing)?;
        let levels = (Some(definitions.as_slice()), Some(repetitions.as_slice()));
        let numbers = || values.iter().map(|value| value.as_i64().unwrap_or_default());
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(to) => {
                let texts = values.iter().map(|value| ByteArray::from(value.as_str().unwrap_or_default()));
                to.write_batch(&texts.collect::<Vec<_>>(), levels.0, levels.1)
            }
            ColumnWriter::Int64ColumnWriter(to) => {
                to.write_batch(&numbers().collect::<Vec<_>>(), levels.0, levels.1)
            }
            ColumnWriter::Int32ColumnWriter(to) => {
                to.write_batch(&numbers().map(|number| number as i32).collect::<Vec<_>>(), levels.0, levels.1)
            }
            ColumnWriter::BoolColumnWriter(to) => {
                let truths = values.iter().map(|value| value == &Value::Bool(true));
                to.write_batch(&truths.collect::<Vec<_>>(), levels.0, levels.1)
            }
            _ => return Err(ParquetError::General("a column has an unknown type".into())),
        }?;
        column.close()?;
    }
    group.close()?;
    writer.into_inner()
}

/// Takes a value apart into the columns of a field, with their definition and repetition levels; returns the number of columns.
fn shred(field: &Type, value: &Value, (defined, repeated): (i16, i16), leaves: &mut [Leaf]) -> usize {
    let defined = defined + i16::from(field.is_optional() && !value.is_null());
    if field.is_primitive() {
        leaves[0].definitions.push(defined);
        leaves[0].repetitions.push(repeated);
        leaves[0].values.extend((!value.is_null()).then(|| value.clone()));
        return 1;
    }
    let mut each = |fields: &[Arc<Type>], value: &Value, levels| {
        fields
            .iter()
            .fold(0, |used, field| used + shred(field, &value[field.name()], levels, &mut leaves[used..]))
    };
    if field.get_basic_info().converted_type() == ConvertedType::NONE {
        return each(field.get_fields(), value, (defined, repeated));
    }
    let entry = field.get_fields()[0].get_fields();
    let entries: Vec<Value> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect(),
        Value::Array(list) => list.iter().map(|element| json!({ "element": element })).collect(),
        _ => Vec::new(),
    };
    if entries.is_empty() {
        return each(entry, &Value::Null, (defined, repeated));
    }
    // Nothing is repeated within what is repeated.
    let levels = |number: usize| (defined + 1, if number == 0 { repeated } else { 1 });
    entries.iter().enumerate().fold(0, |_, (number, value)| each(entry, value, levels(number)))
}

/// Reads the actions of a Parquet file.
pub fn decode(bytes: Vec<u8>) -> Result<Vec<Value>> {
    let reader = SerializedFileReader::new(Bytes::from(bytes))?;
    reader.get_row_iter(None)?.map(|row| row.map(|row| object(&row))).collect()
}

/// Leaves out what is null, as the log does.
fn object(row: &Row) -> Value {
    let columns = row.get_column_iter().map(|(name, field)| (name.clone(), value(field)));
    Value::Object(columns.filter(|(_, value)| !value.is_null()).collect())
}

fn value(field: &Field) -> Value {
    match field {
        Field::Bool(truth) => json!(truth),
        Field::Int(number) => json!(number),
        Field::Long(number) => json!(number),
        Field::Str(text) => json!(text),
        Field::Group(row) => object(row),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::MapInternal(map) => {
            let key = |key: &Field| value(key).as_str().unwrap_or_default().to_owned();
            Value::Object(map.entries().iter().map(|(name, field)| (key(name), value(field))).collect())
        }
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let add = |host: &str| {
            json!({ "add": { "path": format!("host={host}/x.parquet"), "partitionValues": { "date": "2026-11-17", "host": host },
                "size": 12, "modificationTime": 1, "dataChange": false, "stats": "{}" } })
        };
        let actions = [
            json!({ "protocol": { "minReaderVersion": 1, "minWriterVersion": 2 } }),
            json!({ "metaData": { "id": "i", "name": "n", "format": { "provider": "parquet", "options": {} },
                "schemaString": "{}", "partitionColumns": ["date", "host"], "configuration": {}, "createdTime": 3 } }),
            add("a"),
            json!({ "remove": { "path": "p", "deletionTimestamp": 5, "dataChange": true } }),
            add("b"),
        ];
        assert_eq!(decode(encode(&actions).unwrap()).unwrap(), actions);
    }
}
