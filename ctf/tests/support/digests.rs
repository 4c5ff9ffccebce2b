//! Events as their digester saw them, whichever thread that was on.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use ctf_reader::{Digest, Digester, Event, EventClass, Events, OrderedEvent, Reader, Wanted};

use super::{columns, text};

/// Makes a digest of all values of an event, and reads them in all other ways, too.
pub struct AllValues(HashMap<usize, Arc<EventClass>>);

impl AllValues {
    pub fn of(reader: &Reader) -> Arc<AllValues> {
        Arc::new(AllValues(reader.classes().map(|class| (class.index, Arc::clone(class))).collect()))
    }

    /// Panics if an event is not the one that its digest was made of.
    #[track_caller]
    pub fn check(&self, event: &OrderedEvent<'_>) {
        let events = event.events();
        assert_eq!(event.digest(), digest(&self.0[&events.class], &events.get(0)));
    }
}

impl Digester for AllValues {
    fn digest(&self, events: &Events<'_>, into: &mut [Digest]) {
        assert_eq!(events.count, into.len());
        let class = &self.0[&events.class];
        columns::check(class, events);
        for (event, into) in events.iter().zip(into) {
            assert_eq!(*into, Digest::default());
            *into = digest(class, &event);
        }
    }
}

fn digest(class: &Arc<EventClass>, event: &Event<'_>) -> Digest {
    let mut hasher = DefaultHasher::new();
    Wanted::all(class).fields().for_each(|field| text(&event.value(field)).hash(&mut hasher));
    class.index.hash(&mut hasher);
    [hasher.finish(), event.timestamp() as u64]
}
