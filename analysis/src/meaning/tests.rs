use super::*;
use crate::reading::synthetic::class;

const TEXT: FieldKind = FieldKind::Text;
const INTEGER: FieldKind = FieldKind::Integer;

fn dictionary() -> Dictionary {
    Dictionary { catalogs: vec![lttng_catalog::valkey_with_advice()], duration: None }
}

fn microseconds(index: usize) -> Option<DurationField> {
    Some(DurationField { index, unit: TimeUnit::Microseconds, is_guess: false })
}

#[test]
fn every_historic_shape_of_command_call_is_understood() {
    let shapes: [&[(&str, FieldKind)]; 4] = [
        &[("name", TEXT), ("duration", INTEGER)],
        &[("prot", TEXT), ("conn", TEXT), ("name", TEXT), ("duration", INTEGER)],
        &[
            ("enum_field", FieldKind::Enum),
            ("saddr", TEXT),
            ("daddr", TEXT),
            ("name", TEXT),
            ("duration", INTEGER),
        ],
        &[
            ("enum_field", FieldKind::Enum),
            ("addr", TEXT),
            ("laddr", TEXT),
            ("name", TEXT),
            ("duration", INTEGER),
        ],
    ];
    for fields in shapes {
        let class = class("valkey_commands:command_call", fields);
        let meaning = dictionary().look_up(&class);
        let last = fields.len() - 1;
        assert_eq!(meaning.duration, microseconds(last), "{fields:?}");
        assert_eq!(meaning.group_by, [NamedField { name: "name".into(), index: last - 1 }]);
        assert_eq!(meaning.client, (last > 1).then_some(1), "the client of {fields:?}");
        assert_eq!(meaning.field(&class, "addr"), meaning.client);
        assert_eq!(meaning.field(&class, "client"), meaning.client);
        if let Some(client) = meaning.client {
            assert_eq!(meaning.field(&class, fields[client].0), Some(client), "by its recorded name");
            assert_eq!(meaning.name_of(&class, client), "addr");
        }
    }
}

#[test]
fn an_entry_without_a_duration_begins_an_interval() {
    let meaning = |name| dictionary().look_up(&class(name, &[("name", TEXT)]));
    let entry = meaning("valkey_commands:command_call_entry");
    assert_eq!((entry.duration, entry.group_by.len()), (None, 1));
    assert_eq!(entry.pair, Some(("valkey_commands:command_call".into(), Side::Begin)));
    assert_eq!(meaning("other:call_exit").pair, Some(("other:call".into(), Side::End)));
    assert_eq!(meaning("other:call").pair, None);
    let bare = self::class("valkey_commands:command_call", &[("name", TEXT)]);
    let meaning = dictionary().look_up(&bare);
    assert_eq!((meaning.duration, meaning.group_by.len()), (None, 1));
}

#[test]
fn former_names_of_events_are_known() {
    for name in ["valkey_rdb:fork", "valkey_bgsave:fork", "valkey_sys:fork"] {
        let meaning = dictionary().look_up(&class(name, &[("duration", INTEGER)]));
        assert_eq!(meaning.duration, microseconds(0), "{name}");
        assert_eq!(meaning.event.as_deref(), Some("valkey_rdb:fork"));
    }
}

#[test]
fn repeats_and_sums_are_marked() {
    let look_up = |name| dictionary().look_up(&class(name, &[("duration", INTEGER)]));
    assert_eq!(look_up("valkey_server:command").repeats.as_deref(), Some("valkey_commands:command_call"));
    assert_eq!(look_up("valkey_aof:aof_write_alone").repeats.as_deref(), Some("valkey_aof:aof_write"));
    assert!(look_up("valkey_server:eventloop_cron").is_sum);
    assert!(!look_up("valkey_server:eventloop").is_sum);
}

#[test]
fn other_events_have_a_duration_by_its_name() {
    for (field, unit, is_guess) in [
        ("duration", TimeUnit::Nanoseconds, true),
        ("latency", TimeUnit::Nanoseconds, true),
        ("elapsed", TimeUnit::Nanoseconds, true),
        ("duration_us", TimeUnit::Microseconds, false),
        ("latency_ns", TimeUnit::Nanoseconds, false),
        ("elapsed_ms", TimeUnit::Milliseconds, false),
        ("duration_s", TimeUnit::Seconds, false),
    ] {
        let class = class("app:request", &[("size", INTEGER), (field, INTEGER)]);
        let found = dictionary().look_up(&class).duration;
        assert_eq!(found, Some(DurationField { index: 1, unit, is_guess }), "{field}");
    }
    for (field, kind) in [("durations", INTEGER), ("duration", TEXT), ("took_us", INTEGER), ("_us", INTEGER)]
    {
        assert_eq!(dictionary().look_up(&class("app:request", &[(field, kind)])).duration, None, "{field}");
    }
}

#[test]
fn the_command_line_comes_first() {
    let mut dictionary = dictionary();
    dictionary.duration = Some(("took".into(), Some(TimeUnit::Milliseconds)));
    let class = class("app:request", &[("duration", INTEGER), ("took", FieldKind::Float)]);
    let given = DurationField { index: 1, unit: TimeUnit::Milliseconds, is_guess: false };
    assert_eq!(dictionary.look_up(&class).duration, Some(given));
    let other = self::class("valkey_rdb:fork", &[("duration", INTEGER)]);
    assert_eq!(dictionary.look_up(&other).duration, microseconds(0), "where there is no such field");
}

#[test]
fn the_catalogs_unit_holds_for_a_field_given_without_one() {
    let mut dictionary = dictionary();
    dictionary.duration = Some(("duration".into(), None));
    let class = class("valkey_rdb:fork", &[("duration", INTEGER)]);
    assert_eq!(dictionary.look_up(&class).duration, microseconds(0));
}

/// A class with the fields that the catalog has for an event.
fn recorded(name: String, event: &Event) -> EventClass {
    let fields: Vec<(&str, FieldKind)> = event
        .fields
        .iter()
        .map(|field| {
            let kind = match field.kind {
                FieldType::Enum(_) => FieldKind::Enum,
                FieldType::Integer(_) => INTEGER,
                _ => TEXT,
            };
            (field.name.as_str(), kind)
        })
        .collect();
    class(&name, &fields)
}

#[test]
fn events_recorded_with_a_prefix_keep_all_of_their_meaning() {
    let dictionary = dictionary();
    for (provider, event) in lttng_catalog::valkey().events() {
        let name = format!("{}:{}", provider.name, event.name);
        for prefix in ["acme_", "acme"] {
            let plain = dictionary.look_up(&recorded(name.clone(), event));
            let prefixed = dictionary.look_up(&recorded(format!("{prefix}{name}"), event));
            assert!(plain.event.is_some(), "{name}");
            assert_eq!(prefixed, plain, "{name} with {prefix}");
        }
        let advice = |name: &str, is_known| dictionary.advice(name, is_known, &[]);
        assert!(advice(&name, true).is_some());
        assert_eq!(advice(&format!("acme_{name}"), true), advice(&name, true));
        assert_eq!(advice(&format!("acme_{name}"), false), None, "it is not known to be that event");
    }
}

#[test]
fn both_ends_of_an_interval_keep_the_prefix() {
    let text = r#"
        [catalog]
        name = "shop"
        version = 1
        doc = "A shop."
        [provider.shop]
        doc = "The door."
        [provider.shop.event.opened]
        doc = "The door was opened."
        [provider.shop.event.closed]
        doc = "The door was closed."
        started-by = "shop:opened"
        "#;
    let catalog = Catalog::parse("shop.toml", text).unwrap();
    let dictionary = Dictionary { catalogs: vec![catalog], duration: None };
    let pair = |name| dictionary.look_up(&class(name, &[])).pair;
    assert_eq!(pair("acme_shop:opened"), Some(("acme_shop:closed".into(), Side::Begin)));
    assert_eq!(pair("acme_shop:closed"), Some(("acme_shop:closed".into(), Side::End)));
}

#[test]
fn a_name_that_only_ends_like_a_provider_of_the_catalog_is_another_event() {
    let call = [("enum_field", FieldKind::Enum), ("addr", TEXT), ("laddr", TEXT), ("name", TEXT)];
    let with = |last| [&call[..], &[last]].concat();
    let event = |fields: &[_]| dictionary().look_up(&class("my_valkey_commands:command_call", fields)).event;
    assert!(event(&with(("duration", INTEGER))).is_some());
    assert_eq!(event(&with(("duration", TEXT))), None);
    assert_eq!(event(&call), None);
    assert_eq!(event(&[&with(("duration", INTEGER))[..], &[("size", INTEGER)]].concat()), None);
}

#[test]
fn the_trace_itself_says_what_no_catalog_knows() {
    let fields = [("article", TEXT), ("took", INTEGER), ("paid", INTEGER), ("peer", TEXT)];
    let class = |name, uri: &str| EventClass { model_uri: Some(uri.into()), ..class(name, &fields) };
    let uri = "meaning:1;duration=took;measure=sum;unit=paid:bytes;unit=took:us;group=article;bool=paid;client=peer;new=x";
    let sale = class("shop:sale", uri);
    let meaning = dictionary().look_up(&sale);
    assert_eq!((meaning.duration, meaning.is_sum), (microseconds(1), true));
    assert_eq!(meaning.group_by, [NamedField { name: "article".into(), index: 0 }]);
    assert_eq!((meaning.client, meaning.kind(&sale, 2)), (Some(3), FieldKind::Bool));
    for uri in [
        "meaning:2;duration=took",
        "https://example.org/",
        "",
        "meaning:1;",
        "meaning:1;duration=article;group=none",
    ] {
        assert_eq!(dictionary().look_up(&class("shop:sale", uri)), ClassMeaning::default(), "{uri}");
    }
    let without_unit = dictionary().look_up(&class("shop:sale", "meaning:1;duration=took")).duration;
    assert_eq!(without_unit, Some(DurationField { index: 1, unit: UNIT_BY_DEFAULT, is_guess: true }));
    let known = dictionary().look_up(&class("valkey_rdb:fork", "meaning:1;duration=took;unit=took:us"));
    assert_eq!(known.duration, None, "a catalog comes first");
}
