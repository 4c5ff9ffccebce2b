//! What an event costs in instructions, beside LTTng's own macro, by callgrind.

mod support;

use std::path::PathBuf;

use lttng_testing::{Daemon, Program, instructions_each, need};
use support::{compile, succeed};

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
    let each = |program: &PathBuf| instructions_each(&daemon, &[&library], program, &["loop"], 20_000);
    let [ours, official] = programs.each_ref().map(each);
    println!("idle: {ours:.1} instructions, official macro {official:.1}");
    assert!(ours < 12.0, "{ours} instructions an idle event, with the loop; the macro takes {official}");
    let session = daemon.snapshot_session();
    session.enable("shop:sale");
    session.start();
    let [ours, official] = programs.each_ref().map(each);
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
