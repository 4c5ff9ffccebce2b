//! What an event costs in instructions, beside LTTng's own macro, by callgrind.

mod support;

use std::path::Path;

use lttng_testing::{Daemon, Program, need};
use support::{compile, succeed};

/// Instructions of the whole program an event, without what happens at its start.
fn instructions(daemon: &Daemon, library: &str, program: &Path) -> f64 {
    const COUNT: u64 = 2_000;
    let run = |count: u64| {
        let mut valgrind = daemon.command("sh");
        let file = daemon.folder().join("callgrind");
        let script = r#"env "$3" valgrind --tool=callgrind --callgrind-out-file="$0" "$1" loop "$2" 2>&1"#;
        valgrind.args(["-c", script]).arg(&file).arg(program).arg(count.to_string()).arg(library);
        let printed = succeed(valgrind);
        let (_, collected) = printed.split_once("Collected : ").unwrap_or_else(|| panic!("{printed}"));
        collected.split_whitespace().next().and_then(|count| count.parse::<f64>().ok()).expect("a number")
    };
    let first = run(COUNT);
    (run(11 * COUNT) - first) / (10 * COUNT) as f64
}

#[test]
#[ignore = "make check: valgrind"]
fn idle_event_costs_what_the_macro_costs_and_a_recorded_one_less_than_twice() {
    if !need("valgrind") {
        return;
    }
    let daemon = Daemon::start();
    let library = Program::dynamic_library("lttng-runtime").release().build();
    let programs = [compile("exercise.c", daemon.folder()), compile("twin.c", daemon.folder())];
    // The program finds the library of its build where that is not preloaded.
    let library = format!("LD_PRELOAD={}", library.display());
    let [ours, official] = programs.each_ref().map(|program| instructions(&daemon, &library, program));
    println!("idle: {ours:.1} instructions, official macro {official:.1}");
    assert!(ours < 12.0, "{ours} instructions an idle event, with the loop; the macro takes {official}");
    let session = daemon.snapshot_session();
    session.enable("shop:sale");
    session.start();
    let [ours, official] = programs.each_ref().map(|program| instructions(&daemon, &library, program));
    println!("recorded: {ours:.0} instructions, official macro {official:.0}");
    let session = daemon.session();
    session.enable("shop:sale");
    session.start();
    let mut command = daemon.command("env");
    command.arg(&library).arg(&programs[0]).args(["loop", "1000"]);
    succeed(command);
    assert_eq!(session.stop().events().len(), 1000, "the optimised library records");
    assert!(ours > 100.0 && ours < 2.0 * official, "{ours} instructions a recorded event, not {official}");
}
