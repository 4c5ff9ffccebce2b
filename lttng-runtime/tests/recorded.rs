//! What is declared at run time is recorded by a real session daemon, whatever the program does meanwhile.

mod support;

use std::time::{SystemTime, UNIX_EPOCH};

use lttng_testing::{Daemon, Event, Trace, need};
use support::{Steps, compile, library, python, python_by, succeed};

/// Records all events of a provider while a command runs.
fn record(daemon: &Daemon, provider: &str, command: std::process::Command) -> (Trace, String) {
    let session = daemon.session();
    session.enable(&format!("{provider}*:*"));
    session.add_context("vpid");
    session.start();
    let printed = succeed(command);
    (session.stop(), printed)
}

fn fields(event: &Event) -> Vec<(&str, &str)> {
    event.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn python_declares_and_records_in_three_lines() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let code = r#"
provider = Provider("shop")
sale = provider.event("sale", article=str, took="u64 us")
sale("book", 12)
sale("b\0ok", 2**64 - 1)
try:
    sale("book")
    sys.exit("taken")
except TypeError as error:
    print(error)
for declare in [
    lambda: provider.event("sale"), lambda: provider.event("b", a="u7"), lambda: Provider("shop"),
    lambda: Provider("a b"), lambda: provider.event("long" * 64), lambda: provider.event("nul\0"),
    lambda: provider.event("many", **{"f%d" % i: int for i in range(11)}), lambda: provider.event("b", **{"x y": int}),
]:
    try:
        declare()
        sys.exit("taken")
    except Error as error:
        print(error)
provider.close()
sale("late", 1)
with Provider("shop") as again:
    again.event("sale", other=float)(1)
"#;
    let (trace, printed) = record(&daemon, "shop", python(&daemon, code));
    let events = trace.events();
    let recorded: Vec<_> = events.iter().map(fields).collect();
    let [max, book] = [u64::MAX.to_string(), "\"book\"".to_owned()];
    assert_eq!(
        recorded,
        [
            vec![("article", book.as_str()), ("took", "12")],
            vec![("article", "\"b\""), ("took", &max)],
            vec![("other", "1")]
        ]
    );
    let expected = [
        "sale takes 2 values, got 1",
        "shop:sale: declared already; choose another name",
        "shop:b, field `a`: unknown type `u7`",
        "provider `shop` is open already; close it first",
        "'a b': the name of a provider has only ASCII letters",
        "the name has 261 bytes: use at most 255",
        "the name of an event has only ASCII letters",
        "shop:many: 11 fields: use at most 10",
        "'x y': the name of a field has only ASCII letters",
    ];
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{printed}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.contains(expected), "{line}, not {expected}");
    }
}

#[test]
fn declarations_and_values_are_those_of_the_official_macros() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let twin = compile("twin.c", daemon.folder());
    let mut command = daemon.command(twin);
    command.args(["loop", "1"]);
    let (official, _) = record(&daemon, "shop", command);
    let code = r#"
events = Provider("shop").events({
    "sale": {"article": "string group", "took": "u64 us", "rate": "f64", "small": "i16"},
    "every": {"a": "u8", "b": "u16 hex", "c": "u32", "d": "i8", "e": "i32", "f": "i64 hex", "g": "f32"},
})
events["sale"]("book", 0, 0.5, -2)
events["every"](1, 2, 3, -4, -5, -6, 0.5)
"#;
    let (ours, _) = record(&daemon, "shop", python(&daemon, code));
    assert_eq!(ours.declarations(), official.declarations());
    assert_eq!(ours.declarations().len(), 2);
    let values =
        |trace: &Trace| trace.events().iter().map(|event| format!("{:?}", fields(event))).collect::<Vec<_>>();
    assert_eq!(values(&ours), values(&official));
}

#[test]
fn sessions_record_events_whichever_comes_first() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let code = r#"
first = Provider("shop").event("first", n=int)
step()
first(1)
second = Provider("shop2").event("second", n=int)
third = first._provider.event("third", n=int)
second(2)
third(3)
step()
first._provider.close()
first(4)
second(5)
step()
"#;
    let mut program = Steps::start(&daemon, code);
    let session = daemon.session();
    session.enable("shop*:*");
    session.start();
    program.step();
    program.step();
    let events = session.stop().events();
    let seen: Vec<_> = events.iter().map(|event| (event.name.as_str(), event.field("n"))).collect();
    let expected = [("shop:first", "1"), ("shop2:second", "2"), ("shop:third", "3"), ("shop2:second", "5")];
    assert_eq!(seen, expected);
}

#[test]
fn filters_read_numbers_and_texts() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let session = daemon.session();
    session.enable_with(
        "shop:sale",
        &["--filter", r#"took >= 2 && article == "b*" && rate < 2.5 && small < 0"#],
    );
    session.start();
    let code = r#"
sale = Provider("shop").event("sale", took="u32 us", article=str, rate="f32", small="i8")
for values in [(1, "book", 1, -1), (2, "book", 1, -1), (3, "pen", 1, -1), (4, "bag", 3, -1), (5, "b" * 9000, 2, -1), (6, "b", 1, 1)]:
    sale(*values)
"#;
    succeed(python(&daemon, code));
    let events = session.stop().events();
    assert_eq!(events.iter().map(|event| event.field("took")).collect::<Vec<_>>(), ["2", "5"]);
}

#[test]
fn triggers_capture_numbers_and_texts() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let notified = compile("../../../tests/fixtures/c/notified.c", daemon.folder());
    let code = r#"
sale = Provider("shop").event("sale", article=str, took="u64 us")
sale("book", 12)
sale("", 13)
"#;
    let mut command = daemon.command(notified);
    command.args(["2", "shop:sale", "article", "--", "/usr/bin/env", "python3"]);
    assert_eq!(succeed(python_by(command, code)), "<book>\n<>\n");
}

#[test]
fn event_of_the_same_name_through_the_macros_is_not_disturbed() {
    let daemon = Daemon::start();
    let program = compile("both.c", daemon.folder());
    let (trace, _) = record(&daemon, "shop", daemon.command(&program));
    let events = trace.events();
    let seen: Vec<_> = events.iter().map(|event| (event.field("article"), event.field("took"))).collect();
    assert_eq!(seen, ["0", "1", "2", "3"].map(|took| ("\"by macro\"", took)));
}

#[test]
fn children_of_fork_record_as_themselves() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let code = r#"
provider = Provider("shop")
orphan = os.fork()
if not orphan:
    sys.exit(0)
assert os.waitpid(orphan, 0)[1] == 0
follow_forks()
born = provider.event("born", pid=int)
for round in range(5):
    child = os.fork()
    if not child:
        born(os.getpid())
        with Provider("shop_child") as own:
            own.event("own", pid=int)(os.getpid())
        provider.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    born(os.getpid())
"#;
    let (trace, _) = record(&daemon, "shop", python(&daemon, code));
    let events = trace.events();
    assert_eq!(events.len(), 15);
    for event in &events {
        assert_eq!(event.field("pid"), event.context("vpid"), "{event:?}");
    }
    let children: std::collections::HashSet<_> = events.iter().map(|event| event.context("vpid")).collect();
    assert_eq!(children.len(), 6);
}

#[test]
fn threads_emit_while_providers_come_and_go() {
    let daemon = Daemon::start();
    let program = compile("exercise.c", daemon.folder());
    let mut command = daemon.command(&program);
    command.args(["race", "30"]);
    let (trace, _) = record(&daemon, "shop", command);
    let events = trace.events();
    assert!(events.len() >= 30, "{} events of 30 rounds", events.len());
    assert!(events.iter().all(|event| event.field("article") == "\"book\"" && event.field("small") == "-2"));
}

#[test]
fn library_can_be_unloaded_while_a_session_records() {
    let daemon = Daemon::start();
    let program = compile("unload.c", daemon.folder());
    let mut command = daemon.command(&program);
    command.arg(library());
    let (trace, _) = record(&daemon, "shop", command);
    let events = trace.events();
    let rounds: Vec<_> = events.iter().map(|event| event.field("round").parse::<u32>().unwrap()).collect();
    assert_eq!(rounds, (0..20).collect::<Vec<_>>());
}

#[test]
fn large_texts_are_cut_and_wrong_values_are_not_recorded() {
    let daemon = Daemon::start();
    let program = compile("exercise.c", daemon.folder());
    let mut command = daemon.command(&program);
    command.arg("large");
    let (trace, _) = record(&daemon, "shop", command);
    let events = trace.events();
    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["shop:sale", "shop:sale", "shop:closing"]);
    assert_eq!(events[0].field("article").len(), 65_535 + 2);
    assert_eq!((events[1].field("article"), events[1].field("small")), ("\"(null)\"", "1"));
}

#[test]
fn without_lttng_everything_works_and_nothing_is_recorded() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    // What the loader finds first is not a library.
    std::fs::write(daemon.folder().join("liblttng-ust.so.1"), "").unwrap();
    let code = r#"
sale = Provider("shop").event("sale", article=str)
sale("book")
assert not sale.enabled
assert "lttng-ust" not in open("/proc/self/maps").read()
"#;
    let mut command = python(&daemon, code);
    command.env("LD_LIBRARY_PATH", daemon.folder());
    let (trace, _) = record(&daemon, "shop", command);
    assert!(trace.events().is_empty());
}

#[test]
fn ten_thousand_events_of_a_thousand_providers_are_recorded() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let code = r#"
providers = [Provider("shop%d" % i) for i in range(1000)]
events = []
for provider in providers:
    events += provider.events({"e%d" % i: {"n": "u32 us"} for i in range(10)}).values()
for n, event in enumerate(events):
    event(n)
for provider in providers:
    provider.close()
"#;
    let (trace, _) = record(&daemon, "shop", python(&daemon, code));
    let numbers: Vec<u32> = trace.events().iter().map(|event| event.field("n").parse().unwrap()).collect();
    assert_eq!(numbers, (0..10_000).collect::<Vec<_>>());
    assert_eq!(trace.declarations().len(), 10_000);
}

#[test]
fn random_fields_and_values_come_back() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    println!("seed {seed}");
    let code = r#"
random.seed(int(sys.argv[1]))
provider = Provider("shop")
def integer(bits, signed):
    edges = [-(1 << bits - 1), (1 << bits - 1) - 1, -1] if signed else [(1 << bits) - 1, 1 << bits - 1, 1]
    return random.choice(edges + [0, random.getrandbits(bits - 1)])
for number in range(300):
    kinds = random.choices(["string", "f32", "f64", "bool"] + [s + b for s in "ui" for b in "8 16 32 64".split()], k=random.randrange(11))
    event = provider.event("e%d" % number, **{"f%d" % i: kind for i, kind in enumerate(kinds)})
    values, shown = [], []
    for kind in kinds:
        if kind == "string":
            value = "".join(random.choices("abc äß€", k=random.choice([0, 1, 7, 300, 600])))
            text = '"%s"' % value
        elif kind[0] == "f":
            value = random.randrange(-1000, 1000) / 4
            text = "%g" % value
        else:
            value = random.randrange(2) if kind == "bool" else integer(int(kind[1:]), kind[0] == "i")
            text = str(value)
        values.append(value)
        shown.append(text)
    event(*values)
    print("\x1f".join(["shop:" + event.name] + shown))
"#;
    let mut command = python(&daemon, code);
    command.arg(seed.to_string()).env("PYTHONIOENCODING", "utf-8");
    let (trace, printed) = record(&daemon, "shop", command);
    let events = trace.events();
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(events.len(), lines.len(), "seed {seed}");
    for (event, line) in events.iter().zip(lines) {
        let seen: Vec<_> = [event.name.as_str()]
            .into_iter()
            .chain(event.fields.iter().map(|(_, value)| value.as_str()))
            .collect();
        assert_eq!(seen, line.split('\x1f').collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn header_compiles_without_warnings_as_c_and_cpp() {
    let folder = tempfile::tempdir().unwrap();
    let standards = [
        ("gcc", "c99"),
        ("gcc", "gnu17"),
        ("g++", "c++11"),
        ("g++", "c++20"),
        ("clang", "c99"),
        ("clang++", "c++17"),
    ];
    for (compiler, standard) in standards {
        if need(compiler) {
            let standard = format!("-std={standard}");
            for source in ["exercise.c", "unload.c"] {
                let flags = [&standard, "-Wpedantic", "-Wshadow", "-Wconversion"];
                support::compile_with(compiler, &flags, source, folder.path());
            }
        }
    }
}
