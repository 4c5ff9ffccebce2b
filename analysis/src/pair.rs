//! Events that begin or end an interval, by their names.

/// Which end of an interval an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It begins there.
    Begin,
    /// It ends there.
    End,
}

/// Suffixes of the name of an interval, longer ones first.
const BEGINNINGS: [&str; 6] = ["__entry", "__start", "_entry", "_enter", "_begin", "_start"];
const ENDINGS: [&str; 7] = ["__return", "__end", "__done", "_return", "_exit", "_end", "_done"];

/// The interval that an event with this name begins or ends, if its name says so.
///
/// ```text
/// p:call_entry → (p:call, Begin)      p:call_exit → (p:call, End)
/// ```
pub(crate) fn pair_of(name: &str) -> Option<(&str, Side)> {
    let stem = |ending| name.strip_suffix(ending).filter(|stem| !stem.ends_with([':', '_']));
    let begin = || BEGINNINGS.into_iter().find_map(stem).map(|stem| (stem, Side::Begin));
    let end = || ENDINGS.into_iter().find_map(stem).map(|stem| (stem, Side::End));
    begin().or_else(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_known_by_its_names() {
        assert_eq!(pair_of("p:call_entry"), Some(("p:call", Side::Begin)));
        assert_eq!(pair_of("p:call_enter"), Some(("p:call", Side::Begin)));
        assert_eq!(pair_of("p:call_exit"), Some(("p:call", Side::End)));
        assert_eq!(pair_of("redis:call__start"), Some(("redis:call", Side::Begin)));
        assert_eq!(pair_of("redis:call__end"), Some(("redis:call", Side::End)));
        assert_eq!(pair_of("p:x_end"), Some(("p:x", Side::End)));
        assert_eq!(pair_of("p:call"), None);
        assert_eq!(pair_of("p:_exit"), None);
        assert_eq!(pair_of("p:end"), None);
    }
}
