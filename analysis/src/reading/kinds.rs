//! Kinds of events, numbered.

use std::collections::HashMap;
use std::sync::Arc;

use crate::reading::selection::EventKind;

/// Distinct kinds, in the order in which they were first seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    list: Vec<Arc<EventKind>>,
    numbers: HashMap<Arc<EventKind>, usize>,
}

impl Kinds {
    /// The number of a kind, added if it is new.
    pub fn enter(&mut self, kind: Arc<EventKind>) -> usize {
        let list = &mut self.list;
        *self.numbers.entry(kind).or_insert_with_key(|kind| {
            list.push(Arc::clone(kind));
            list.len() - 1
        })
    }

    /// The number of a known kind.
    pub fn number(&self, kind: &EventKind) -> Option<usize> {
        self.numbers.get(kind).copied()
    }

    /// All kinds; the number of each is its place.
    pub fn list(&self) -> &[Arc<EventKind>] {
        &self.list
    }
}

impl FromIterator<Arc<EventKind>> for Kinds {
    fn from_iter<I: IntoIterator<Item = Arc<EventKind>>>(kinds: I) -> Self {
        let mut entered = Kinds::default();
        kinds.into_iter().for_each(|kind| _ = entered.enter(kind));
        entered
    }
}
