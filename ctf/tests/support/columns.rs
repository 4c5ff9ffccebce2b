//! Events of a class that are handed over together: whatever is read of all at once, beside one event after the other.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use ctf_reader::{Brief, EventClass, Events, Field, FieldKind, Sample, Selected, Wanted};

use super::text;

/// Panics if reading in one way and in another differ, for any field of the class.
#[track_caller]
pub fn check(class: &Arc<EventClass>, events: &Events<'_>) {
    let mut wanted = Wanted::all(class);
    let mut times = Vec::new();
    events.timestamps(&mut times);
    assert!(times.iter().copied().eq(events.iter().map(|event| event.timestamp())));
    check_ranges(events, &times);
    for (index, field) in wanted.clone().fields().enumerate() {
        let mut briefs = Vec::new();
        events.briefs(field, &mut briefs);
        let values = || events.iter().map(|event| event.value(field));
        assert!(briefs.into_iter().eq(values().map(|value| Brief::from(&value))));
        let is_like_the_first = |value| text(&value) == text(&events.get(0).value(field));
        assert!(!events.are_common([field]) || values().all(is_like_the_first));
        check_places(events, field);
        if class.fields[index].kind == FieldKind::Integer {
            check_integers(events, wanted.field_at(index).expect("it is an integer"), &times);
        }
    }
    let fields: Vec<Field> = wanted.fields().collect();
    for together in fields.windows(3) {
        let together = [together[0], together[1], together[2]];
        assert_eq!(events.are_common(together), together.iter().all(|&field| events.are_common([field])));
    }
}

fn check_integers(events: &Events<'_>, field: Field<u64>, times: &[i64]) {
    let mut integers = Vec::new();
    events.integers(field, &mut integers);
    let values = events.iter().map(|event| event.value(field));
    assert!(integers.iter().copied().eq(values));
    // Of all that there are, half, and the largest.
    let mut sorted = integers.clone();
    sorted.sort_unstable();
    let some = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    for least in [0, some, sorted.last().copied().unwrap_or_default(), u64::MAX] {
        for sample in [Sample::NONE, Sample::of(1, 3), Sample::ALL] {
            let mut selected = Vec::new();
            events.select(field, least, sample, &mut selected);
            let all = integers.iter().zip(times).enumerate();
            let expected = all
                .map(|(number, (&integer, &timestamp))| Selected { number, integer, timestamp })
                .filter(|one| one.integer >= least || sample.has(one.timestamp));
            assert!(selected.iter().copied().eq(expected), "{least} {sample:?}: {selected:?}");
        }
    }
}

/// Panics if events with the same bytes in the place of a field have other values.
fn check_places(events: &Events<'_>, field: Field) {
    let mut values: HashMap<(Range<usize>, Vec<u8>), String> = HashMap::new();
    for event in events.iter() {
        let Some(place) = event.place(field) else { continue };
        let bytes = event.bytes(&place).expect("they are at hand where places are known");
        assert_eq!(bytes.len(), place.len());
        let value = text(&event.value(field));
        let known = values.entry((place, bytes.to_vec())).or_insert_with(|| value.clone());
        assert_eq!(*known, value);
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
