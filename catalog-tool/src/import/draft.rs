//! What was read from a file of another tool, on its way to a catalog.

use super::problem::Problem;

/// The documentation where the file has none.
pub const UNDOCUMENTED: &str = "TODO";

/// The most arguments that LTTng-UST's macros take.
pub const MOST_ARGUMENTS: usize = 10;

/// The providers of a file, and what of it cannot be read.
#[derive(Debug)]
pub struct Draft {
    pub providers: Vec<DraftProvider>,
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, Default)]
pub struct DraftProvider {
    pub name: String,
    pub line: usize,
    pub doc: String,
    pub enums: Vec<DraftEnumeration>,
    pub classes: Vec<DraftClass>,
    pub events: Vec<DraftEvent>,
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

#[derive(Clone, Debug)]
pub struct DraftClass {
    pub name: String,
    pub line: usize,
    pub doc: String,
    pub fields: Vec<DraftField>,
}

#[derive(Clone, Debug, Default)]
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

#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Whether only filters see it.
    pub unrecorded: bool,
}

impl DraftField {
    /// The number of arguments that it takes in C.
    pub fn arguments(&self) -> usize {
        let has_length = self.kind == "text" || self.kind == "bytes";
        let is_sequence = self.kind.starts_with('[') && !self.kind.contains(';');
        if has_length || is_sequence { 2 } else { 1 }
    }
}
