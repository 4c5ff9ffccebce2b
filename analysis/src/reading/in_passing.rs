//! A collector that works in passing: where a reading in the order of time finds events, before it puts them in order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ctf_reader::{ClassIndex, Digest, Digester, EventClass, Events, Wanted};

use super::beside::CollectBeside;
use super::grown::grown;

/// A collector that can work in passing.
pub(crate) trait CollectInPassing: CollectBeside + Sync {
    /// Counts events of a class that it wants without any field.
    fn count(&mut self, class: ClassIndex, events: u64);
}

/// Has a collector see events that are read for something else.
#[derive(Debug)]
pub(crate) struct InPassing<C> {
    collector: C,
    /// Whether it wants the events of each class.
    wants: Vec<bool>,
}

impl<C: CollectInPassing> InPassing<C> {
    pub fn new(collector: C) -> Self {
        InPassing { collector, wants: Vec::new() }
    }

    /// Asks for the fields of a class besides those that its events are read with. If they are not, they are only counted.
    pub fn want(&mut self, class: &Arc<EventClass>, mut read: Option<Wanted>) -> Option<Wanted> {
        let mut none = Wanted::of(class);
        let wanted = read.as_mut().unwrap_or(&mut none);
        *grown(&mut self.wants, class.index) = self.collector.want_besides(class, wanted);
        read
    }

    /// What sees the events that a digester does.
    pub fn with(self, digester: Arc<dyn Digester>) -> DigesterWith<C> {
        DigesterWith { passing: self, digester, parts: Mutex::default() }
    }
}

/// A digester, and a collector that sees the same events.
pub(crate) struct DigesterWith<C> {
    passing: InPassing<C>,
    digester: Arc<dyn Digester>,
    /// What those have collected who are not at work.
    parts: Mutex<Vec<C>>,
}

impl<C: CollectInPassing> DigesterWith<C> {
    /// What was collected.
    pub fn finish(&self) -> C {
        let mut all = self.passing.collector.split();
        self.parts().drain(..).for_each(|part| all.absorb(part));
        all
    }

    fn collect(&self, class: ClassIndex, collect: impl FnOnce(&mut C)) {
        if self.passing.wants.get(class) == Some(&true) {
            let idle = self.parts().pop();
            let mut part = idle.unwrap_or_else(|| self.passing.collector.split());
            collect(&mut part);
            self.parts().push(part);
        }
    }

    fn parts(&self) -> MutexGuard<'_, Vec<C>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: CollectInPassing> Digester for DigesterWith<C> {
    fn digest(&self, events: &Events<'_>, into: &mut [Digest]) {
        self.digester.digest(events, into);
        self.collect(events.class, |part| _ = part.events(events));
    }

    fn mark_counted(&self, classes: &mut dyn Iterator<Item = (ClassIndex, &mut bool)>) {
        self.digester.mark_counted(classes);
    }

    fn count(&self, class: ClassIndex, events: u64) {
        self.digester.count(class, events);
        self.collect(class, |part| part.count(class, events));
    }
}
