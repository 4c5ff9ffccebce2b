//! What `valkey.toml` says about Valkey.

use lttng_catalog::{Catalog, FieldType, Measure, Unit};

fn valkey() -> Catalog {
    Catalog::parse("valkey.toml", lttng_catalog::VALKEY).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_six_providers_have_35_events() {
    let catalog = valkey();
    let counts: Vec<(&str, usize)> =
        catalog.providers.iter().map(|provider| (provider.name.as_str(), provider.events.len())).collect();
    let expected = [
        ("valkey_commands", 1),
        ("valkey_server", 7),
        ("valkey_rdb", 2),
        ("valkey_db", 8),
        ("valkey_cluster", 8),
        ("valkey_aof", 9),
    ];
    assert_eq!(counts, expected);
}

#[test]
fn every_event_has_a_duration_in_microseconds() {
    for (provider, event) in valkey().events() {
        let name = event.meaning.duration.as_deref().unwrap_or_default();
        let field =
            event.field(name).unwrap_or_else(|| panic!("{}:{} has no duration", provider.name, event.name));
        assert_eq!(field.unit, Some(Unit::Microseconds));
        assert_eq!(field.kind.to_string(), "u64");
    }
}

#[test]
fn command_call_has_its_five_fields_in_order() {
    let catalog = valkey();
    let event = catalog.event("valkey_commands", "command_call").unwrap();
    let names: Vec<&str> = event.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["enum_field", "addr", "laddr", "name", "duration"]);
    assert_eq!(event.fields[0].argument, "prot");
    assert_eq!(event.fields[0].kind, FieldType::Enum("protocol".into()));
}

#[test]
fn the_protocol_of_no_connection_has_no_label() {
    let catalog = valkey();
    let protocol =
        catalog.provider("valkey_commands").and_then(|provider| provider.enumeration("protocol")).unwrap();
    assert_eq!(protocol.label(-1), None);
    assert_eq!(protocol.label(2).unwrap().name, "TLS");
}

#[test]
fn repeats_and_the_sum_are_marked() {
    let catalog = valkey();
    let marked = |wanted: fn(&lttng_catalog::Meaning) -> bool| -> Vec<&str> {
        catalog
            .events()
            .filter(|(_, event)| wanted(&event.meaning))
            .map(|(_, event)| event.name.as_str())
            .collect()
    };
    let repeats =
        ["command", "fast_command", "aof_write_pending_fsync", "aof_write_active_child", "aof_write_alone"];
    assert_eq!(marked(|meaning| meaning.repeats.is_some()), repeats);
    assert_eq!(marked(|meaning| meaning.measure == Measure::Sum), ["eventloop_cron"]);
}

#[test]
fn every_event_has_advice_of_its_own() {
    let catalog = lttng_catalog::valkey_with_advice();
    let advice = |(_, event): (_, &lttng_catalog::Event)| event.meaning.advice.clone();
    let advice: Vec<String> = catalog.events().filter_map(advice).collect();
    assert_eq!(advice.len(), 35);
    assert!(advice.iter().all(|advice| advice.len() > 60 && advice.ends_with('.')), "{advice:?}");
}

#[test]
fn advice_is_beside_the_catalog_and_not_in_it() {
    assert!(!lttng_catalog::VALKEY.contains("advice"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/valkey.toml");
    assert_eq!(Catalog::read(path), Ok(valkey()));
    assert_eq!(Catalog::read_with_advice(path), Ok(lttng_catalog::valkey_with_advice()));
}

#[test]
fn wrong_advice_is_refused_with_its_position() {
    let text = "[provider.valkey_rdb.event.frok]\nadvice = \"Wait.\"\n\
                [provider.valkey_rdb.event.fork]\nadvise = \"Wait.\"\n\
                [provider.valkey_rdb.event.fork.advice-for]\nx = \"Wait.\"\n";
    let errors = valkey().add_advice("wrong.toml", text).unwrap_err().to_string();
    let expected = "\
        wrong.toml:1:28: valkey_rdb → frok: the catalog has no event `valkey_rdb:frok`\n\
        wrong.toml:4:1: valkey_rdb → fork: unknown key `advise`; did you mean `advice`?\n\
        wrong.toml:5:1: valkey_rdb → fork: advice for single groups needs `group-by`: its keys are values of the first \
        of those fields";
    assert_eq!(errors, expected);
}
