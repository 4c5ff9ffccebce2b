//! Events as CSV: a column for each field that any event has.

use std::sync::Arc;

use ctf_reader::{EventClass, Field, OrderedEvent, Scope, Trace, Value};

use super::form::{ByClass, EventLine, Form, ShownField, put};
use super::{json, value};
use crate::view::sheet::cell;

/// Writes events as rows.
pub(in crate::view) struct CsvForm {
    hosts: Vec<String>,
    /// Whether rows say if they match.
    has_matches: bool,
    columns: Vec<Arc<str>>,
    classes: ByClass<CsvClass>,
}

/// How the events of a class are written.
struct CsvClass {
    /// Their host and name.
    name: Vec<u8>,
    /// For each column its value.
    values: Vec<Option<Field>>,
}

impl CsvForm {
    pub fn new(has_matches: bool) -> CsvForm {
        CsvForm { hosts: Vec::new(), has_matches, columns: Vec::new(), classes: ByClass::default() }
    }
}

impl Form for CsvForm {
    fn trace(&mut self, number: usize, trace: &Trace) {
        put(&mut self.hosts, number, trace.environment("hostname").unwrap_or_default().to_owned());
    }

    fn class(&mut self, class: &Arc<EventClass>, shown: &[ShownField]) {
        let mut places = vec![None; self.columns.len()];
        for &ShownField { index, value } in shown {
            let field = &class.fields[index];
            if field.scope == Scope::Environment && !matches!(&*field.name, "vpid" | "procname") {
                continue;
            }
            let known = self.columns.iter().position(|column| *column == field.name);
            let column = known.unwrap_or_else(|| {
                self.columns.push(Arc::clone(&field.name));
                self.columns.len() - 1
            });
            places.resize(self.columns.len(), None);
            // Payload fields come last, and replace a context of the same name.
            places[column] = Some(value);
        }
        let mut name = cell(self.hosts.get(class.trace).map_or(&[], |host| host.as_bytes())).into_bytes();
        name.push(b',');
        name.extend(cell(class.name.as_bytes()).bytes());
        self.classes.set(class.index, CsvClass { name, values: places });
    }

    fn heading(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"timestamp_ns,");
        if self.has_matches {
            out.extend_from_slice(b"match,");
        }
        out.extend_from_slice(b"host,event");
        for column in &self.columns {
            out.extend(format!(",{}", cell(format!("fields.{column}").as_bytes())).bytes());
        }
        out.push(b'\n');
    }

    fn body(&mut self, event: &OrderedEvent<'_>, out: &mut Vec<u8>) {
        let Some(CsvClass { name, values }) = self.classes.of(event) else { return };
        out.extend_from_slice(name);
        for column in 0..self.columns.len() {
            out.push(b',');
            if let Some(Some(field)) = values.get(column) {
                match event.value(*field) {
                    Value::Text(text) => out.extend(cell(text).bytes()),
                    Value::Enum(number, labels) => match labels.label(number) {
                        Some(label) => out.extend(cell(label.as_bytes()).bytes()),
                        None => json::write(&Value::Enum(number, labels), out),
                    },
                    value @ (Value::List(_) | Value::Struct(_)) => {
                        let mut json = Vec::new();
                        json::write(&value, &mut json);
                        out.extend(cell(&json).bytes());
                    }
                    number => json::write(&number, out),
                }
            }
        }
    }

    fn begin(&mut self, line: EventLine, out: &mut Vec<u8>) {
        value::signed(line.timestamp, out);
        out.push(b',');
        if let Some(is_match) = line.is_match {
            out.extend(format!("{is_match},").bytes());
        }
    }

    fn end(&self, _: EventLine, out: &mut Vec<u8>) {
        out.push(b'\n');
    }
}
