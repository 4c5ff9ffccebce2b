//! The packages for Python and Ruby: what they promise beside recording, which `recorded.rs` shows.

mod support;

use std::path::Path;
use std::process::Command;

use lttng_testing::{Daemon, Event, missing_tool, need};
use support::{library, python, ruby, succeed};

fn values(events: &[Event]) -> Vec<Vec<&str>> {
    events.iter().map(|event| event.fields.iter().map(|(_, value)| value.as_str()).collect()).collect()
}

/// The first block of this language in the README, as it stands there.
fn readme(language: &str) -> String {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let start = format!("```{language}\n");
    let block = text.split(&start).nth(1).unwrap_or_else(|| panic!("no {language} in the README"));
    block.split("```").next().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "make check: a virtual environment and pip"]
fn installed_python_package_brings_its_library_and_runs_the_readmes_example() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let folder = daemon.folder().join("venv");
    if !Command::new("python3").args(["-m", "venv"]).arg(&folder).output().unwrap().status.success() {
        return missing_tool("python3-venv");
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
    let mut pip = Command::new(folder.join("bin/pip"));
    // The library that is tested; without the variable, Cargo builds one.
    pip.args(["install", "--quiet", "--no-index"]).arg(&package).env("LTTNG_RUNTIME_LIBRARY", library());
    succeed(pip);
    let session = daemon.recording(&["shop:*"]);
    let mut installed = daemon.command(folder.join("bin/python"));
    installed.args(["-I", "-c", &readme("python")]).env_remove("LTTNG_RUNTIME_LIBRARY");
    succeed(installed);
    assert_eq!(values(&session.stop().events()), [["\"book\"", "12"]]);
    let mut typed = Command::new(folder.join("bin/python"));
    typed
        .args(["-c", "import lttng_runtime, os; print(os.listdir(os.path.dirname(lttng_runtime.__file__)))"]);
    let files = succeed(typed);
    assert!(files.contains("py.typed") && files.contains("liblttng_runtime.so"), "{files}");
}

#[test]
fn nothing_that_a_session_does_raises_in_python() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let session = daemon.recording(&["shop:*"]);
    let code = r#"
class Odd:
    def __index__(self): raise RuntimeError("odd")
    def __str__(self): raise RuntimeError("odd")
sale = Provider("shop").event("sale", article=str, took="u64 us", rate=float)
for values in [("\ud800", 1, 1), ("\udcff", 2, 1), (b"\xff", 3, 1), ("long" * 20000, 4, 1), ("e", -1, 1.5)]:
    sale(*values)
for values in [(1, 1, 1), ("a", "1", 1), ("a", None, 1), ("a", Odd(), 1), (Odd(), 1, 1), ("a", 1, "x"), ("a", 1, 10**400)]:
    sale(*values)
print(sale.failed)
"#;
    assert_eq!(succeed(python(&daemon, code)).trim(), "7");
    let events = session.stop().events();
    let took: Vec<_> = events.iter().map(|event| event.field("took")).collect();
    assert_eq!(took, ["1", "2", "3", "4", &u64::MAX.to_string()]);
}

#[test]
fn traced_functions_and_with_blocks_are_events_with_their_duration() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let session = daemon.recording(&["shop:*"]);
    let code = r#"
import asyncio, time
provider = Provider("shop")
sale = provider.event("sale", article="string group", took="u64 us", left="u32")

@provider.traced
def buy(article, count=1):
    """Buys."""
    time.sleep(0.01)
    if not count:
        raise KeyError(article)
    return count

@provider.traced("delivery")
async def deliver():
    await asyncio.sleep(0.01)
    return "delivered"

assert buy("book", count=2) == 2 and buy.__doc__ == "Buys."
try:
    buy("book", 0)
    sys.exit("no error")
except KeyError:
    pass
assert asyncio.run(deliver()) == "delivered"
with sale.measured("pen", 3):
    time.sleep(0.01)
try:
    provider.event("plain", n=int).measured()
    sys.exit("no error")
except Error as error:
    print(error)
"#;
    let printed = succeed(python(&daemon, code));
    assert!(printed.contains("no field has a duration"), "{printed}");
    let events = session.stop().events();
    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["shop:buy", "shop:buy", "shop:delivery", "shop:sale"]);
    assert_eq!((events[3].field("article"), events[3].field("left")), ("\"pen\"", "3"));
    for event in &events {
        let took: u64 = event.field("took").parse().unwrap();
        assert!((9_000..60_000_000).contains(&took), "{event:?}");
    }
}

#[test]
fn names_never_become_declarations() {
    let daemon = Daemon::start();
    let in_python = r#"
provider = Provider("shop")
for declare in [
    lambda: provider.event("inj(x: u8) second", n=int), lambda: provider.event("a", **{"x: u8, y": int}),
    lambda: provider.event("b", x="u8) second(y: u8"), lambda: provider.event("c", x=list), lambda: provider.event("d", x=[]),
]:
    try:
        declare()
        sys.exit("taken")
    except Error as error:
        print(error)
"#;
    let in_ruby = r#"
provider = LTTngRuntime::Provider.new("shop")
[
  -> { provider.event("inj(x: u8) second", n: Integer) }, -> { provider.event("a", "x: u8, y": Integer) },
  -> { provider.event("b", x: "u8) second(y: u8") }, -> { provider.event("c", x: Array) }, -> { provider.event("d", x: []) },
].each do |declare|
  declare.call
  abort "taken"
rescue LTTngRuntime::Error => error
  puts error.message
end
"#;
    let programs = [("python3", python(&daemon, in_python)), ("ruby", ruby(&daemon, in_ruby))];
    for (language, program) in programs.into_iter().filter(|(language, _)| need(language)) {
        let printed = succeed(program);
        assert_eq!(printed.lines().count(), 5, "{printed}");
        assert_eq!(printed.matches("has only ASCII letters").count(), 2, "{language}: {printed}");
        assert_eq!(printed.matches("such as \"u64 us\", not").count(), 3, "{language}: {printed}");
    }
}

#[test]
fn missing_library_is_one_line_when_a_provider_is_opened() {
    let daemon = Daemon::start();
    let in_python = "try:\n    Provider('shop')\nexcept Error as error:\n    print(error)\n";
    let in_ruby = "begin\n  LTTngRuntime::Provider.new('shop')\nrescue LTTngRuntime::Error => error\n  puts error.message\nend\n";
    let programs = [("python3", python(&daemon, in_python)), ("ruby", ruby(&daemon, in_ruby))];
    for (_, mut program) in programs.into_iter().filter(|(language, _)| need(language)) {
        program.env("LTTNG_RUNTIME_LIBRARY", "/nowhere/liblttng_runtime.so");
        let printed = succeed(program);
        assert!(
            printed.starts_with("cannot load lttng-runtime: ") && printed.lines().count() == 1,
            "{printed}"
        );
    }
}

#[test]
fn ruby_records_events_and_the_latency_of_methods() {
    if !need("ruby") {
        return;
    }
    let daemon = Daemon::start();
    let session = daemon.recording(&["shop*:*"]);
    let code = r##"
extreme = provider.event("extreme", text: String, number: Integer, float: Float, yes: "bool")
extreme.call("b\0ok", -1, 0.5, true)
extreme.call("\xff".b, 2**70 + 3, 2, false)
extreme.call(1, 1, 1, 1)
extreme.call("a", "x", 1, 1)
abort "#{extreme.failed} failed" if extreme.failed != 2 || !extreme.enabled?
class Shop
  def buy(article, count: 1)
    sleep 0.01
    block_given? ? yield(article) : raise(KeyError, article)
  end
end
LTTngRuntime::Tracer::Latency.register(Shop, :buy, provider: LTTngRuntime::Provider.new("shop_methods"))
abort "wrong" if Shop.new.buy("book", count: 2) { |article| article * 2 } != "bookbook"
begin
  Shop.new.buy("book")
rescue KeyError
end
provider.close
sale.call("late", 1)
"##;
    succeed(ruby(&daemon, &(readme("ruby") + code)));
    let events = session.stop().events();
    let (declared, methods): (Vec<_>, Vec<_>) =
        events.into_iter().partition(|event| event.name.starts_with("shop:"));
    let seen = values(&declared);
    assert_eq!(seen[0], ["\"book\"", "12"]);
    assert_eq!(seen[1], ["\"b\"", "-1", "0.5", "1"]);
    assert_eq!((seen[2][1], seen[2][3], seen.len()), ("3", "0", 3));
    assert_eq!(methods.len(), 2, "{methods:?}");
    assert!(methods.iter().all(|event| event.name == "shop_methods:buy"));
    assert!(methods.iter().all(|event| event.field("took").parse::<u64>().unwrap() >= 9_000), "{methods:?}");
}
