use super::*;
use crate::reading::synthetic::{SyntheticSource, by, class};
use ctf_reader::{FieldKind, Value};

const FIELDS: [(&str, FieldKind); 2] = [("name", FieldKind::Text), ("duration_us", FieldKind::Integer)];

fn made() -> SyntheticSource {
    let mut made = SyntheticSource::new(class("app:request", &FIELDS));
    for n in 0..20_000 {
        made.add(vec![Value::Text(b"get"), Value::Unsigned(n % 2)]);
    }
    for (name, duration) in [(&b"keys"[..], 106_000), (b"get", 9_000), (b"get", u64::MAX), (b"ping", 1)] {
        made.add(vec![Value::Text(name), Value::Unsigned(duration)]);
    }
    made
}

fn found(made: &mut SyntheticSource, limit: usize, cap: usize) -> Outliers {
    made.analyse(|reading| outliers(reading, &by(&["name"]), &Rule::default(), false, limit, cap)).unwrap()
}

#[test]
fn a_slow_command_seen_once_is_found_and_a_broken_sample_is_none() {
    let found = found(&mut made(), 10, 100);
    let durations: Vec<u128> = found.events.iter().map(|outlier| outlier.event.duration.0).collect();
    assert_eq!(durations, [106_000_000, 9_000_000]);
    assert_eq!(found.events[0].rule, Basis::Event);
    assert_eq!(found.events[1].rule, Basis::Own);
    assert_eq!((found.found, found.judged, found.implausible), (2, 20_003, 1));
}

#[test]
fn result_does_not_depend_on_how_events_are_dealt_out() {
    let said = |made: &mut SyntheticSource| {
        let found = found(made, 1, 100);
        let findings = (&found.events, &found.modes, &found.periods, found.found);
        (
            serde_json::to_string(&findings).unwrap(),
            [found.events.len(), found.modes.len(), found.periods.len()],
        )
    };
    let mut made = made();
    // A slow mode of another command, and a time in which all are slower.
    for n in 0..20_000 {
        let duration =
            if n % 100 == 0 { 7_000 + n } else { 10 * (1 + n % 3) * if n > 15_000 { 4 } else { 1 } };
        made.add(vec![Value::Text(b"set"), Value::Unsigned(duration)]);
    }
    let whole = said(&mut made);
    assert_eq!(whole.1, [1, 1, 1], "{}", whole.0);
    for parts in [2, 5] {
        made.parts = parts;
        assert_eq!(said(&mut made), whole);
    }
}

#[test]
fn folded_groups_are_judged_by_all_of_their_event() {
    let found = found(&mut made(), 10, 1);
    assert_eq!(found.events[0].event.duration.0, 106_000_000);
    assert_eq!(found.events[0].rule, Basis::Event);
}
