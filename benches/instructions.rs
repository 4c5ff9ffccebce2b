//! Instructions that an event costs from C, beside LTTng-UST's own macros: generated C, and events that are declared at
//! run time.
//!
//! `cargo bench --bench instructions` prints a table. Callgrind counts, so other programs do not matter.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lttng_catalog::Catalog;
use lttng_testing::{Daemon, Program, Table, instructions_each, workspace};
use support::{compile, compile_baseline, lttng_flags};

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut table = Table::new(
        "An event from C, in instructions, the loop included",
        &["event, back ends, state", "ours", "LTTng's macro", "ours/macro"],
    );
    let mut row = |name: String, ours: f64, macros: f64| {
        table.row([name, format!("{ours:.1}"), format!("{macros:.1}"), format!("{:.2}", ours / macros)]);
    };
    let macros = compile_baseline(&folder.path().join("macros"));
    for (back_ends, flags) in
        [("LTTng", &["-DUSE_LTTNG"][..]), ("LTTng and USDT", &["-DUSE_LTTNG", "-DUSE_USDT"])]
    {
        let ours = compile_generated(folder.path(), flags);
        for event in ["nothing", "duration", "command_call"] {
            for (state, count) in [("idle", 200_000), ("recorded", 5_000)] {
                let [ours, macros] = [&ours, &macros].map(|program| {
                    in_state(state, "baseline:*", |daemon| {
                        instructions_each(daemon, &[], program, &[event, "1"], count)
                    })
                });
                row(format!("{event}, {back_ends}, {state}"), ours, macros);
            }
        }
    }
    let library = Program::dynamic_library("lttng-runtime").release().build();
    let folder_of_library = library.parent().expect("it is in a folder").display().to_string();
    let path = format!("LD_LIBRARY_PATH={folder_of_library}");
    let programs = workspace().join("lttng-runtime/tests/programs");
    let [ours, macros] = ["exercise.c", "twin.c"].map(|source| {
        let program = folder.path().join(source.replace('.', "-"));
        let mut cc = Command::new("cc");
        cc.args(["-std=gnu99", "-O2", "-pthread", "-I../../include", "-I.", source, "-o"]).arg(&program);
        cc.current_dir(&programs)
            .arg(format!("-L{folder_of_library}"))
            .args(["-llttng_runtime", "-lm"])
            .args(lttng_flags());
        assert!(cc.status().expect("a C compiler is installed").success(), "{cc:?}");
        program
    });
    for (state, count) in [("idle", 200_000), ("recorded", 5_000)] {
        let [ours, macros] = [&ours, &macros].map(|program| {
            in_state(state, "shop:*", |daemon| instructions_each(daemon, &[&path], program, &["loop"], count))
        });
        row(format!("sale, declared at run time, {state}"), ours, macros);
    }
    println!("{table}");
}

/// The loops of `baseline.c` with generated files in the place of LTTng's macros.
fn compile_generated(folder: &Path, back_ends: &[&str]) -> PathBuf {
    let name = format!("generated{}", back_ends.concat());
    let generated = folder.join(format!("{name}-files"));
    fs::create_dir_all(&generated).expect("the folder is writable");
    let catalog = Catalog::read(workspace().join("benches/producer/baseline.toml")).expect("it is valid");
    for file in lttng_provider_build::c_sources(&[catalog]).expect("no names clash") {
        fs::write(generated.join(&file.name), &file.text).expect("the folder is writable");
    }
    let mut flags: Vec<String> = back_ends.iter().map(|flag| (*flag).to_owned()).collect();
    // Searched before the folder that has a header of the same name with LTTng's macros.
    flags.extend(["-DGENERATED".to_owned(), "-iquote".to_owned(), generated.display().to_string()]);
    flags.extend([generated.join("baseline.c").display().to_string(), "-ldl".to_owned()]);
    compile("baseline.c", &folder.join(name), &flags)
}

/// Measures while nobody records, or while a session does, in memory alone.
fn in_state(state: &str, events: &str, measure: impl Fn(&Daemon) -> f64) -> f64 {
    let daemon = Daemon::start();
    let session = (state == "recorded").then(|| daemon.snapshot_session());
    if let Some(session) = &session {
        session.enable(events);
        session.start();
    }
    measure(&daemon)
}
