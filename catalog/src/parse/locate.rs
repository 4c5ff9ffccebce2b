//! From a place in the catalog to a line and a column of its text.

use std::collections::HashMap;

use crate::error::{Authority, Error};
use crate::place::{Place, Step};
use crate::toml::{SyntaxError, Table, Value};

/// The offsets of every key and value of a TOML text.
pub(super) struct Locations<'t> {
    text: &'t str,
    /// The offsets at which lines begin.
    lines: Vec<usize>,
    /// By the keys from the top, the offsets of the key and of its value.
    offsets: HashMap<Vec<String>, Offsets>,
}

#[derive(Clone, Copy)]
struct Offsets {
    key: usize,
    value: usize,
}

impl<'t> Locations<'t> {
    pub(super) fn new(text: &'t str, root: &Table) -> Self {
        let newlines = text.match_indices('\n').map(|(newline, _)| newline + 1);
        let lines = std::iter::once(0).chain(newlines).collect();
        let mut locations = Locations { text, lines, offsets: HashMap::new() };
        locations.add_table(&mut Vec::new(), root);
        locations
    }

    fn add_table(&mut self, path: &mut Vec<String>, table: &Table) {
        for (key, entry) in &table.entries {
            path.push(key.clone());
            let offsets = Offsets { key: entry.key_offset, value: entry.item.offset };
            self.add_value(path, offsets, &entry.item.value);
            path.pop();
        }
    }

    fn add_value(&mut self, path: &mut Vec<String>, offsets: Offsets, value: &Value) {
        self.offsets.insert(path.clone(), offsets);
        match value {
            Value::Table(table) => self.add_table(path, table),
            Value::Array { elements, .. } => {
                for (index, element) in elements.iter().enumerate() {
                    path.push(index.to_string());
                    let offsets = Offsets { key: element.offset, value: element.offset };
                    self.add_value(path, offsets, &element.value);
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

    /// What is wrong with the text as TOML, with lines and columns.
    pub(super) fn syntax_errors(&self, found: Vec<SyntaxError>) -> Vec<Error> {
        let with_position = |error: SyntaxError| Error {
            position: Some(self.line_and_column(error.offset)),
            place: Place::top(),
            authority: Authority::Model,
            message: error.message,
        };
        found.into_iter().map(with_position).collect()
    }

    /// The offset of a place or, if the text does not have it, of the nearest place above it.
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
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines[line - 1];
        let before = self.text.get(start..offset).unwrap_or_default();
        (line, before.chars().count() + 1)
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
