//! An event on its way to Rust.

use lttng_catalog::lowered::{Event, Provider};

use super::arguments::{Argument, argument};
use crate::BackEnds;

/// What the text of an event is made from.
pub(super) struct Context<'c> {
    pub(super) provider: &'c Provider<'c>,
    pub(super) back_ends: BackEnds,
    pub(super) event: &'c Event<'c>,
    /// One for each field.
    pub(super) arguments: Vec<Argument>,
}

impl<'c> Context<'c> {
    pub(super) fn new(provider: &'c Provider<'c>, event: &'c Event<'c>, back_ends: BackEnds) -> Self {
        let arguments = event.arguments.iter().map(argument).collect();
        Context { provider, back_ends, event, arguments }
    }
}
