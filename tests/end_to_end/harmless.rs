//! Nothing that a session asks for, and nothing that is emitted, harms the program that emits it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{Crate, compile_c, fixture, notified, scenario, target};
use lttng_testing::{CommandInTime as _, Daemon, Event, Session, need_no_other_daemon};

#[test]
fn trigger_captures_texts_and_nothing_that_follows_them() {
    if !need_no_other_daemon() {
        return;
    }
    let daemon = Daemon::start();
    let mut command = daemon.command(notified(daemon.folder()));
    command.args(["2", "every_type:texts", "string", "text", "short", "tag", "--"]).arg(scenario());
    assert_eq!(command.arg("captures").succeed(), "<>\t<>\t<>\t<>\n<string>\t<text>\t<short>\t<12345678>\n");
}

#[test]
fn ten_long_strings_are_recorded_on_a_small_stack() {
    let events = with_large_buffers(&Daemon::start(), "twin:ten", &[], "small-stack");
    let [event] = &events[..] else { panic!("{} events", events.len()) };
    let long = format!("\"{}\"", "x".repeat(64 * 1024));
    assert_eq!(event.fields.len(), 10);
    assert!(event.fields.iter().all(|(_, value)| *value == long));
}

#[test]
fn long_strings_are_recorded_in_a_signal_handler_on_an_alternate_stack() {
    let daemon = Daemon::start();
    for options in [&[][..], &["--filter", "b == \"bb*\""]] {
        let events = with_large_buffers(&daemon, "twin:strings", options, "alternate-stack");
        let [event] = &events[..] else { panic!("{} events", events.len()) };
        for name in ["a", "b", "c"] {
            assert_eq!(event.field(name), format!("\"{}\"", name.repeat(5000)));
        }
    }
}

#[test]
fn one_limit_holds_for_every_text() {
    let daemon = Daemon::start();
    for options in [&[][..], &["--filter", "number < 3"]] {
        let events = with_large_buffers(&daemon, "twin:*", options, "long-texts");
        let [strings, terminated, bytes] = &events[..] else { panic!("{} events", events.len()) };
        let cut = |byte: &str| format!("\"{}\"", byte.repeat(64 * 1024));
        assert_eq!(strings.field("a"), cut("t"));
        assert_eq!(strings.field("b"), cut("s"));
        assert_eq!(strings.field("c"), cut("u"));
        assert_eq!(terminated.field("a"), cut("t"));
        assert_eq!(bytes.field("a"), cut("b"));
    }
}

#[test]
fn children_of_a_program_with_busy_threads_are_traced() {
    let daemon = Daemon::start();
    let events = daemon.record(&["valkey_db:expire_del"], scenario(), ["forks"]).events();
    let mut numbers: Vec<u32> = events.iter().map(|event| event.field("duration").parse().unwrap()).collect();
    numbers.sort();
    assert_eq!(numbers, (1..=150).collect::<Vec<_>>());
}

#[test]
fn call_site_is_the_same_with_a_filter_and_a_second_channel() {
    let alone = call_sites(|session| session.enable("twin:*"));
    let filtered = call_sites(|session| session.enable_with("twin:*", &["--filter", "number >= 0"]));
    let twice = call_sites(|session| {
        session.enable("twin:*");
        session.lttng("enable-channel", ["--userspace", "second"]);
        session.enable_with("twin:*", &["--channel=second"]);
        session.lttng("add-context", ["--userspace", "--channel=second", "--type", "ip"]);
    });
    assert_eq!(alone.len(), 10);
    assert!(alone.values().all(|sites| sites.len() == 1), "{alone:?}");
    assert_eq!(alone, twice);
    assert!(filtered.iter().all(|(name, sites)| alone[name] == *sites), "{filtered:?} {alone:?}");
    assert!(!filtered.is_empty());
}

/// The addresses of the `ip` context by event, from the function `emit_numbers` on.
fn call_sites(enable: impl Fn(&Session<'_>)) -> BTreeMap<String, Vec<i64>> {
    let daemon = Daemon::start();
    let session = daemon.session();
    enable(&session);
    session.lttng("add-context", ["--userspace", "--channel=channel0", "--type", "ip"]);
    session.start();
    let start: i64 = daemon.run(fixture("twin"), ["1", "100"]).trim().parse().unwrap();
    let mut sites = BTreeMap::<String, Vec<i64>>::new();
    for event in session.stop().events() {
        let offset = event.context("ip").parse::<i64>().unwrap() - start;
        let sites = sites.entry(event.name).or_default();
        if !sites.contains(&offset) {
            sites.push(offset);
        }
    }
    sites
}

/// LTTng connects one signature of an event, here that of the first library. What the second emits under the same
/// name is not recorded, and its other event is.
#[test]
#[ignore = "make check: builds crates"]
fn two_libraries_with_two_versions_of_a_catalog_keep_apart() {
    let sold = |fields: &str| format!("[provider.market.event.sold]\ndoc = \"-\"\nfields = [{fields}]\n");
    let count = sold("{ name = \"count\", type = \"u32\", doc = \"-\" }");
    let item = sold("{ name = \"item\", type = \"string\", doc = \"-\" }");
    let both = format!("{item}{}", item.replace("event.sold", "event.returned"));
    let one = library("one", &count, "market::sold::emit(7);");
    let two = library("two", &both, "market::sold::emit(\"pears\"); market::returned::emit(\"plums\");");
    let program = compile_c("call.c", &one.with_file_name("call"), &["-ldl"]);
    let daemon = Daemon::start();
    let libraries = [one.to_str().unwrap(), two.to_str().unwrap()];
    for library in libraries {
        let exported = Command::new("nm").args(["--dynamic", "--defined-only", library]).succeed();
        assert!(exported.contains("emit_"), "{exported}");
        // Of LTTng's, what linkers define and make visible themselves is excused.
        let ours = |line: &&str| {
            (line.contains("lttng_provider_") || line.contains("lttng_ust_"))
                && !line.contains("lttng_ust_tracepoints_ptrs")
        };
        assert_eq!(exported.lines().find(ours), None);
    }
    let calls = [libraries[0], "emit_one", libraries[1], "emit_two"];
    let events = daemon.record(&["market:*"], program, calls).events();
    let fields: Vec<_> = events.iter().map(|event| event.fields.clone()).collect();
    let field = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    assert_eq!(fields, [field("count", "7"), field("item", "\"plums\"")]);
}

/// A shared library, linked by C from a static one, with events of the provider `market` and a function `emit_NAME`. As a C
/// build system would: nothing but the function is asked for, and nothing is hidden that is not hidden.
fn library(name: &str, events: &str, body: &str) -> PathBuf {
    let library = Crate::new(&format!("version-{name}"), "[lib]\ncrate-type = [\"staticlib\"]\n");
    let catalog = "[catalog]\nname = \"market\"\nversion = 1\ndoc = \"-\"\n[provider.market]\ndoc = \"-\"\n";
    library.write("catalog.toml", &format!("{catalog}{events}"));
    let function = format!("#[unsafe(no_mangle)]\npub extern \"C\" fn emit_{name}() {{\n    {body}\n}}\n");
    library.write("src/lib.rs", &format!("lttng_provider::include_events!();\n{function}"));
    library.build(&["--features=lttng"], &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let shared = library.folder.join(format!("lib{name}.so"));
    let mut cc = Command::new("cc");
    cc.args(["-shared", &format!("-Wl,-u,emit_{name}"), "-o"]).arg(&shared);
    cc.arg(target().join(format!("debug/libversion_{name}.a")));
    cc.args(["-lgcc_s", "-lpthread", "-lm", "-ldl", "-lc"]).succeed();
    shared
}

/// The events of a scenario, in a channel whose sub-buffers have room for a megabyte.
fn with_large_buffers(daemon: &Daemon, events: &str, options: &[&str], name: &str) -> Vec<Event> {
    let session = daemon.session();
    session.lttng("enable-channel", ["--userspace", "large", "--subbuf-size=2097152", "--num-subbuf=2"]);
    session.enable_with(events, &[&["--channel=large"], options].concat());
    session.start();
    daemon.run(scenario(), [name]);
    session.stop().events()
}
