//! From a place in the catalog to a line and a column of its text.

use std::collections::HashMap;

use toml::de::{DeTable, DeValue};

use crate::error::Error;
use crate::place::{Place, Step};

/// Where every key and value of a TOML text stands.
pub(super) struct Locations<'t> {
    text: &'t str,
    /// By the keys from the top, the offsets of the key and of its value.
    offsets: HashMap<Vec<String>, Offsets>,
}

#[derive(Clone, Copy)]
struct Offsets {
    key: usize,
    value: usize,
}

impl<'t> Locations<'t> {
    pub(super) fn new(text: &'t str, root: &DeTable<'_>) -> Self {
        let mut locations = Locations { text, offsets: HashMap::new() };
        locations.add_table(&mut Vec::new(), root);
        locations
    }

    fn add_table(&mut self, path: &mut Vec<String>, table: &DeTable<'_>) {
        for (key, value) in table {
            path.push(key.get_ref().to_string());
            let offsets = Offsets { key: key.span().start, value: value.span().start };
            self.add_value(path, offsets, value.get_ref());
            path.pop();
        }
    }

    fn add_value(&mut self, path: &mut Vec<String>, offsets: Offsets, value: &DeValue<'_>) {
        self.offsets.insert(path.clone(), offsets);
        match value {
            DeValue::Table(table) => self.add_table(path, table),
            DeValue::Array(array) => {
                for (index, element) in array.iter().enumerate() {
                    path.push(index.to_string());
                    let start = element.span().start;
                    let offsets = Offsets { key: start, value: start };
                    self.add_value(path, offsets, element.get_ref());
                    path.pop();
                }
            }
            _ => {}
        }
    }

    /// The error with its line and column.
    pub(super) fn locate(&self, error: Error) -> Error {
        Error { position: Some(self.line_and_column(self.offset(&error.place))), ..error }
    }

    /// What the TOML parser found, with lines and columns.
    pub(super) fn syntax_errors(&self, found: &[toml::de::Error]) -> Vec<Error> {
        let mut errors = Vec::new();
        let mut repeated_header = None;
        for error in found {
            let span = error.span().unwrap_or_default();
            let message = match self.text.get(span.clone()) {
                Some(name) if error.message() == "duplicate key" => {
                    let header = self.header_above(span.start);
                    if header.is_some() && header == repeated_header {
                        // The keys of a table that is given twice are all given twice.
                        continue;
                    }
                    repeated_header = self.is_in_header(span.start).then_some(header).flatten();
                    format!("`{name}` is here for the second time; a name or a key is given once")
                }
                _ => format!("this is no TOML: {}", error.message().replace('\n', "; ")),
            };
            let position = Some(self.line_and_column(span.start));
            errors.push(Error { position, place: Place::top(), message });
        }
        errors
    }

    /// Where the line of the nearest table header at or above an offset begins.
    fn header_above(&self, offset: usize) -> Option<usize> {
        let before = self.text.get(..offset)?;
        before.rfind("\n[").map(|newline| newline + 1)
    }

    fn is_in_header(&self, offset: usize) -> bool {
        let header = self.header_above(offset);
        header.is_some_and(|start| !self.text[start..offset].contains('\n'))
    }

    /// The offset of a place or, if the text does not have it, of the nearest place above.
    fn offset(&self, place: &Place) -> usize {
        let mut path = Vec::new();
        let mut offset = 0;
        for step in place.steps() {
            let of_key = extend(&mut path, step);
            let Some(found) = self.offsets.get(&path) else {
                break;
            };
            offset = if of_key { found.key } else { found.value };
        }
        offset
    }

    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

/// Appends a step to a path of TOML keys; true if the step leads to a key rather than a value.
fn extend(path: &mut Vec<String>, step: &Step) -> bool {
    let (table, key, of_key) = match step {
        Step::Provider(name) => (Some("provider"), name.clone(), true),
        Step::Enum(name) => (Some("enum"), name.clone(), true),
        Step::Class(name) => (Some("class"), name.clone(), true),
        Step::Event(name) => (Some("event"), name.clone(), true),
        Step::Field(index, _) => (Some("fields"), index.to_string(), false),
        Step::Label(index, _) => (Some("labels"), index.to_string(), false),
        Step::Element(index) => (None, index.to_string(), false),
        Step::Value(key) => (None, key.clone(), false),
        Step::Key(key) => (None, key.clone(), true),
    };
    path.extend(table.map(str::to_owned));
    path.push(key);
    of_key
}
