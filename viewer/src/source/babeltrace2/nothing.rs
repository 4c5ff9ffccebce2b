//! A collector for readings whose report alone matters.

use std::sync::Arc;

use crate::source::{Collect, Event, EventClass};

/// Collects nothing.
pub struct Nothing;

impl Collect for Nothing {
    fn want(&mut self, _: &Arc<EventClass>) -> Option<Vec<usize>> {
        None
    }
    fn event(&mut self, _: &Event<'_>) {}
    fn split(&self) -> Self {
        Nothing
    }
    fn absorb(&mut self, Nothing: Self) {}
}
