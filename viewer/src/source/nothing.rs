//! A collector for readings whose report alone matters.

use std::sync::Arc;

use super::{Collect, EventClass, Events};

/// Collects nothing.
pub struct Nothing;

impl Collect for Nothing {
    fn want(&mut self, _: &Arc<EventClass>) -> Option<Vec<usize>> {
        None
    }
    fn events(&mut self, _: &Events<'_>) {}
    fn split(&self) -> Self {
        Nothing
    }
    fn absorb(&mut self, Nothing: Self) {}
}
