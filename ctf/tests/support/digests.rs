//! Events as their digester saw them, whichever thread that was on.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use ctf_reader::{
    Brief, Digest, Digester, Event, EventClass, Events, FieldKind, OrderedEvent, Reader, Wanted,
};

use super::text;

/// Makes a digest of all values of an event, and compares those of a field with each other, however they are read.
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
        let mut wanted = Wanted::all(class);
        for (index, field) in wanted.clone().fields().enumerate() {
            let (mut briefs, mut integers) = (Vec::new(), Vec::new());
            events.briefs(field, &mut briefs);
            let values = || events.iter().map(|event| event.value(field));
            assert!(briefs.into_iter().eq(values().map(|value| Brief::from(&value))));
            if class.fields[index].kind == FieldKind::Integer {
                let field = wanted.field_at(index).expect("it is an integer");
                events.integers(field, &mut integers);
                assert!(integers.into_iter().eq(values().map(|value| value.integer().expect("it is one"))));
            }
        }
        let mut times = Vec::new();
        events.timestamps(&mut times);
        assert!(times.into_iter().eq(events.iter().map(|event| event.timestamp())));
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
