use super::*;
use crate::datum::Datum;
use crate::durations::histogram::IMPLAUSIBLE;
use crate::groups::group::Figures;
use crate::groups::quantile::Quantile;
use crate::outliers::verdict::{Resolution, Series};
use crate::reading::synthetic::{SyntheticSource, by, class};
use crate::unit::TimeUnit;
use ctf_reader::{FieldKind, Value};

const FIELDS: [(&str, FieldKind); 2] = [("key", FieldKind::Integer), ("latency_us", FieldKind::Integer)];

fn made(events: impl Iterator<Item = (u64, u64)>) -> SyntheticSource {
    let mut made = SyntheticSource::new(class("app:request", &FIELDS));
    events.for_each(|(key, latency)| made.add(vec![Value::Unsigned(key), Value::Unsigned(latency)]));
    made
}

/// What is said of each group, in its order.
fn said(summary: &Summary) -> Vec<(Vec<Datum>, u64, u128, Option<u64>)> {
    let said = |group: &Group| {
        let durations = &group.figures.durations;
        (group.key(), group.figures.count(), durations.total(), durations.percentile(Quantile::P99))
    };
    summary.groups.iter().map(said).collect()
}

#[test]
fn result_does_not_depend_on_how_events_are_dealt_out() {
    let mut made = made((0..3000).map(|n| (n % 7, n * n % 1000)));
    let whole = made.analyse(|reading| summarise(reading, &by(&["key"]), Sort::Total, 100)).unwrap();
    assert_eq!(whole.groups.len(), 7);
    for parts in [2, 3, 16] {
        made.parts = parts;
        let dealt = made.analyse(|reading| summarise(reading, &by(&["key"]), Sort::Total, 100)).unwrap();
        assert_eq!(said(&dealt), said(&whole));
    }
}

#[test]
fn too_many_keys_are_folded_the_same_way_however_events_are_dealt_out() {
    // Key 0 is heavy, and a thousand others are light.
    let mut made = made((0..8000).map(|n| if n % 4 == 0 { (0, 500) } else { (n % 1000, n % 3) }));
    for sort in [Sort::Total, Sort::Count, Sort::Max, Sort::Percentile(Quantile::P99), Sort::Mean] {
        made.parts = 1;
        let whole = made.analyse(|reading| summarise(reading, &by(&["key"]), sort, 50)).unwrap();
        let folded = whole.folded.clone().expect("there are more than 50 keys");
        assert!((1..=50).contains(&whole.groups.len()));
        assert_eq!((whole.groups[0].key(), whole.groups[0].figures.count()), (vec![Datum::Integer(0)], 2000));
        let tracked: u64 = whole.groups.iter().map(|group| group.figures.count()).sum();
        assert_eq!(folded.count + tracked, 8000);
        let total: u128 = whole.groups.iter().map(Group::total_ns).sum();
        let exact: u64 = (0..8000).map(|n| if n % 4 == 0 { 500 } else { n % 3 }).sum();
        assert_eq!(folded.total_ns + total, u128::from(exact) * 1000);
        assert_eq!(whole.pools[0].1.count(), 8000);
        for parts in [2, 3, 16] {
            made.parts = parts;
            let dealt = made.analyse(|reading| summarise(reading, &by(&["key"]), sort, 50)).unwrap();
            assert_eq!(said(&dealt), said(&whole), "{sort:?} in {parts} parts");
            assert_eq!(dealt.folded.as_ref(), Some(&folded));
        }
    }
}

#[test]
fn far_more_keys_than_the_cap_stay_bounded() {
    let mut made = made((0..200_000).map(|n| (n, 1)));
    let found = made.analyse(|reading| summarise(reading, &by(&["key"]), Sort::Total, 1000)).unwrap();
    assert!(found.groups.len() <= 1000);
    let tracked: u64 = found.groups.iter().map(|group| group.figures.count()).sum();
    assert_eq!(found.folded.unwrap().count + tracked, 200_000);
}

#[test]
fn implausible_durations_are_counted_and_enter_no_figure() {
    let mut made = made([(1, 5), (1, u64::MAX), (1, 1 << 63), (1, 7)].into_iter());
    let found = made.analyse(|reading| summarise(reading, &by(&["key"]), Sort::Total, 10)).unwrap();
    let figures = &found.groups[0].figures;
    assert_eq!((figures.count(), figures.implausible), (4, 2));
    assert_eq!((figures.durations.count(), figures.durations.total()), (2, 12));
    assert_eq!(figures.durations.max(), Some(7));
}

#[test]
fn negative_and_broken_float_durations_are_implausible() {
    let integers = (FieldKind::Integer, [Value::Signed(-1), Value::Signed(i64::MIN), Value::Signed(2)]);
    let floats = (FieldKind::Float, [Value::Float(f64::NAN), Value::Float(-0.5), Value::Float(2.0)]);
    let mut selection = Selection::clone(&by(&[]));
    selection.dictionary.duration = Some(("elapsed".to_owned(), Some(TimeUnit::Seconds)));
    let selection = Arc::new(selection);
    for (kind, values) in [integers, floats] {
        let mut made = SyntheticSource::new(class("app:request", &[("elapsed", kind)]));
        values.into_iter().for_each(|value| made.add(vec![value]));
        let found = made.analyse(|reading| summarise(reading, &selection, Sort::Total, 10)).unwrap();
        assert_eq!((found.groups[0].figures.count(), found.groups[0].figures.implausible), (3, 2));
        assert_eq!(found.groups[0].total_ns(), 2_000_000_000);
    }
}

#[test]
fn events_without_a_duration_are_counted_and_have_no_figures() {
    let mut made =
        SyntheticSource::new(class("valkey_commands:command_call_entry", &[("name", FieldKind::Text)]));
    made.add(vec![Value::Text(b"get")]);
    made.add(vec![Value::Text(b"get")]);
    let found = made.analyse(|reading| summarise(reading, &by(&["name"]), Sort::Total, 10)).unwrap();
    assert_eq!(found.groups[0].figures.count(), 2);
    assert_eq!((found.groups[0].max_ns(), found.groups[0].mean_ns()), (None, None));
}

#[test]
fn equal_weights_are_ordered_by_name_and_key() {
    let mut made = made([(3, 1), (1, 1), (2, 1)].into_iter());
    let found = made.analyse(|reading| summarise(reading, &by(&["key"]), Sort::Count, 10)).unwrap();
    let keys: Vec<_> = found.groups.iter().flat_map(Group::key).collect();
    assert_eq!(keys, [Datum::Integer(1), Datum::Integer(2), Datum::Integer(3)]);
}

#[test]
fn a_field_that_no_event_has_is_named_with_those_that_there_are() {
    let mut made = made([(1, 1)].into_iter());
    let failure = made.analyse(|reading| summarise(reading, &by(&["kee"]), Sort::Count, 10)).unwrap_err();
    let Failure::Misfit(Misfit::Field { name, known }) = failure else { panic!("{failure:?}") };
    assert_eq!((&*name, known.len()), ("kee", 2));
}

#[test]
fn long_keys_are_told_apart_by_their_beginning() {
    let mut made = SyntheticSource::new(class(
        "app:request",
        &[("text", FieldKind::Text), ("latency_us", FieldKind::Integer)],
    ));
    for end in [b'a', b'b'] {
        let mut text = vec![b'x'; 100_000];
        text.push(end);
        made.add(vec![Value::Text(text.leak()), Value::Unsigned(1)]);
    }
    let found = made.analyse(|reading| summarise(reading, &by(&["text"]), Sort::Count, 10)).unwrap();
    assert_eq!(found.groups.len(), 1);
    let key = found.groups[0].key();
    assert!(matches!(&key[..], [Datum::Text(text)] if (4000..4096).contains(&text.len())));
}

#[test]
fn brief_durations_that_are_counted_first_are_added_as_one_by_one() {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let context = &Resolution::new(1_000_000_000);
    let mut counts = BriefCounts::default();
    for round in 0..300 {
        // More groups than are counted, and some that are not in the cache.
        let known = random.u64(1..50);
        let brief = |key: u64| Brief::from(&Value::Unsigned(key));
        let mut groups = [Groups::<Tally<Series>>::default(), Groups::default()];
        for key in 0..known {
            groups.iter_mut().for_each(|groups| {
                groups.recallable(0, brief(key), &key.to_le_bytes(), Tally::default);
            });
        }
        let events = random.usize(0..300);
        let briefs: Vec<Brief> = (0..events).map(|_| brief(random.u64(..known + 2))).collect();
        let most = [4, 64, 5_000, u64::MAX][random.usize(..4)];
        let durations: Vec<u64> = (0..events).map(|_| random.u64(..=most)).collect();
        let moment = Series::moment(random.i64(..), context);
        let batch = Known::<Series> { briefs: &briefs, durations: &durations, moment, context };
        let mut others = [Vec::new(), Vec::new()];
        let [one_by_one, counted] = &mut groups;
        batch.take(one_by_one.of_kind(0), 0..events, &mut others[0]);
        batch.take_brief(counted.of_kind(0), 0..events, &mut counts, &mut others[1]);
        assert_eq!(others[0], others[1], "seed {seed}, round {round}");
        let said = groups.map(|groups| {
            let said = groups.into_entries().map(|(_, key, mut tally)| {
                tally.extra.finish(context);
                let Figures { implausible, durations, .. } = tally.figures;
                (key, implausible, durations.total(), durations.buckets(), tally.extra.cells().to_vec())
            });
            said.collect::<Vec<_>>()
        });
        assert_eq!(said[0], said[1], "seed {seed}, round {round}");
        let implausible = durations.iter().filter(|ticks| **ticks >= IMPLAUSIBLE).count() as u64;
        assert!(said[0].iter().map(|said| said.1).sum::<u64>() <= implausible);
    }
}
