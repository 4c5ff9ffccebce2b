//! Reads one TOML table into typed values, and reports what is missing, wrong or unknown.

use std::cell::RefCell;
use std::fmt::Display;

use crate::error::Report;
use crate::place::{Place, Step};
use crate::suggest::did_you_mean_one_of;
use crate::toml::{self, Item, Value};

/// A table that is being read. It remembers the keys that it was asked for; all others are unknown.
pub(super) struct Table<'a> {
    entries: Option<&'a toml::Table>,
    place: Place,
    known: Vec<&'static str>,
    report: &'a RefCell<Report>,
}

impl<'a> Table<'a> {
    pub(super) fn root(entries: &'a toml::Table, report: &'a RefCell<Report>) -> Self {
        Table { entries: Some(entries), place: Place::top(), known: Vec::new(), report }
    }

    fn child(&self, value: &'a Value, place: Place) -> Self {
        let entries = match value {
            Value::Table(entries) => Some(entries),
            _ => {
                self.report_at(
                    place.clone(),
                    format!("invalid value: a table is expected, not {}", describe(value)),
                );
                None
            }
        };
        Table { entries, place, known: Vec::new(), report: self.report }
    }

    /// Reports a problem with the table as a whole.
    pub(super) fn report(&self, message: impl Into<String>) {
        // Errors about the contents of a value that is not a table would only be noise.
        if self.entries.is_some() {
            self.report_at(self.place.clone(), message);
        }
    }

    fn report_at(&self, place: Place, message: impl Into<String>) {
        self.report.borrow_mut().model(place, message);
    }

    fn get(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        self.entries?.entries.get(key).map(|entry| &entry.item.value)
    }

    /// Whether the table has the key, even with a value that is wrong.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.is_some_and(|entries| entries.entries.contains_key(key))
    }

    fn wrong_type(&self, place: Place, key: &str, wanted: &str, value: &Value) {
        self.report_at(place, format!("invalid `{key}`: {wanted} is expected, not {}", describe(value)));
    }

    /// What a value is read as; anything else is reported.
    fn typed<T>(
        &mut self,
        key: &'static str,
        wanted: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(key)?;
        let read = read(value);
        if read.is_none() {
            self.wrong_type(self.place.value(key), key, wanted, value);
        }
        read
    }

    pub(super) fn string(&mut self, key: &'static str) -> Option<String> {
        self.typed(key, "a string in quotes", |value| value.as_str().map(str::to_owned))
    }

    /// A string that is not empty, if the key is present.
    pub(super) fn name(&mut self, key: &'static str) -> Option<String> {
        let text = self.string(key)?;
        if text.is_empty() {
            self.report_at(self.place.value(key), format!("`{key}` is empty"));
        }
        Some(text)
    }

    /// A required string that is not empty; empty, and reported, if it is missing.
    pub(super) fn required_name(&mut self, key: &'static str) -> String {
        if !self.has(key) {
            self.report(format!("`{key}` is missing"));
        }
        self.name(key).unwrap_or_default()
    }

    /// The documentation, where it is required.
    pub(super) fn doc(&mut self) -> String {
        if !self.has("doc") {
            self.report("`doc` is missing; say in a sentence what this is");
        }
        let doc = self.optional_doc();
        if doc.as_ref().is_some_and(String::is_empty) {
            self.report_at(self.place.value("doc"), "`doc` is empty; say in a sentence what this is");
        }
        doc.unwrap_or_default()
    }

    /// The documentation, where it is optional.
    pub(super) fn optional_doc(&mut self) -> Option<String> {
        self.string("doc").map(|doc| doc.trim().to_owned())
    }

    pub(super) fn boolean(&mut self, key: &'static str) -> Option<bool> {
        self.typed(key, "true or false", |value| match value {
            Value::Boolean(value) => Some(*value),
            _ => None,
        })
    }

    pub(super) fn integer(&mut self, key: &'static str) -> Option<i128> {
        self.typed(key, "an integer", |value| match value {
            Value::Integer(integer) => Some(*integer),
            _ => None,
        })
    }

    /// A required number from 1; 1, and reported, if it is missing.
    pub(super) fn required_number(&mut self, key: &'static str) -> u32 {
        if !self.has(key) {
            self.report(format!("`{key}` is missing; begin with `{key} = 1`"));
        }
        let Some(integer) = self.integer(key) else {
            return 1;
        };
        match u32::try_from(integer) {
            Ok(number) if number > 0 => number,
            _ => {
                let most = u32::MAX;
                let message = format!("invalid `{key}`: it is from 1 to {most}, not {integer}");
                self.report_at(self.place.value(key), message);
                1
            }
        }
    }

    /// A string that `read` parses.
    pub(super) fn parsed<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = self.string(key)?;
        read(&text).map_err(|message| self.report_at(self.place.value(key), message)).ok()
    }

    /// Like [`Table::parsed`], for a required key.
    pub(super) fn required_parsed<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        if !self.has(key) {
            self.report(format!("`{key}` is missing"));
        }
        self.parsed(key, read)
    }

    /// One of a fixed set of names; the default if the key is absent.
    pub(super) fn choice<T: Copy + Default + Display>(&mut self, key: &'static str, all: &[T]) -> T {
        self.optional_choice(key, all).unwrap_or_default()
    }

    /// One of a fixed set of names.
    pub(super) fn optional_choice<T: Copy + Display>(&mut self, key: &'static str, all: &[T]) -> Option<T> {
        let names: Vec<String> = all.iter().map(T::to_string).collect();
        self.parsed(key, |text| match names.iter().position(|name| name == text) {
            Some(index) => Ok(all[index]),
            None => {
                let suggestion = did_you_mean_one_of(text, names.iter().map(String::as_str));
                Err(format!("invalid `{key}`: `{text}`{suggestion}"))
            }
        })
    }

    /// An array of strings; empty if the key is absent.
    pub(super) fn strings(&mut self, key: &'static str) -> Vec<String> {
        self.parsed_strings(key, |text| Ok(text.to_owned()))
    }

    /// An array of strings that `read` parses; empty if the key is absent or an element
    /// is wrong.
    pub(super) fn parsed_strings<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        let wanted = "an array of strings";
        let mut values = Vec::new();
        for (index, element) in self.array(key, wanted).into_iter().flatten().enumerate() {
            let place = self.place.value(key).then(Step::Element(index));
            values.push(match &element.value {
                Value::String(text) => read(text).map_err(|message| self.report_at(place, message)).ok(),
                other => {
                    self.wrong_type(place, key, wanted, other);
                    None
                }
            });
        }
        values.into_iter().collect::<Option<_>>().unwrap_or_default()
    }

    fn array(&mut self, key: &'static str, wanted: &str) -> Option<&'a [Item]> {
        self.typed(key, wanted, |value| match value {
            Value::Array { elements, .. } => Some(&elements[..]),
            _ => None,
        })
    }

    /// An array of tables that each have a `name`; empty if the key is absent.
    pub(super) fn elements<T>(
        &mut self,
        key: &'static str,
        step: impl Fn(usize, String) -> Step,
        read: impl Fn(String, Table<'a>) -> T,
    ) -> Vec<T> {
        let Some(array) = self.array(key, "an array of tables") else {
            return Vec::new();
        };
        let mut elements = Vec::new();
        for (index, element) in array.iter().enumerate() {
            let name = name_of(&element.value).unwrap_or_default();
            let place = self.place.then(step(index, name.to_owned()));
            let mut table = self.child(&element.value, place);
            let name = table.required_name("name");
            elements.push(read(name, table));
        }
        elements
    }

    /// A required table; empty, and reported, if it is missing.
    pub(super) fn required_table(&mut self, key: &'static str) -> Table<'a> {
        let place = self.place.value(key);
        match self.get(key) {
            Some(value) => self.child(value, place),
            None => {
                self.report_at(place.clone(), format!("the table `[{key}]` is missing; add it at the top"));
                Table { entries: None, place, known: Vec::new(), report: self.report }
            }
        }
    }

    /// The tables by name within the table at `key`, in the order of the file.
    pub(super) fn children<T>(
        &mut self,
        key: &'static str,
        step: impl Fn(String) -> Step,
        read: impl Fn(String, Table<'a>) -> T,
    ) -> Vec<T> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let within = self.child(value, self.place.value(key));
        in_order(within.entries)
            .into_iter()
            .map(|(name, value)| {
                let name = name.clone();
                let place = self.place.then(step(name.clone()));
                if name.is_empty() {
                    self.report_at(place.clone(), "the name is empty");
                }
                read(name, self.child(value, place))
            })
            .collect()
    }

    /// The strings by name within the table at `key`, in the order of the file; none may be empty.
    pub(super) fn texts(&mut self, key: &'static str) -> Vec<(String, String)> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let place = self.place.value(key);
        let within = self.child(value, place.clone());
        let mut texts = Vec::new();
        for (name, value) in in_order(within.entries) {
            let name = name.clone();
            let place = place.then(Step::Key(name.clone()));
            match value {
                Value::String(text) if text.trim().is_empty() => {
                    self.report_at(place, format!("`{name}` is empty"));
                }
                Value::String(text) => texts.push((name, text.clone())),
                other => self.wrong_type(place, &name, "a string in quotes", other),
            }
        }
        texts
    }

    /// Reports every key that nobody asked for.
    pub(super) fn finish(self) {
        for (key, _) in in_order(self.entries) {
            let key = key.as_str();
            if !self.known.contains(&key) {
                let suggestion = did_you_mean_one_of(key, self.known.iter().copied());
                let message = format!("unknown key `{key}`{suggestion}");
                self.report_at(self.place.then(Step::Key(key.to_owned())), message);
            }
        }
    }
}

fn in_order(table: Option<&toml::Table>) -> Vec<(&String, &Value)> {
    let entries = table.map(toml::Table::in_order).unwrap_or_default();
    entries.into_iter().map(|(key, entry)| (key, &entry.item.value)).collect()
}

fn name_of(value: &Value) -> Option<&str> {
    let Value::Table(table) = value else { return None };
    table.entries.get("name")?.item.value.as_str()
}

fn describe(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the string \"{}\"", text.escape_debug()),
        Value::Integer(integer) => format!("the number {integer}"),
        Value::Number(number) => format!("the number {number}"),
        Value::Boolean(value) => value.to_string(),
        Value::Date => "a date".to_owned(),
        Value::Array { .. } => "an array".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}
