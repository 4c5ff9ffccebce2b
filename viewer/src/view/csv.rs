//! Findings as CSV: the JSON's entries as rows, with the same names for columns.
//!
//! Nested objects (`key`, `fields`) become columns with a dotted name, e.g. `key.name`.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

/// Writes the named entries of a finding's JSON; without a name, the events by their name.
pub fn write(finding: &Value, entries: &str, out: &mut dyn Write) -> io::Result<()> {
    match finding.get(entries).and_then(Value::as_array) {
        Some(entries) => rows(entries, out),
        None => {
            let counts = finding.get("events_by_name").and_then(Value::as_object).into_iter().flatten();
            let entries: Vec<Value> =
                counts.map(|(name, count)| json!({ "event": name, "count": count })).collect();
            rows(&entries, out)
        }
    }
}

/// Writes entries as rows. The columns are all that any entry has, in the order in which they first come.
fn rows(entries: &[Value], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<Map<String, Value>> = entries.iter().map(flat).collect();
    let mut columns: Vec<&String> = Vec::new();
    for row in &rows {
        let mut after = 0;
        for name in row.keys() {
            // A column that only later rows have goes to where those have it.
            match columns.iter().position(|known| *known == name) {
                Some(known) => after = known + 1,
                None => {
                    columns.insert(after, name);
                    after += 1;
                }
            }
        }
    }
    let mut writer = csv::Writer::from_writer(out);
    if !columns.is_empty() {
        writer.write_record(&columns)?;
    }
    for row in &rows {
        writer.write_record(columns.iter().map(|&column| row.get(column).map_or(String::new(), cell)))?;
    }
    writer.flush()
}

fn flat(entry: &Value) -> Map<String, Value> {
    let mut row = Map::new();
    for (name, value) in entry.as_object().into_iter().flatten() {
        match value {
            Value::Object(members) => {
                row.extend(members.iter().map(|(member, value)| (format!("{name}.{member}"), value.clone())));
            }
            value => _ = row.insert(name.clone(), value.clone()),
        }
    }
    row
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_become_rows_and_texts_are_quoted() {
        let entries = [
            json!({"event": "a", "key": {}, "count": 1, "max_us": null}),
            json!({"event": "b", "key": {"name": "x,\"y\"\nz"}, "count": 2, "max_us": 1.5}),
        ];
        let mut out = Vec::new();
        rows(&entries, &mut out).unwrap();
        let expected = "event,key.name,count,max_us\na,,1,\nb,\"x,\"\"y\"\"\nz\",2,1.5\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
