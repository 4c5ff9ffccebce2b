//! Programs that run already are recorded from the first moment, whenever the session daemon was started.

use std::fs;
use std::path::Path;

use lttng_testing::{Daemon, must_end};
use serde_json::Value;
use tempfile::TempDir;

use super::record::{assert_nothing_left, nowhere};
use super::support::ltt_top;
use crate::tracee::program;

/// Runs a shell script where `$TRACEE`, started like this, emits an event every 20 ms, `ltt-top` is `$LTT_TOP`, and files
/// go to `$OUT`. All are in one namespace, as they are for users.
fn beside_a_program(daemon: &Daemon, start: &str, script: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let around = format!(
        "mkfifo \"$OUT/requests\"\n\
         ({start} < \"$OUT/requests\" > /dev/null) & PROGRAM=$!\n\
         (while echo 'work 1'; do sleep 0.02; done > \"$OUT/requests\" 2> /dev/null) & FEEDER=$!\n\
         {script}\n\
         kill $FEEDER $PROGRAM; wait"
    );
    let mut shell = daemon.command("bash");
    shell.args(["-c", &around]).env("OUT", folder.path()).env("TZ", "UTC").env("TRACEE", program());
    shell.env("LTT_TOP", env!("CARGO_BIN_EXE_ltt-top")).env_remove("LTTNG_UST_REGISTER_TIMEOUT");
    let output = must_end("the script", move || shell.output().expect("it runs"));
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    folder
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// How long a trace is, in seconds; 0 if nothing was recorded.
fn length(trace: &Path) -> f64 {
    let output = ltt_top(["top", "--format", "json"]).arg(trace).output().expect("it runs");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    found["trace"]["length_ns"].as_f64().unwrap_or(0.0) / 1e9
}

/// Records a program that runs already some times, and checks that each recording is complete.
fn record_again_and_again(rounds: usize) {
    let daemon = nowhere();
    // After a daemon has gone, the program sleeps: every second recording would miss it.
    let script = format!(
        "until grep --quiet -e '-ust$' /proc/$PROGRAM/task/*/comm; do sleep 0.01; done\n\
         for round in $(seq {rounds}); do\n\
         \"$LTT_TOP\" record -e 'tracee:*' --for 1s -o \"$OUT/$round\" > \"$OUT/$round.out\" 2> \"$OUT/$round.err\"\n\
         done"
    );
    let folder = beside_a_program(&daemon, "exec \"$TRACEE\"", &script);
    for round in 1..=rounds {
        let recorded = length(&folder.path().join(round.to_string()));
        let said = read(&folder, &format!("{round}.err"));
        assert!(recorded > 0.8, "{round}: {recorded} s; {said}");
        assert!(!said.contains("warning"), "{said}");
    }
    assert_nothing_left(&daemon);
}

#[test]
fn program_that_runs_already_is_recorded_for_all_of_the_time() {
    record_again_and_again(2);
}

#[test]
#[ignore = "make check: half a minute"]
fn twenty_of_twenty_recordings_have_all_of_the_time() {
    std::thread::scope(|scope| (0..5).for_each(|_| _ = scope.spawn(|| record_again_and_again(4))));
}

#[test]
fn program_that_is_starting_is_waited_for_by_its_name() {
    let daemon = nowhere();
    // As one whose libraries take their time to load.
    let start = "mkdir \"$OUT/bin\"; cp \"$TRACEE\" \"$OUT/bin/late\"\n\
         printf '#!/bin/sh\\nsleep 1\\nexec \"$OUT/bin/late\"\\n' > \"$OUT/late\"; chmod +x \"$OUT/late\"; exec \"$OUT/late\"";
    let script = "until [ \"$(cat /proc/$PROGRAM/comm)\" = late ]; do sleep 0.01; done\n\
         \"$LTT_TOP\" record -e 'tracee:*' --name late --for 1s -o \"$OUT/trace\" > \"$OUT/out\" 2> \"$OUT/err\"";
    let folder = beside_a_program(&daemon, start, script);
    let recorded = length(&folder.path().join("trace"));
    assert!(recorded > 0.8, "{recorded} s; {}", read(&folder, "err"));
    assert_nothing_left(&daemon);
}

#[test]
fn program_that_runs_already_is_listed_and_found_by_its_id() {
    let daemon = nowhere();
    let script = "for round in 1 2; do \"$LTT_TOP\" list > \"$OUT/list.$round\" 2> \"$OUT/list.err\"; done\n\
         \"$LTT_TOP\" record -e 'tracee:*' --pid $PROGRAM --for 1s -o \"$OUT/trace\" > \"$OUT/out\" 2> \"$OUT/err\"";
    let folder = beside_a_program(&daemon, "exec \"$TRACEE\"", script);
    for round in 1..=2 {
        assert!(read(&folder, &format!("list.{round}")).contains("tracee"), "{round}");
    }
    assert!(length(&folder.path().join("trace")) > 0.8, "{}", read(&folder, "err"));
    assert_nothing_left(&daemon);
}

#[test]
fn server_is_found_by_its_name_whatever_its_title_says() {
    let daemon = nowhere();
    let script = "until grep --quiet '^valkey-server' /proc/$PROGRAM/cmdline; do sleep 0.01; done\n\
         \"$LTT_TOP\" record -e 'tracee:*' --name valkey-server --for 1s -o \"$OUT/trace\" \
         > \"$OUT/out\" 2> \"$OUT/err\"";
    let folder = beside_a_program(&daemon, "exec -a 'valkey-server *:6379' \"$TRACEE\"", script);
    assert!(length(&folder.path().join("trace")) > 0.8, "{}", read(&folder, "err"));
    assert_nothing_left(&daemon);
}

#[test]
fn only_the_chosen_process_is_waited_for() {
    let daemon = nowhere();
    // The program has lost its daemon, and sleeps before it looks for another.
    let script = "\"$LTT_TOP\" record -e 'tracee:*' --for 100ms -o \"$OUT/first\" > \"$OUT/out\" 2> \"$OUT/err\"\n\
         mkfifo \"$OUT/idle\"; (exec \"$TRACEE\" < \"$OUT/idle\" > /dev/null) & CHOSEN=$!; echo $CHOSEN > \"$OUT/chosen\"; exec 9> \"$OUT/idle\"\n\
         \"$LTT_TOP\" record -e 'tracee:*' --pid $CHOSEN --for 100ms -o \"$OUT/trace\" > \"$OUT/out\" 2> \"$OUT/err\"\n\
         \"$LTT_TOP\" live -e 'tracee:*' --pid $CHOSEN --for 100ms > \"$OUT/out\" 2> \"$OUT/live.err\"\n\
         exec 9>&-";
    let folder = beside_a_program(&daemon, "exec \"$TRACEE\"", script);
    let (said, live) = (read(&folder, "err"), read(&folder, "live.err"));
    assert!(said.contains("recorded into"), "{said}");
    // The chosen one has only just begun.
    let chosen = format!("process {} ", read(&folder, "chosen").trim());
    for line in said.lines().chain(live.lines()).filter(|line| line.contains("regist")) {
        assert!(line.contains(&chosen) && !line.contains(", process"), "{line}");
    }
    assert_nothing_left(&daemon);
}
