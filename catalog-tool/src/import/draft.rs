//! What was read from a file of another tool, on its way to a catalog.

/// Stands where the file documents nothing.
pub const UNDOCUMENTED: &str = "TODO";

#[derive(Debug)]
pub struct Provider {
    pub name: String,
    pub line: usize,
    pub doc: String,
    pub enums: Vec<Enumeration>,
    pub classes: Vec<Class>,
    pub events: Vec<Event>,
}

impl Provider {
    pub fn new(name: &str, line: usize) -> Provider {
        Provider {
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
pub struct Enumeration {
    pub name: String,
    pub line: usize,
    pub doc: String,
    /// The integer type as catalogs spell it.
    pub container: String,
    pub labels: Vec<Label>,
}

#[derive(Clone, Debug)]
pub struct Label {
    pub name: String,
    pub doc: String,
    pub first: i128,
    pub last: i128,
}

#[derive(Clone, Debug)]
pub struct Class {
    pub name: String,
    pub line: usize,
    pub doc: String,
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub struct Event {
    pub name: String,
    pub line: usize,
    pub doc: String,
    pub class: Option<String>,
    /// None, if it has a class.
    pub fields: Vec<Field>,
    pub duration: Option<String>,
    /// Whether a probe stands at its start, too.
    pub entry: bool,
    /// As catalogs spell it.
    pub log_level: Option<&'static str>,
    pub model_uri: Option<String>,
}

impl Event {
    pub fn new(name: &str, line: usize) -> Event {
        Event {
            name: name.to_owned(),
            line,
            doc: String::new(),
            class: None,
            fields: Vec::new(),
            duration: None,
            entry: false,
            log_level: None,
            model_uri: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
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

impl Field {
    pub fn new(name: &str, line: usize, kind: impl Into<String>) -> Field {
        Field {
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

    /// How many arguments of a C function it takes.
    pub fn arguments(&self) -> usize {
        let has_length = self.kind == "text" || self.kind == "bytes";
        let is_sequence = self.kind.starts_with('[') && !self.kind.contains(';');
        if has_length || is_sequence { 2 } else { 1 }
    }
}
