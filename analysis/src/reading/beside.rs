//! Several collectors in one reading.

use std::convert::Infallible;
use std::ops::ControlFlow::{self, Continue};
use std::sync::Arc;

use ctf_reader::{Collect, EventClass, Events};

use crate::reading::slots::Slots;

/// A collector that can share a reading with others.
pub(crate) trait CollectBeside: Collect<Stop = Infallible> {
    /// Like [`Collect::want`], with some fields already requested, which the answer begins with. If no event of the class
    /// counts, it may be another list.
    fn want_besides(&mut self, class: &Arc<EventClass>, slots: Slots) -> Option<Vec<usize>>;
}

/// Two collectors that share a reading: reading takes more time than anything that is done with it. Each sees the events
/// that either wants.
pub(crate) struct Pair<A, B>(pub A, pub B);

impl<A: CollectBeside, B: CollectBeside> CollectBeside for Pair<A, B> {
    fn want_besides(&mut self, class: &Arc<EventClass>, slots: Slots) -> Option<Vec<usize>> {
        let one = self.0.want_besides(class, Slots(slots.0.clone()));
        let is_wanted = one.is_some();
        let slots = one.filter(|wanted| wanted.starts_with(&slots.0)).unwrap_or(slots.0);
        let other = self.1.want_besides(class, Slots(slots.clone()));
        let is_wanted = is_wanted || other.is_some();
        is_wanted.then(|| other.filter(|wanted| wanted.starts_with(&slots)).unwrap_or(slots))
    }
}

impl<A: CollectBeside, B: CollectBeside> Collect for Pair<A, B> {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        self.want_besides(class, Slots::default())
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
