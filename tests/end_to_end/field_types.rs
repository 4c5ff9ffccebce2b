//! Every field type of the catalog, and strings of all kinds, arrive as they were sent.

use crate::support::{NO_ARGUMENTS, fixture, scenario};
use lttng_testing::{Daemon, Event};

#[test]
fn every_type_arrives() {
    let daemon = Daemon::start();
    let events = daemon.record(&["every_type:*"], fixture("every-type"), NO_ARGUMENTS).events();
    let expected = [
        ("unsigned", "a = 1, b = 2, c = 3, d = 4"),
        ("signed", "a = -1, b = -2, c = -3, d = -4"),
        ("hexadecimal", "a = 0x1A, b = 0x2B, c = 0x3C, d = 0x4D"),
        ("network", "a = 1, b = 4660, c = -2, d = 0x102030405060708"),
        (
            "others",
            r#"single = 0.5, double = -0.25, truth = 1, direction = ( "AHEAD" : container = 7 ), size = ( "none at all" : container = 0 )"#,
        ),
        (
            "texts",
            r#"string = "string", _text_length = 4, text = "text", _short_length = 5, short = "short", tag = "tag", _bytes_length = 3, bytes = [ [0] = 0x0, [1] = 0x7F, [2] = 0xFF ]"#,
        ),
        (
            "arrays",
            "a = [ [0] = 1, [1] = 2 ], b = [ [0] = -3, [1] = 4, [2] = -5 ], c = [ [0] = 0xA, [1] = 0xB ], d = [ [0] = 4660, [1] = 2 ], e = [ [0] = -6 ]",
        ),
        (
            "sequences",
            "_a_length = 3, a = [ [0] = 1, [1] = 2, [2] = 3 ], _b_length = 1, b = [ [0] = -1 ], _c_length = 2, c = [ [0] = 0xC, [1] = 0xD ], _d_length = 2, d = [ [0] = -7, [1] = 8 ]",
        ),
        ("filters", "kept = 1"),
        ("nothing", ""),
        ("first", r#"type = "first", elapsed = 1, _parts_length = 1, parts = [ [0] = 1 ]"#),
        ("second", r#"type = "second", elapsed = 2, _parts_length = 2, parts = [ [0] = 2, [1] = 2 ]"#),
        ("debug_function", ""),
        ("debug", ""),
        ("unsigned", "a = 255, b = 65535, c = 4294967295, d = 18446744073709551615"),
        ("signed", "a = -128, b = -32768, c = -2147483648, d = -9223372036854775808"),
        ("signed", "a = 127, b = 32767, c = 2147483647, d = 9223372036854775807"),
        ("hexadecimal", "a = 0xFF, b = 0xFFFF, c = 0xFFFFFFFF, d = 0xFFFFFFFFFFFFFFFF"),
        ("network", "a = 255, b = 1, c = -2147483648, d = 0xFFFFFFFFFFFFFFFE"),
        (
            "others",
            r#"single = 3.40282e+38, double = 2.22507e-308, truth = 0, direction = ( <unknown> : container = -128 ), size = ( "HUGE" : container = 18446744073709551615 )"#,
        ),
        (
            "others",
            r#"single = -inf, double = nan, truth = 0, direction = ( "STAY" : container = 0 ), size = ( <unknown> : container = 5 )"#,
        ),
        (
            "texts",
            r#"string = "", _text_length = 0, text = "", _short_length = 0, short = "", tag = "", _bytes_length = 0, bytes = [ ]"#,
        ),
    ];
    for (event, (name, fields)) in events.iter().zip(&expected) {
        assert_eq!(event.name, format!("every_type:{name}"));
        assert_eq!(printed(event), *fields, "{name}");
    }

    let [texts, arrays, nothing, sequences, first] = &events[expected.len()..] else { panic!("{events:?}") };
    assert_eq!(texts.field("text"), format!("\"{}\"", "t".repeat(65_535)));
    assert_eq!(texts.field("short"), format!("\"{}\"", "s".repeat(255)));
    assert_eq!(texts.field("tag"), r#""01234567""#);
    assert_eq!(arrays.field("b"), "[ [0] = -32768, [1] = 0, [2] = 32767 ]");
    assert_eq!(arrays.field("d"), "[ [0] = 0, [1] = 65535 ]");
    assert_eq!(arrays.field("e"), "[ [0] = -9223372036854775808 ]");
    assert_eq!(nothing.field("a"), "[ ]");
    assert_eq!(sequences.field("a"), "[ [0] = 18446744073709551615 ]");
    assert_eq!(sequences.field("_b_length"), "255");
    assert_eq!(sequences.field("d"), "[ [0] = -32768 ]");
    assert_eq!(first.field("elapsed"), u32::MAX.to_string(), "a duration that does not fit is the largest");
}

#[test]
fn log_levels_and_model_uri_are_declared() {
    let daemon = Daemon::start();
    let declarations = daemon.record(&["every_type:*"], fixture("every-type"), NO_ARGUMENTS).declarations();
    let levels = [
        ("unsigned", 0),
        ("signed", 1),
        ("hexadecimal", 2),
        ("network", 3),
        ("others", 4),
        ("texts", 5),
        ("arrays", 6),
        ("sequences", 7),
        ("filters", 8),
        ("nothing", 9),
        ("first", 10),
        ("second", 11),
        ("debug_function", 12),
        ("debug", 14),
    ];
    for (name, level) in levels {
        let declaration = &declarations[&format!("every_type:{name}")];
        assert!(declaration.contains(&format!("loglevel = {level};")), "{declaration}");
    }
    let texts = &declarations["every_type:texts"];
    assert!(texts.contains(r#"model.emf.uri = "https://example.org/every-type?kind=texts";"#), "{texts}");
}

#[test]
fn strings_of_all_kinds_arrive_up_to_their_first_nul() {
    let daemon = Daemon::start();
    let events = daemon.record(&["valkey_commands:*"], scenario(), ["strings"]).events();
    let [empty, kinds, odd, long, nobody] = &events[..] else { panic!("{events:?}") };

    assert_eq!(
        printed(empty),
        r#"enum_field = ( "SOCKET" : container = 0 ), addr = "", laddr = "", name = "", duration = 1"#
    );
    assert_eq!(kinds.field("addr"), r#""bytes""#);
    assert_eq!(kinds.field("laddr"), r#""terminated""#);
    assert_eq!(kinds.field("name"), r#""owned""#);

    let bytes = b"addr = \"a\xff\xfe\", laddr = \"before\", name = \"na\xc3\xafve \xe2\x98\x83\"";
    let found = odd.line.windows(bytes.len()).any(|part| part == bytes);
    assert!(found, "{}", String::from_utf8_lossy(&odd.line));

    assert_eq!(long.field("addr"), format!("\"{}\"", "x".repeat(64 * 1024)));
    assert_eq!(long.field("laddr"), format!("\"{}\"", "y".repeat(64 * 1024)), "cut at 64 KiB, as documented");
    assert_eq!(long.field("name"), r#""long""#);

    assert_eq!(nobody.field("enum_field"), "( <unknown> : container = -1 )");
    assert_eq!(nobody.field("addr"), r#""""#);
    assert_eq!(nobody.field("duration"), u64::MAX.to_string());
}

#[test]
fn fields_for_filters_alone_are_seen_by_filters() {
    let accepting =
        "number == 2 && fraction > 3.4 && truth == 1 && way == -1 && string == \"four\" && list[0] == 5";
    let daemon = Daemon::start();
    for (filter, recorded) in
        [(accepting, 1), ("number == 3", 0), ("string == \"five\"", 0), ("list[0] == 6", 0)]
    {
        let session = daemon.recording_with(&["every_type:filters"], &["--filter", filter], &[]);
        daemon.run(fixture("every-type"), NO_ARGUMENTS);
        assert_eq!(session.stop().events().len(), recorded, "{filter}");
    }
}

/// The fields as Babeltrace prints them.
fn printed(event: &Event) -> String {
    let fields: Vec<_> = event.fields.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    fields.join(", ")
}
