//! What an event costs in instructions, beside LTTng's own macro, by callgrind.

mod support;

use std::path::PathBuf;

use lttng_testing::{Daemon, Program, instructions_each, need};
use support::{compile, python, ruby, succeed};

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

/// Printed for the README; a time is not a reason to fail.
#[test]
#[ignore = "make check: an optimised library"]
fn recorded_event_of_a_script_takes_microseconds() {
    let daemon = Daemon::start();
    let library = Program::dynamic_library("lttng-runtime").release().build();
    let in_python = r#"
import time
sale = Provider("shop").event("sale", article=str, took="u64 us", rate=float, small="i16")
rounds = []
for _ in range(10):
    began = time.process_time_ns()
    for took in range(10000):
        sale("book", took, 0.5, -2)
    rounds.append((time.process_time_ns() - began) / 10_000_000)
print("%.2f" % min(rounds) if sale.enabled and not sale.failed else "off")
"#;
    let in_ruby = r#"
sale = LTTngRuntime::Provider.new("shop").event("sale", article: String, took: "u64 us", rate: Float, small: "i16")
clock = -> { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) }
rounds = Array.new(10) do
  began = clock.call
  10_000.times { |took| sale.call("book", took, 0.5, -2) }
  (clock.call - began) / 10_000_000.0
end
puts sale.enabled? && sale.failed.zero? ? rounds.min.round(2) : "off"
"#;
    let session = daemon.snapshot_session();
    session.enable("shop:sale");
    session.start();
    for (language, mut program) in [("python3", python(&daemon, in_python)), ("ruby", ruby(&daemon, in_ruby))]
    {
        if need(language) {
            program.env("LTTNG_RUNTIME_LIBRARY", &library);
            let microseconds = succeed(program);
            println!("{language}, recorded: {} µs of processor time", microseconds.trim());
            assert!(microseconds.trim().parse::<f64>().is_ok(), "{microseconds}");
        }
    }
}
