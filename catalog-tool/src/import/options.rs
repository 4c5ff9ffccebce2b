//! What a user can say about an import.

use super::c_type::CType;

/// What can be said about an import.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Types that the file uses and does not define.
    pub types: Vec<(String, CType)>,
    /// Make one event with a duration of `…__start` and `…__end`, whose probe has another name and other arguments.
    pub join_pairs: bool,
    /// Constants that the file uses and does not define, as `#define` lines.
    pub definitions: Vec<String>,
    /// The catalog's name, if it is not that of the first provider.
    pub name: Option<String>,
}
