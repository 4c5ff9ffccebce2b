//! What was read from a file of another tool, on its way to a catalog.

use super::problem::Problem;

/// The documentation where the file has none.
pub const UNDOCUMENTED: &str = "TODO";

/// The most arguments that LTTng-UST's macros take.
pub const MOST_ARGUMENTS: usize = 10;

#[derive(Clone, Debug)]
pub struct DraftProvider {
    pub name: String,
    pub line: usize,
    pub doc: String,
    pub enums: Vec<DraftEnumeration>,
    pub classes: Vec<DraftClass>,
    pub events: Vec<DraftEvent>,
}

impl DraftProvider {
    pub fn new(name: &str, line: usize) -> DraftProvider {
        DraftProvider {
            name: name.to_owned(),
            line,
            doc: String::new(),
            enums: Vec::new(),
            classes: Vec::new(),
            events: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct DraftEnumeration {
    pub name: String,
    pub line: usize,
    pub doc: String,
    /// The integer type as catalogs spell it.
    pub container: String,
    pub labels: Vec<DraftLabel>,
}

#[derive(Clone, Debug)]
pub struct DraftLabel {
    pub name: String,
    pub doc: String,
    pub first: i128,
    pub last: i128,
}

/// The providers of a file, and what of it cannot be read.
#[derive(Clone, Debug)]
pub struct Draft {
    pub providers: Vec<DraftProvider>,
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug)]
pub struct DraftClass {
    pub name: String,
    pub line: usize,
    pub doc: String,
    pub fields: Vec<DraftField>,
}

#[derive(Clone, Debug)]
pub struct DraftEvent {
    pub name: String,
    pub line: usize,
    pub doc: String,
    pub class: Option<String>,
    /// Empty if it has a class.
    pub fields: Vec<DraftField>,
    pub duration: Option<String>,
    /// Whether it also has a probe at its start.
    pub entry: bool,
    /// The event of the same provider that begins the interval which this one ends.
    pub started_by: Option<String>,
    /// As catalogs spell it.
    pub log_level: Option<&'static str>,
    pub model_uri: Option<String>,
}

impl DraftEvent {
    pub fn new(name: &str, line: usize) -> DraftEvent {
        DraftEvent {
            name: name.to_owned(),
            line,
            doc: String::new(),
            class: None,
            fields: Vec::new(),
            duration: None,
            entry: false,
            started_by: None,
            log_level: None,
            model_uri: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct DraftField {
    pub name: String,
    pub line: usize,
    pub doc: String,
    /// The type as catalogs spell it.
    pub kind: String,
    /// The name of the argument, if it differs.
    pub argument: Option<String>,
    pub unit: Option<&'static str>,
    /// The integer of the length, if it is not the usual one.
    pub length: Option<String>,
    pub recorded: bool,
}

impl DraftField {
    pub fn new(name: &str, line: usize, kind: impl Into<String>) -> DraftField {
        DraftField {
            name: name.to_owned(),
            line,
            doc: String::new(),
            kind: kind.into(),
            argument: None,
            unit: None,
            length: None,
            recorded: true,
        }
    }

    /// The number of arguments that it takes in C.
    pub fn arguments(&self) -> usize {
        let has_length = self.kind == "text" || self.kind == "bytes";
        let is_sequence = self.kind.starts_with('[') && !self.kind.contains(';');
        if has_length || is_sequence { 2 } else { 1 }
    }
}
