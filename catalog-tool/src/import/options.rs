//! What a user can say about an import.

use super::c_type::CType;

/// What can be said about an import.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Types that the file uses and does not define.
    pub types: Vec<(String, CType)>,
    /// Leave `…__start` and `…__end` the two events that they are.
    pub keep_pairs: bool,
    /// The catalog's name, if it is not that of the first provider.
    pub name: Option<String>,
}
