//! Catalogs that a program made or changed through their public fields are refused or generated, and never a panic.

use std::slice::from_ref;

use fastrand::Rng;
use lttng_catalog::{Catalog, EventName, FieldType, valkey};
use lttng_provider_build::{COptions, Options, c_sources, generate};

#[test]
fn enum_that_does_not_exist_is_an_error() {
    let mut catalog = valkey();
    catalog.providers[0].enums.clear();
    assert_refused(&catalog, "has no enum `protocol`");
}

#[test]
fn structure_that_no_file_can_have_is_an_error() {
    let mut catalog = valkey();
    let twin = catalog.providers[1].events[0].clone();
    catalog.providers[1].events.push(twin);
    assert_refused(&catalog, "duplicate event `");

    let mut catalog = valkey();
    catalog.providers[1].name.clear();
    assert_refused(&catalog, "the name of the provider is empty");

    let mut catalog = valkey();
    let event = catalog.providers.iter_mut().flat_map(|p| &mut p.events).find(|event| event.class.is_some());
    event.expect("Valkey has classes").fields.clear();
    assert_refused(&catalog, "the fields are not those of the class");
}

#[test]
fn any_change_is_refused_or_generated() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let mut options = Options::default();
    (options.back_ends.lttng, options.back_ends.usdt) = (true, true);
    let (mut refused, mut generated) = (0, 0);
    for _ in 0..100 {
        let mut catalog = valkey();
        for _ in 0..=random.u64(..2) {
            change(&mut catalog, &mut random);
        }
        let rust = generate(from_ref(&catalog), &options);
        assert_eq!(rust.is_ok(), c_sources(&[catalog], &COptions::default()).is_ok());
        *(if rust.is_ok() { &mut generated } else { &mut refused }) += 1;
    }
    assert!(refused > 30 && generated > 3, "{refused} refused, {generated} generated: no test of both");
}

/// Changes one thing that a field of the model allows.
fn change(catalog: &mut Catalog, random: &mut Rng) {
    let names = ["", "enum_field", "duration", "a b", "type", "self", "unix", "µ", "x"];
    let any = |random: &mut Rng| names[random.usize(..names.len())].to_owned();
    let count = catalog.providers.len();
    let provider = &mut catalog.providers[random.usize(..count)];
    let count = provider.events.len();
    let event = &mut provider.events[random.usize(..count)];
    match random.u64(..12) {
        0 => provider.name = any(random),
        1 => provider.enums.clear(),
        2 => provider.classes.clear(),
        3 => event.name = any(random),
        4 => event.class = Some(any(random)),
        5 => event.meaning.duration = Some(any(random)),
        6 => event.meaning.repeats = Some(EventName { provider: any(random), event: any(random) }),
        7 => event.meaning.group_by.push(any(random)),
        8 => event.model_uri = Some(any(random)),
        9 => event.fields.clear(),
        10 => event.doc = any(random),
        _ => {
            let index = random.usize(..event.fields.len().max(1));
            let Some(field) = event.fields.get_mut(index) else { return };
            match random.u64(..6) {
                0 => field.name = any(random),
                1 => field.argument = any(random),
                2 => field.kind = FieldType::Enum(any(random)),
                3 => field.kind = FieldType::TextArray(random.u64(..3) as u32 * 300_000),
                4 => field.kind = FieldType::Stack,
                _ => field.recorded = false,
            }
        }
    }
}

#[track_caller]
fn assert_refused(catalog: &Catalog, because: &str) {
    let errors = [
        generate(from_ref(catalog), &Options::default()).err(),
        c_sources(from_ref(catalog), &COptions::default()).err(),
    ];
    for error in errors {
        let error = error.expect("it was generated").to_string();
        assert!(error.contains(because), "{error}");
    }
}
