//! Structs, enums, functions and futures, recorded by a real session daemon and read back by Babeltrace.

use std::collections::BTreeSet;
use std::process::Command;

use lttng_testing::{CommandInTime as _, Daemon, Event, Program};

/// What an example of `tests/market` records with all its events enabled.
fn record(example: &str) -> Vec<Event> {
    let program = Program::example("market", example).traced().build();
    let daemon = Daemon::start();
    let session = daemon.session();
    session.enable("shop:*");
    session.enable("warehouse:*");
    session.add_context("vtid");
    session.start();
    let output = daemon.command(program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    session.stop().events()
}

/// The events of a name, each as its fields in the order of the trace.
fn values(events: &[Event], name: &str) -> Vec<Vec<String>> {
    let named = events.iter().filter(|event| event.name == name);
    named.map(|event| event.fields.iter().map(|(_, value)| value.clone()).collect()).collect()
}

/// The event of the function that is known by its number of parcels or by its order.
fn only<'e>(events: &'e [Event], field: &str, number: &str) -> &'e Event {
    let mut found = events.iter().filter(|e| e.fields.iter().any(|(n, v)| n == field && v == number));
    let event = found.next().unwrap_or_else(|| panic!("no event with {field} = {number} in {events:#?}"));
    assert_eq!(found.next(), None);
    event
}

fn number(event: &Event, field: &str) -> u64 {
    event.field(field).parse().unwrap()
}

#[test]
fn structs_and_enums_are_recorded_as_the_catalog_has_them() {
    let events = record("structs");
    assert_eq!(values(&events, "shop:opened"), [[""; 0]]);
    assert_eq!(
        values(&events, "shop:sold"),
        [
            [r#""apples""#, "3", r#"( "CASH" : container = 0 )"#],
            [r#""apples""#, "3", r#"( "CARD" : container = 1 )"#],
            [r#""apples""#, "3", r#"( "VOUCHER" : container = 12 )"#],
            [r#""apples""#, "3", "( <unknown> : container = -1 )"],
            [r#""pears""#, "1", r#"( "CASH" : container = 0 )"#],
            [r#""/plums""#, "2", r#"( "CASH" : container = 0 )"#],
            [r#""/figs""#, "3", r#"( "CASH" : container = 0 )"#],
            [r#""nuts""#, "4", r#"( "CASH" : container = 0 )"#],
        ]
    );
    let zeros = "[ [0] = 0, [1] = 0, [2] = 0 ]";
    assert_eq!(
        values(&events, "warehouse:counted"),
        [
            vec![
                "5",
                r#""row 7""#,
                r#""1234""#,
                "2",
                "[ [0] = 1, [1] = 2 ]",
                "[ [0] = -1, [1] = 0, [2] = 1 ]",
                "1.5",
                "1",
                r#"( "NORTH" : container = 1 )"#,
                "2",
            ],
            vec![
                "6",
                r#""/row/8""#,
                r#""xxxxxxxx""#,
                "0",
                "[ ]",
                zeros,
                "0",
                "0",
                "( <unknown> : container = 9 )",
                "4294967295",
            ],
            vec!["0", r#""""#, r#""""#, "0", "[ ]", zeros, "0", "0", r#"( "SOUTH" : container = 2 )"#, "0"],
        ]
    );
    assert_eq!(
        values(&events, "warehouse:scanned"),
        [["0", "[ ]", "-1"], ["2", "[ [0] = 0x0, [1] = 0xFF ]", "5"]]
    );
}

#[test]
fn functions_are_recorded_however_they_end() {
    let events = record("functions");
    let city = |parcels: &str| only(&events, "parcels", parcels).field("city").to_owned();
    assert_eq!(city("1"), format!("\"{}\"", "x".repeat(1_000)));
    assert_eq!(city("2"), r#""early""#);
    assert_eq!(city("3"), r#""no number""#);
    assert_eq!(city("4"), r#""1.5""#);
    assert_eq!(city("8"), r#""van""#, "fields are evaluated at entry");
    assert_eq!(city("9"), r#""changed""#);
    assert_eq!([city("11"), city("12"), city("13")], [r#""sum""#, r#""choice""#, r#""macro""#]);
    assert_eq!(values(&events, "shop:checkout").len(), 1);
}

#[test]
fn panic_is_recorded_and_goes_on() {
    // The program itself checks that the panic arrives.
    let events = record("functions");
    assert_eq!(only(&events, "parcels", "5").field("city"), r#"""Bremen"""#, "as `Debug` prints it");
}

#[test]
fn only_what_took_longer_than_the_threshold_is_recorded() {
    let events = record("functions");
    assert!(!events.iter().any(|event| event.name == "shop:delivered" && event.field("parcels") == "6"));
    assert!(number(only(&events, "parcels", "7"), "duration") >= 5);
}

#[test]
fn details_of_every_type_are_kept() {
    let events = record("functions");
    let fields = &only(&events, "order", "10").fields;
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(fields[0].0, "took");
    assert_eq!(
        fields[1..],
        [
            ("order", "10"),
            ("address", r#""Bremen""#),
            ("_counts_length", "2"),
            ("counts", "[ [0] = 3, [1] = 4 ]"),
            ("position", "[ [0] = 7, [1] = 8, [2] = 9 ]"),
            ("hall", r#"( "SOUTH" : container = 2 )"#),
            ("waited", "1500"),
        ]
    );
}

#[test]
fn nothing_is_evaluated_for_an_event_that_is_not_enabled() {
    let program = Program::example("market", "lazy").traced().build();
    let daemon = Daemon::start();
    let run = || {
        let output = daemon.command(&program).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(), "");
    let session = daemon.session();
    session.enable("shop:delivered");
    session.start();
    assert_eq!(run(), "evaluated\nevaluated\nevaluated\n");
}

#[test]
fn future_is_measured_from_its_first_poll_to_its_end() {
    let events = record("futures");
    let (whole, polling) = (only(&events, "order", "1"), only(&events, "order", "2"));
    let milliseconds = 1_000_000;
    assert!(number(polling, "took") >= 5 * milliseconds, "the time in a poll counts");
    assert!(
        number(whole, "took") >= number(polling, "took") + 200 * milliseconds,
        "that between polls does not"
    );
    assert_eq!(only(&events, "order", "3").field("address"), r#""1""#);
}

/// The program compares random functions with plain ones.
#[test]
fn what_a_function_owns_is_dropped_as_by_the_plain_one_while_it_is_recorded_and_while_it_is_not() {
    assert!(values(&record("drops"), "shop:delivered").len() > 2_000);
    let program = Program::example("market", "drops").traced().build();
    Command::new(program).succeed();
}

#[test]
fn futures_on_several_threads_are_recorded() {
    let events = record("futures");
    let together = events.iter().filter(|event| event.field("order") == "4");
    let threads: BTreeSet<_> = together.clone().map(|event| event.context("vtid")).collect();
    assert_eq!(together.count(), 3);
    assert_eq!(threads.len(), 3);
    assert_eq!(events.iter().filter(|event| event.field("order") == "8").count(), 100);
}

#[test]
fn future_that_is_dropped_or_panics_is_recorded_if_it_was_polled() {
    let events = record("futures");
    assert!(!events.iter().any(|event| event.field("order") == "5"));
    assert_eq!(only(&events, "order", "6").field("address"), r#""endless""#);
    assert_eq!(only(&events, "order", "7").field("address"), r#""panics""#);
}

#[test]
fn streams_are_recorded_from_their_first_poll_to_their_end() {
    let events = record("futures");
    let took = |order| number(only(&events, "order", order), "took");
    let milliseconds = 1_000_000;
    assert!(!events.iter().any(|event| event.field("order") == "20"), "it was never polled");
    for (order, address, polls) in [("21", "false", 3), ("22", "true", 1), ("23", "a name", 4)] {
        assert_eq!(only(&events, "order", order).field("address"), format!("\"{address}\""));
        assert!(took(order) >= 2 * polls * milliseconds, "{order} took {} ns", took(order));
    }
    assert!(took("24") >= took("21") + 50 * milliseconds, "the time before the first poll does not count");
    assert!(took("24") >= took("23") + 150 * milliseconds, "that between polls does not, with `polling`");
}

/// City and parcels of each delivery.
fn deliveries(events: &[Event]) -> Vec<(&str, &str)> {
    let delivered = events.iter().filter(|event| event.name == "shop:delivered");
    delivered.map(|event| (event.field("city"), event.field("parcels"))).collect()
}

#[test]
fn outcomes_are_recorded() {
    let events = record("outcomes");
    let expected = [
        (r#""length""#, "1"),
        (r#""Bremen""#, "2"),
        (r#""nowhere""#, "2"),
        (r#""invalid digit found in string""#, "3"),
        (r#""""#, "3"),
        (r#""Bremen""#, "4"),
        // A call that panics has no outcome, and is not recorded.
        (r#""panics""#, "5"),
        (r#""both""#, "6"),
        (r#""both""#, "6"),
        (r#""even""#, "7"),
        (r#""large""#, "8"),
        (r#""Ok(42)""#, "10"),
        (r#""ParseIntError { kind: InvalidDigit }""#, "11"),
        (r#""Ulm""#, "12"),
        (r#""Kiel""#, "13"),
        // Cancelled: what would be computed from the result is empty.
        (r#""""#, "14"),
        (r#""cancelled""#, "15"),
        (r#""x""#, "16"),
        (r#""1""#, "17"),
        (r#""impl Future""#, "18"),
    ];
    assert_eq!(deliveries(&events), expected);
    let cancelled = only(&events, "order", "15");
    let fields: Vec<_> = ["address", "counts", "position", "hall"].map(|name| cancelled.field(name)).into();
    assert_eq!(fields[..3], [r#""""#, "[ ]", "[ [0] = 0, [1] = 0, [2] = 0 ]"]);
}

#[test]
fn one_measurement_feeds_several_events() {
    let events = record("outcomes");
    let checkouts: Vec<_> = events.iter().filter(|event| event.name == "shop:checkout").collect();
    assert_eq!(checkouts.len(), 3, "{events:#?}");
    // The same time, in the units of both: microseconds and nanoseconds.
    let packed = only(&events, "order", "9");
    assert_eq!(number(checkouts[2], "duration"), number(packed, "took") / 1_000);
}

#[test]
fn measurement_is_made_if_only_the_last_of_its_events_is_enabled() {
    let program = Program::example("market", "outcomes").traced().build();
    let daemon = Daemon::start();
    let events = daemon.record(&["warehouse:packed"], program, [""; 0]).events();
    assert!(number(only(&events, "order", "9"), "took") > 0);
}
