//! Several collectors in one reading.

use std::convert::Infallible;
use std::ops::ControlFlow::{self, Continue};
use std::sync::Arc;

use ctf_reader::{Collect, EventClass, Events, Wanted};

/// A collector that can share a reading with others.
pub(crate) trait CollectBeside: Collect<Stop = Infallible> {
    /// Asks for the fields of a class besides those that others want, and says whether its events are wanted.
    fn want_besides(&mut self, class: &Arc<EventClass>, wanted: &mut Wanted) -> bool;

    /// What to want if it is alone: [`Collect::want`].
    fn want_alone(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        let mut wanted = Wanted::of(class);
        self.want_besides(class, &mut wanted).then_some(wanted)
    }
}

/// Two collectors that share a reading: reading takes more time than anything that is done with it. Each sees the events
/// that either wants.
pub(crate) struct Pair<A, B>(pub A, pub B);

impl<A: CollectBeside, B: CollectBeside> CollectBeside for Pair<A, B> {
    fn want_besides(&mut self, class: &Arc<EventClass>, wanted: &mut Wanted) -> bool {
        self.0.want_besides(class, wanted) | self.1.want_besides(class, wanted)
    }
}

impl<A: CollectBeside, B: CollectBeside> Collect for Pair<A, B> {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        self.want_alone(class)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let (Continue(()), Continue(())) = (self.0.events(events), self.1.events(events));
        Continue(())
    }

    fn split(&self) -> Self {
        Pair(self.0.split(), self.1.split())
    }

    fn absorb(&mut self, Pair(one, other): Self) {
        self.0.absorb(one);
        self.1.absorb(other);
    }
}
