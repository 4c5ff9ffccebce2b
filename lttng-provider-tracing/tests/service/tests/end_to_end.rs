//! Spans and events, recorded by a real session daemon and read back by Babeltrace.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use lttng_testing::{Daemon, Event, Program};

/// Runs an example while a session records; returns the events and what it printed.
fn record(example: &str, arguments: &[&str]) -> (Vec<Event>, String) {
    record_by(&Daemon::start(), example, arguments)
}

/// The same by a daemon that is there already.
fn record_by(daemon: &Daemon, example: &str, arguments: &[&str]) -> (Vec<Event>, String) {
    let program = Program::example("bridged-service", example).traced().build();
    let session = daemon.session();
    session.enable("service:*");
    session.start();
    let output = daemon.run(program, arguments);
    (session.stop().events(), output)
}

fn orders(events: &[Event], name: &str) -> Vec<u64> {
    let mut orders: Vec<_> =
        events.iter().filter(|event| event.name == name).map(|event| number(event, "order")).collect();
    orders.sort_unstable();
    orders
}

fn number(event: &Event, field: &str) -> u64 {
    event.field(field).parse().unwrap()
}

fn only<'e>(events: &'e [Event], name: &str, field: &str, value: &str) -> &'e Event {
    let mut found = events.iter().filter(|event| event.name == name && event.field(field) == value);
    let event = found.next().unwrap_or_else(|| panic!("no {name} with {field} = {value}"));
    assert_eq!(found.next(), None);
    event
}

#[test]
fn spans_are_recorded_however_they_are_used() {
    let (events, _) = record("spans", &[]);
    assert_eq!(orders(&events, "service:first"), [1, 2, 3, 4, 5, 8]);
    let threads = (1..=8).flat_map(|thread| (0..500).map(move |order| 1_000 * thread + order));
    let second: Vec<u64> = [6, 7].into_iter().chain(threads.clone()).collect();
    assert_eq!(orders(&events, "service:second"), second, "9 is without a subscriber");
    let waiting: Vec<u64> = [1, 2].into_iter().chain(threads).collect();
    assert_eq!(orders(&events, "service:waiting"), waiting);
    assert_eq!(orders(&events, "service:work"), waiting, "two events of one span");
}

/// The thread that polls looks every 50 ms: by chance alone, one session in five is noticed so soon.
#[test]
fn session_that_starts_while_the_program_runs_is_noticed_at_once() {
    const SESSIONS: usize = 5;
    let program = Program::example("bridged-service", "late").traced().build();
    let daemon = Daemon::start();
    let mut child = daemon.command(program).arg(SESSIONS.to_string()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().as_deref(), Some("ready"));
    let delays: Vec<u64> = (0..SESSIONS)
        .map(|_| {
            let session = daemon.session();
            session.enable("service:*");
            session.start();
            let delay = lines.next().unwrap().parse().unwrap();
            session.destroy();
            delay
        })
        .collect();
    assert!(child.wait().unwrap().success());
    println!("microseconds until spans were made: {delays:?}");
    let soon = delays.iter().filter(|delay| **delay < 10_000).count();
    assert!(soon + 1 >= SESSIONS, "{delays:?}");
}

#[test]
fn busy_time_is_within_wall_time_also_where_entries_overlap() {
    let (events, _) = record("spans", &[]);
    for event in events.iter().filter(|event| event.name == "service:waiting") {
        let [wall, busy, idle] = ["wall", "tracing_busy", "tracing_idle"].map(|field| number(event, field));
        assert!(busy <= wall, "{event:?}");
        assert_eq!(wall - busy, idle, "{event:?}");
    }
}

#[test]
fn thousand_names_are_recorded_once_each() {
    let (events, _) = record("spans", &[]);
    let mut names = BTreeMap::new();
    for event in events.iter().filter(|event| event.name == "service:any") {
        if event.field("tracing_target") == r#""modules::thousand""# {
            *names.entry(event.field("tracing_name").to_owned()).or_insert(0) += 1;
            assert_eq!(event.field("tracing_level"), r#""INFO""#);
        }
    }
    let expected = (0..1_000).map(|number| (format!("\"span {number:03}\""), 1)).collect();
    assert_eq!(names, expected);
}

#[test]
fn future_is_measured_from_its_first_poll_and_while_it_is_polled() {
    let (events, _) = record("awaits", &[]);
    let milliseconds = 1_000_000;
    let event = only(&events, "service:waiting", "order", "1");
    let [wall, busy] = ["wall", "tracing_busy"].map(|field| number(event, field));
    assert!(busy >= 10 * milliseconds, "the time in polls counts: {busy}");
    assert!(wall >= busy + 30 * milliseconds, "and that between them does not: {wall}, {busy}");
    let late = number(only(&events, "service:waiting", "order", "2"), "wall");
    assert!(late < 30 * milliseconds, "the time before the first poll does not count: {late}");
    assert_eq!(orders(&events, "service:waiting"), Vec::from_iter((1..=4).chain(100..200)));
    // The event ends the interval that it measures: the first poll is after the program's start.
    let first = events.iter().map(|event| event.timestamp).min().unwrap();
    assert!(event.timestamp - wall as i64 <= first);
}

#[test]
fn what_does_not_fit_is_recorded_as_near_as_it_can_be_and_reported_once() {
    let (events, output) = record("hostile", &[]);
    let recorded: Vec<_> = events.iter().filter(|event| event.name == "service:hostile").collect();
    let values: Vec<_> = recorded.iter().map(|event| (event.field("text"), event.field("number"))).collect();
    let long = format!("\"{}\"", "x".repeat(64 * 1024));
    let endless = format!("\"{}\"", "endless ".repeat(64 * 1024 / 8));
    let repeated = format!("\"{}\"", "y".repeat(100));
    let mut expected = [(r#""""#, "255"), (r#""a""#, "0")].repeat(3);
    expected.extend([
        (long.as_str(), "7"),
        (r#""before""#, "0"),
        (endless.as_str(), "0"),
        (r#""inner""#, "9"),
        (r#""outer""#, "8"),
        (repeated.as_str(), "9"),
    ]);
    assert_eq!(values.len(), expected.len());
    for (value, expected) in values.iter().zip(&expected) {
        assert!(value == expected, "{:.80} {} and not {:.80} {}", value.0, value.1, expected.0, expected.1);
    }
    assert!(recorded.iter().all(|event| event.field("missing") == "0" && event.field("list") == "[ ]"));

    let warnings: Vec<_> = output.lines().collect();
    let about = |text: &str| warnings.iter().filter(|warning| warning.contains(text)).count();
    assert!(warnings.iter().all(|warning| warning.starts_with("lttng-provider-tracing: ")), "{output}");
    assert!(about("examples/hostile.rs:") == warnings.len(), "{output}");
    // A call site each: those with a value of the wrong type, and the six of the span in all.
    assert_eq!(about("field `missing` of `service:hostile` from the span `hostile`: no such field"), 6);
    assert_eq!(about("field `list` of `service:hostile` from the span `hostile`: `tracing` has no lists"), 6);
    assert_eq!(about("a value is not between 0 and 255"), 1, "{output}");
    assert_eq!(about("a value is not between 0 and 4294967295"), 1, "{output}");
    assert_eq!(about("formatting a value panicked"), 2, "{output}");
    assert_eq!(about("a value is not of the catalog's type"), 1, "{output}");
}

#[test]
fn events_are_recorded_with_their_message_and_the_duration_that_they_bring() {
    let (events, _) = record("hostile", &[]);
    let named = |name: &str| events.iter().filter(|event| event.name == name).cloned().collect::<Vec<_>>();
    let messages: Vec<_> = named("service:message")
        .iter()
        .map(|event| ["message", "request", "tracing_level"].map(|field| event.field(field).to_owned()))
        .collect();
    let expected = [
        [r#""""#, r#""inner""#, r#""INFO""#],
        [r#""hello world""#, r#""GET""#, r#""INFO""#],
        [r#""refused""#, r#""SET "x"""#, r#""ERROR""#],
    ];
    assert_eq!(messages, expected);
    let latencies: Vec<_> = named("service:finished").iter().map(|event| number(event, "latency")).collect();
    assert_eq!(latencies, [1_500, u64::from(u32::MAX)]);
}

#[test]
fn other_layers_see_what_they_would_see_without_it() {
    let both = "in a span";
    let debug = "DEBUG wait{order=2}: layers: in a span request=\"debug\"\n";
    let all = format!(
        " INFO wait{{order=1}}: layers: {both} request=\"info\"\n{debug} INFO unnamed{{order=3}}: layers: unrelated\n"
    );
    let info = all.replace(debug, "");
    let daemon = Daemon::start();
    let program = Program::example("bridged-service", "layers").traced().build();
    for (kind, recorded, log) in [
        ("alone", &[1, 2][..], ""),
        ("log-inside", &[1, 2], &all),
        ("log-outside", &[1, 2], &all),
        ("log-filtered", &[1, 2], &info),
        ("log-filtered-outside", &[1, 2], &info),
        ("filtered", &[1], &all),
        ("globally-filtered", &[1], &info),
        ("boxed", &[1, 2], &all),
        ("reloaded", &[1, 2], &all),
        ("twice", &[1, 1, 2, 2], &all),
    ] {
        let (events, output) = record_by(&daemon, "layers", &[kind]);
        assert_eq!(orders(&events, "service:waiting"), recorded, "{kind}");
        let requests = events.iter().filter(|event| event.name == "service:message").count();
        assert_eq!(requests, recorded.len(), "{kind}");
        assert_eq!(output, log, "{kind}");
        // Without a session the other layer has the same.
        assert_eq!(daemon.run(&program, [kind]), log, "{kind}");
    }
}

#[test]
fn nothing_is_allocated_while_no_session_records() {
    let program = Program::example("bridged-service", "memory").traced().build();
    assert_eq!(Daemon::start().run(program, ["100000"]), "0 0\n");
}

#[test]
fn recorded_spans_leave_nothing_in_memory() {
    let program = Program::example("bridged-service", "memory").traced().build();
    let daemon = Daemon::start();
    // In memory, so that the disk is not filled.
    let session = daemon.snapshot_session();
    session.enable("service:*");
    session.start();
    let output = daemon.run(program, ["100000"]);
    let (allocations, bytes) = output.trim().split_once(' ').unwrap();
    assert_ne!(allocations, "0", "nothing was recorded");
    assert_eq!(bytes, "0");
}

#[test]
fn span_over_a_fork_is_recorded_by_both_processes() {
    let program = Program::example("bridged-service", "forking").traced().build();
    let daemon = Daemon::start();
    let session = daemon.session();
    session.enable("service:waiting");
    session.add_context("vpid");
    session.start();
    let child = daemon.run(program, [""; 0]);
    let events = session.stop().events();
    let (of_child, of_parent): (Vec<_>, Vec<_>) =
        events.into_iter().partition(|event| event.context("vpid") == child.trim());
    assert_eq!(orders(&of_parent, "service:waiting"), [1, 2, 4]);
    assert_eq!(orders(&of_child, "service:waiting"), [2, 3]);
}

#[test]
fn with_tracing_off_the_layer_is_none() {
    let program = Program::example("bridged-service", "layers").build();
    let daemon = Daemon::start();
    assert_eq!(daemon.run(&program, ["alone"]), "");
    assert!(daemon.run(&program, ["log-inside"]).contains("unrelated"));
}
