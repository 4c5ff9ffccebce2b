//! CSV sheets that are safe to open in a spreadsheet.
//!
//! Traces are untrusted: control characters are escaped, and a text that a spreadsheet would run as a formula is
//! preceded by an apostrophe.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use ltt_analysis::datum::Datum;
use ltt_analysis::text::escape;

/// A row: the names of columns with their cells.
pub type SheetRow = Vec<(String, String)>;

/// Rows under columns. A column `key.*` stands for all columns with that prefix in any row, in the order in which they
/// first appear.
pub struct Sheet {
    columns: Vec<String>,
    rows: Vec<SheetRow>,
}

impl Sheet {
    pub fn new(columns: &[&str]) -> Self {
        Sheet { columns: columns.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    pub fn add(&mut self, row: SheetRow) {
        self.rows.push(row);
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns: Vec<String> = self.columns.iter().flat_map(|column| self.expanded(column)).collect();
        let places: HashMap<&str, usize> =
            (0..).zip(&columns).map(|(place, name)| (&**name, place)).collect();
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(columns.iter().map(|name| escape::text(name)))?;
        for row in &self.rows {
            let mut cells = vec![""; columns.len()];
            for (name, cell) in row {
                if let Some(&place) = places.get(&**name) {
                    cells[place] = cell;
                }
            }
            writer.write_record(cells)?;
        }
        writer.flush()
    }

    fn expanded(&self, column: &str) -> Vec<String> {
        let Some(prefix) = column.strip_suffix('*') else { return vec![column.to_owned()] };
        let mut names: Vec<String> = Vec::new();
        for row in &self.rows {
            let mut after = 0;
            for (name, _) in row.iter().filter(|(name, _)| name.starts_with(prefix)) {
                // A column that only later rows have is inserted where they have it.
                match names.iter().position(|known| known == name) {
                    Some(known) => after = known + 1,
                    None => {
                        names.insert(after, name.clone());
                        after += 1;
                    }
                }
            }
        }
        names
    }
}

/// The cells that JSON has by these names, a nested one with a dot in its name. What stands for several columns is not one of them.
pub fn cells(of: &impl Serialize, names: &[&str]) -> SheetRow {
    let json = serde_json::to_value(of).unwrap_or_default();
    let names = names.iter().filter(|name| !name.ends_with('*'));
    let cell =
        |name: &str| match json.get(name).or_else(|| json.pointer(&format!("/{}", name.replace('.', "/")))) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(found)) => text(found),
            Some(found) => found.to_string(),
        };
    names.map(|name| ((*name).to_owned(), cell(name))).collect()
}

/// A value from a trace.
pub fn datum(value: &Datum) -> String {
    match value {
        Datum::Text(bytes) => guarded(bytes, escape::bytes(bytes)),
        Datum::List { .. } | Datum::Struct(_) => {
            let json = number(value);
            guarded(json.as_bytes(), json.clone())
        }
        value => escape::datum(value),
    }
}

/// A text from a trace.
pub fn text(text: &str) -> String {
    guarded(text.as_bytes(), escape::text(text))
}

/// A text from a trace as a whole cell, with quotes where it needs them.
pub fn cell(raw: &[u8]) -> String {
    let text = guarded(raw, escape::bytes(raw));
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A text that no spreadsheet runs as a formula.
fn guarded(raw: &[u8], escaped: String) -> String {
    match raw.first() {
        Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r') => format!("'{escaped}"),
        _ => escaped,
    }
}

/// A number, a boolean or a list, as in JSON.
pub fn number<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Like [`number`]; empty for none.
pub fn optional<T: Serialize>(value: &Option<T>) -> String {
    value.as_ref().map_or(String::new(), number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_may_have_different_columns_and_texts_are_quoted() {
        let mut sheet = Sheet::new(&["event", "key.*", "max_us"]);
        let row = |cells: &[(&str, &str)]| {
            cells.iter().map(|(name, cell)| (name.to_string(), text(cell))).collect()
        };
        sheet.add(row(&[("event", "a")]));
        sheet.add(row(&[("event", "b"), ("key.name", "x,\"y\"\nz"), ("max_us", "1.5")]));
        let mut out = Vec::new();
        sheet.write(&mut out).unwrap();
        let expected = "event,key.name,max_us\na,,\nb,\"x,\"\"y\"\"\\nz\",1.5\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_header_is_written_without_rows() {
        let mut out = Vec::new();
        Sheet::new(&["event", "key.*", "count"]).write(&mut out).unwrap();
        assert_eq!(out, b"event,count\n");
    }

    #[test]
    fn no_text_is_a_formula_and_numbers_stay_numbers() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert!(text(formula).starts_with('\''), "{formula:?}");
        }
        assert_eq!(text("\t=1"), "'\\t=1");
        assert_eq!(text("a=b"), "a=b");
        assert_eq!(datum(&Datum::Integer(-1)), "-1");
        assert_eq!(datum(&Datum::Float(-0.5)), "-0.5");
    }
}
