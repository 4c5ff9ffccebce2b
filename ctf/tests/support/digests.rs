//! Events as their digester saw them, whichever thread that was on.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use ctf_reader::{
    Brief, Digest, Digester, Event, EventClass, Events, Field, FieldKind, OrderedEvent, Reader, Wanted,
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
            let is_like_the_first = |value| text(&value) == text(&events.get(0).value(field));
            assert!(!events.are_common([field]) || values().all(is_like_the_first));
            if class.fields[index].kind == FieldKind::Integer {
                let field = wanted.field_at(index).expect("it is an integer");
                events.integers(field, &mut integers);
                assert!(integers.into_iter().eq(values().map(|value| value.integer().expect("it is one"))));
            }
        }
        let fields: Vec<Field> = wanted.fields().collect();
        for together in fields.windows(3) {
            let together = [together[0], together[1], together[2]];
            assert_eq!(events.are_common(together), together.iter().all(|&field| events.are_common([field])));
        }
        let mut times = Vec::new();
        events.timestamps(&mut times);
        assert!(times.iter().copied().eq(events.iter().map(|event| event.timestamp())));
        check_ranges(events, &times);
        for (event, into) in events.iter().zip(into) {
            assert_eq!(*into, Digest::default());
            *into = digest(class, &event);
        }
    }
}

/// Panics if ranges of events that are close together leave any out, or are not as long as they can be.
fn check_ranges(events: &Events<'_>, times: &[i64]) {
    let (until, mut from) = (|time: i64| time | 0xffff, 0);
    for (range, time) in events.ranges(until) {
        assert_eq!((range.start, time), (from, times[from]));
        assert!(times[range.clone()].iter().all(|&of_range| of_range <= until(time)));
        assert!(times.get(range.end).is_none_or(|&next| next > until(time)));
        from = range.end;
    }
    assert_eq!(from, events.count);
}

fn digest(class: &Arc<EventClass>, event: &Event<'_>) -> Digest {
    let mut hasher = DefaultHasher::new();
    Wanted::all(class).fields().for_each(|field| text(&event.value(field)).hash(&mut hasher));
    class.index.hash(&mut hasher);
    [hasher.finish(), event.timestamp() as u64]
}
