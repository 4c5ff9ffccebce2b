//! The values of a text, and which of them later lines may add to.

use std::collections::HashMap;

use super::{Key, SyntaxError};

pub(crate) enum Value {
    String(String),
    Integer(i128),
    Boolean(bool),
    /// A number with a fraction or without an end, as it is written.
    Number(String),
    Date,
    Array {
        elements: Vec<Item>,
        /// Whether `[[…]]` adds to it.
        is_open: bool,
    },
    Table(Table),
}

impl Value {
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

/// A value and its offset.
pub(crate) struct Item {
    pub(crate) offset: usize,
    pub(crate) value: Value,
}

/// A value with its key's offset.
pub(crate) struct Entry {
    pub(crate) key_offset: usize,
    pub(crate) item: Item,
}

#[derive(Default)]
pub(crate) struct Table {
    pub(crate) entries: HashMap<String, Entry>,
    pub(super) kind: Kind,
}

/// How a table came to be, which decides what may add to it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// By the header of a table within it; a header may follow.
    #[default]
    Implied,
    /// By its header.
    Opened,
    /// By a key with dots; such keys may follow.
    Dotted,
    /// `{ … }`: nothing may follow.
    Closed,
}

impl Table {
    /// The entries in the order of the text.
    pub(crate) fn in_order(&self) -> Vec<(&String, &Entry)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(_, entry)| entry.key_offset);
        entries
    }

    /// The table that a header at `start` begins.
    pub(super) fn open(
        &mut self,
        start: usize,
        mut keys: Vec<Key>,
        is_element: bool,
    ) -> Result<&mut Table, SyntaxError> {
        let Some(last) = keys.pop() else { return Ok(self) };
        let mut table = self;
        for key in keys {
            table = table.within(key, Kind::Implied)?;
        }
        let new = || match is_element {
            true => Value::Array { elements: Vec::new(), is_open: true },
            false => Value::Table(Table::default()),
        };
        let duplicate = last.duplicate();
        let opened = match table.value(last, start, new) {
            Value::Array { elements, is_open: true } if is_element => {
                elements.push(Item { offset: start, value: Value::Table(Table::default()) });
                elements.last_mut().and_then(|element| innermost(&mut element.value))
            }
            Value::Table(table) if !is_element && table.kind == Kind::Implied => Some(table),
            _ => None,
        };
        let opened = opened.ok_or(duplicate)?;
        opened.kind = Kind::Opened;
        Ok(opened)
    }

    /// Adds a value.
    pub(super) fn assign(&mut self, mut keys: Vec<Key>, item: Item) -> Result<(), SyntaxError> {
        let Some(last) = keys.pop() else { return Ok(()) };
        let mut table = self;
        for key in keys {
            table = table.within(key, Kind::Dotted)?;
        }
        if table.entries.contains_key(&last.name) {
            return Err(last.duplicate());
        }
        table.entries.insert(last.name, Entry { key_offset: last.offset, item });
        Ok(())
    }

    /// The table of a key that others follow; made if it is missing.
    fn within(&mut self, key: Key, kind: Kind) -> Result<&mut Table, SyntaxError> {
        let duplicate = key.duplicate();
        let offset = key.offset;
        let value = self.value(key, offset, || Value::Table(Table { kind, ..Table::default() }));
        let table = match value {
            Value::Array { .. } if kind == Kind::Dotted => None,
            value => innermost(value),
        };
        // A header adds to tables that others began.
        let may_add = |table: &Table| match kind {
            Kind::Dotted => matches!(table.kind, Kind::Dotted | Kind::Implied),
            _ => table.kind != Kind::Closed,
        };
        table.filter(|table| may_add(table)).ok_or(duplicate)
    }

    /// The value of a key, which is made if it is missing.
    fn value(&mut self, key: Key, offset: usize, new: impl FnOnce() -> Value) -> &mut Value {
        let entry = self.entries.entry(key.name);
        let new = || Entry { key_offset: key.offset, item: Item { offset, value: new() } };
        &mut entry.or_insert_with(new).item.value
    }
}

/// The table, or the last one of an array that headers add to.
fn innermost(value: &mut Value) -> Option<&mut Table> {
    match value {
        Value::Table(table) => Some(table),
        Value::Array { elements, is_open: true } => innermost(&mut elements.last_mut()?.value),
        _ => None,
    }
}

impl Key {
    fn duplicate(&self) -> SyntaxError {
        SyntaxError { offset: self.offset, message: format!("duplicate key `{}`", self.name) }
    }
}
