//! Who receives live events.

use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{DigestedEvent, Digester, EventClass, Gap, Wanted};

/// Receives events.
pub trait Audience {
    /// The fields that the events of a class, recorded on this machine, are needed with.
    fn class(&mut self, class: &Arc<EventClass>, host: Option<&str>) -> Option<Wanted>;

    /// What works on events where they are read, if anything does.
    fn digester(&self) -> Option<Arc<dyn Digester>> {
        None
    }

    /// Receives a gap in the events.
    fn gap(&mut self, _: Gap) {}

    /// Receives an event, and says whether it wants more.
    fn event(&mut self, event: DigestedEvent<'_>) -> ControlFlow<()>;
}
