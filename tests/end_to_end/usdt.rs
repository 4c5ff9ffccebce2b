//! USDT probes: other tools list them however a program is built and linked, and read from them what LTTng records.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::support::{CProgram, noted};
use lttng_testing::{
    CommandInTime as _, Daemon, Event, Program, bpftrace, instructions_each, need, need_bpftrace, not_allowed,
};

const GNU_LD: &str = "-Clink-arg=-fuse-ld=bfd";
const BOTH: &str = "--features=lttng,usdt";
const LLD: &str = "-Clink-arg=-fuse-ld=lld";

#[test]
#[ignore = "make check: bpftrace, gdb and other builds"]
fn debug_and_release_builds_list_all_probes() {
    for linker in [LLD, GNU_LD] {
        assert_lists_all(&emit_all().rustc(linker).build());
        assert_lists_all(&emit_all().release().rustc(linker).build());
    }
}

#[test]
#[ignore = "make check: bpftrace, gdb and other builds"]
fn stripped_builds_with_lto_list_all_probes() {
    for linker in [LLD, GNU_LD] {
        let program = emit_all().release().variable("CARGO_PROFILE_RELEASE_LTO", "fat");
        let program = program.variable("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
        let program = program.variable("CARGO_PROFILE_RELEASE_STRIP", "symbols").rustc(linker).build();
        assert_lists_all(&program);
        if need_bpftrace() {
            assert_eq!(counts(&Daemon::start(), &program, "3"), expected_counts(3));
        }
    }
}

#[test]
#[ignore = "make check: bpftrace, gdb and other builds"]
fn probes_beside_lttng_are_listed_and_recorded() {
    for linker in [LLD, GNU_LD] {
        for program in [
            both().argument(BOTH).rustc(linker).build(),
            both().release().argument(BOTH).rustc(linker).build(),
        ] {
            assert_lists_all(&program);
            assert_eq!(Daemon::start().record(&["valkey_*"], &program, ["2"]).events().len(), 70);
            if need_bpftrace() {
                assert_eq!(counts(&Daemon::start(), &program, "2"), expected_counts(2));
            }
        }
    }
}

#[test]
#[ignore = "make check: bpftrace, gdb and other builds"]
fn bpftrace_reads_what_lttng_records_in_the_same_run() {
    if !need_bpftrace() {
        return;
    }
    let c = CProgram::emit_all(&["-DUSE_LTTNG", "-DUSE_USDT"]).build();
    for program in [both().build(), both().release().argument(BOTH).build(), c.to_owned()] {
        let daemon = Daemon::start();
        let session = daemon.recording(&["valkey_*"]);
        let path = program.display();
        let others =
            ["server", "db", "cluster", "rdb", "aof"].map(|name| format!("usdt:{path}:valkey_{name}:*"));
        let script = format!(
            r#"usdt:{path}:valkey_commands:command_call {{
                   printf("probe valkey_commands:command_call %d %s %s %s %lu\n", arg0, str(arg1), str(arg2), str(arg3), arg4);
               }}
               {others} {{ printf("%s %lu\n", probe, arg0); }}"#,
            others = others.join(", "),
        );
        let printed = bpftrace(&script, || _ = daemon.run(&program, ["3"]));
        // bpftrace has a buffer for each processor, and no order among them.
        let read = sorted(printed.lines().filter_map(|line| read_line(line, &program)));
        assert_eq!(read, sorted(recorded_lines(&session.stop().events()).into_iter()));
        assert_eq!(read.len(), 105);
    }
}

#[test]
#[ignore = "make check: bpftrace, gdb and other builds"]
fn events_are_counted_without_lttng() {
    if !need_bpftrace() {
        return;
    }
    let program = emit_all().build();
    assert_eq!(counts(&Daemon::start(), &program, "4"), expected_counts(4));
    let needed = Command::new("ldd").arg(&program).succeed();
    assert!(!needed.contains("lttng"), "{needed}");
}

#[test]
#[ignore = "make check: bpftrace, gdb and other builds"]
fn beginnings_texts_lists_and_floats_are_readable() {
    if !need_bpftrace() {
        return;
    }
    let program = probing().argument("--features=usdt").build();
    let path = program.display();
    let script = format!(
        r#"usdt:{path}:probing:timed__start {{ printf("> timed starts\n"); }}
           usdt:{path}:probing:alone__start {{ printf("> alone starts\n"); }}
           usdt:{path}:probing:timed {{ printf("> timed %s\n", str(arg0)); }}
           usdt:{path}:probing:alone {{ printf("> alone\n"); }}
           usdt:{path}:probing:nothing {{ printf("> nothing\n"); }}
           usdt:{path}:probing:shown {{
               printf("> %d %x %lx %s %d %s\n", arg0, arg1, arg2, str(arg3, 5), arg4, str(arg5));
           }}"#
    );
    let printed = bpftrace(&script, || _ = Daemon::start().run(&program, ["all"]));
    let lines = sorted(printed.lines().filter_map(|line| Some(line.strip_prefix("> ")?.to_owned())));
    let expected = [
        "timed starts",
        "timed by a stopwatch",
        "alone starts",
        "alone",
        "timed starts",
        "timed by an attribute",
        "-2 1020304 3fe0000000000000 text 4 tag",
        "-128 ffffffff 7fefffffffffffff ttttt 300 tool",
        "nothing",
    ];
    assert_eq!(lines, sorted(expected.into_iter().map(str::to_owned)));
}

/// bpftrace reads six arguments, and gdb all.
#[test]
#[ignore = "make check: bpftrace, gdb and other builds"]
fn gdb_reads_every_argument() {
    if !need("gdb") {
        return;
    }
    let rust = probing().argument("--features=usdt").build();
    let c = CProgram::odd(&["-DUSE_USDT"]).build();
    for program in [rust, c.to_owned()] {
        let mut gdb = Command::new("gdb");
        gdb.args([
            "-q",
            "-batch",
            "-ex",
            "set language c",
            "-ex",
            "break -probe-stap probing:shown",
            "-ex",
            "run all",
        ]);
        let first = "$_probe_arg0, $_probe_arg1, $_probe_arg2, $_probe_arg3, $_probe_arg4, $_probe_arg5";
        let pair = "*((unsigned short *) $_probe_arg6), *((unsigned short *) $_probe_arg6 + 1)";
        let list = "*((unsigned int *) $_probe_arg7), *((unsigned int *) $_probe_arg7 + 2), $_probe_arg8";
        let print = format!("printf \"> %d %x %lx %s %d %s %d %d %d %d %d\\n\", {first}, {pair}, {list}");
        let printed = gdb.args(["-ex", &print]).arg(program).succeed();
        let line = printed.lines().find(|line| line.starts_with('>'));
        assert_eq!(line, Some("> -2 1020304 3fe0000000000000 text 4 tag 1 2 3 5 3"), "{printed}");
    }
}

#[test]
fn nobody_attached_evaluates_no_argument() {
    // It ends with a failure if an argument is evaluated.
    Daemon::start().run(probing().traced().build(), ["lazy"]);
}

#[test]
#[ignore = "make check: other builds"]
fn nobody_attached_evaluates_no_argument_without_lttng() {
    Daemon::start().run(probing().argument("--features=usdt").build(), ["lazy"]);
}

/// What the compiler made of the workspace's build; `make check` asks other tools and other builds.
#[test]
fn every_probe_is_in_the_program() {
    assert_eq!(noted(&both().build()), names());
}

#[test]
#[ignore = "make check: bpftrace, gdb and other builds"]
fn check_of_both_takes_no_more_instructions_than_that_of_lttng() {
    let daemon = Daemon::start();
    let idle = |features: &str| {
        let program = Program::example("valkey-trace", "emit-loop").release().argument(features).build();
        instructions_each(&daemon, &[], &program, &["duration", "1"], 1_000_000).round()
    };
    let (lttng, usdt, both) =
        (idle("--features=lttng"), idle("--features=usdt"), idle("--features=lttng,usdt"));
    println!("idle, in instructions: LTTng {lttng}, USDT {usdt}, both {both}");
    assert!(usdt <= lttng && both <= lttng, "{lttng}, {usdt}, {both}");
}

/// The example, with probes and without LTTng.
fn emit_all() -> Program {
    Program::example("valkey-trace", "emit-all").argument("--features=usdt")
}

fn both() -> Program {
    Program::example("valkey-trace", "emit-all").traced()
}

fn probing() -> Program {
    Program::binary("lttng-fixtures", "probing")
}

/// The names of all events, from the catalog.
fn names() -> Vec<String> {
    let providers = lttng_catalog::valkey().providers;
    let names = providers.iter().flat_map(|provider| {
        provider.events.iter().map(move |event| format!("{}:{}", provider.name, event.name))
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// readelf, gdb and bpftrace each find every probe once, and nothing else.
fn assert_lists_all(program: &Path) {
    assert_eq!(noted(program), names(), "readelf");

    if need("gdb") {
        let mut gdb = Command::new("gdb");
        let listed = gdb.args(["-q", "-batch", "-ex", "info probes stap"]).arg(program).succeed();
        let lines = listed.lines().filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words.first() == Some(&"stap")).then(|| format!("{}:{}", words[1], words[2]))
        });
        assert_eq!(sorted(lines), names(), "gdb");
    }

    if !need("bpftrace") {
        return;
    }
    let mut bpftrace = Command::new("bpftrace");
    bpftrace.arg("-l").arg(format!("usdt:{}:*", program.display()));
    let output = bpftrace.output_in_time().expect("bpftrace is installed");
    if !output.status.success() {
        not_allowed("bpftrace", &format!("it cannot list: {}", String::from_utf8_lossy(&output.stderr)));
        return;
    }
    let listed = String::from_utf8_lossy(&output.stdout);
    let lines = listed.lines().filter_map(|line| {
        let mut parts = line.rsplitn(3, ':');
        let (name, provider) = (parts.next()?, parts.next()?);
        Some(format!("{provider}:{name}"))
    });
    assert_eq!(sorted(lines), names(), "bpftrace");
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// How often each probe of the example fires, by a script that counts.
fn counts(daemon: &Daemon, program: &Path, argument: &str) -> BTreeMap<String, u64> {
    let path = program.display();
    let script = format!("usdt:{path}:valkey_*:* {{ @[probe] = count(); }}");
    let printed = bpftrace(&script, || _ = daemon.run(program, [argument]));
    let prefix = format!("@[usdt:{path}:");
    let lines = printed.lines().filter_map(|line| line.strip_prefix(&prefix)?.split_once("]: "));
    lines.map(|(name, count)| (name.to_owned(), count.parse().unwrap())).collect()
}

fn expected_counts(each: u64) -> BTreeMap<String, u64> {
    names().into_iter().map(|name| (name, each)).collect()
}

/// `valkey_db:expire_del 9`, from a line of the script.
fn read_line(line: &str, program: &Path) -> Option<String> {
    let start = format!("usdt:{}:", program.display());
    line.strip_prefix("probe ").or_else(|| line.strip_prefix(&start)).map(str::to_owned)
}

/// The same from what LTTng recorded.
fn recorded_lines(events: &[Event]) -> Vec<String> {
    let text = |event: &Event, field: &str| event.field(field).trim_matches('"').to_owned();
    let line = |event: &Event| match event.name.as_str() {
        "valkey_commands:command_call" => {
            let protocol =
                event.field("enum_field").rsplit_once("= ").unwrap().1.trim_end_matches(" )").to_owned();
            let texts = ["addr", "laddr", "name", "duration"].map(|field| text(event, field));
            format!("{} {protocol} {}", event.name, texts.join(" "))
        }
        _ => format!("{} {}", event.name, text(event, "duration")),
    };
    events.iter().map(line).collect()
}
