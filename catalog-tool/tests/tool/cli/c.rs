//! `c`: what it writes compiles, and offers the catalog's events.

use std::fs;
use std::process::Command;

use lttng_testing::CommandInTime as _;

use super::run::{catalog, said, text};

#[test]
fn c_sources_compile_and_offer_every_event_to_both_tracers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("deep/trace");
    let written =
        said(["c", text(&catalog("memcached.toml")), text(&catalog("redis.toml")), "--out", text(&out)]);
    assert_eq!((written.status, &*written.err), (0, ""));
    assert!(written.out.lines().all(|line| fs::metadata(line).is_ok()), "{}", written.out);
    assert!(written.out.lines().any(|line| line.ends_with("memcached-trace.h")), "{}", written.out);

    let program = folder.path().join("program");
    let source = folder.path().join("main.c");
    // Probes stand where events are called.
    let main = "#include \"memcached-trace.h\"\n#include \"redis-trace.h\"\n\
                int main(void)\n{\n\ttrace_redis_call__start(1);\n\ttrace_memcached_command__delete(3, \"key\", 3);\n\treturn 0;\n}\n";
    fs::write(&source, main).expect("a writable folder");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=gnu99", "-Wall", "-Wextra", "-DUSE_LTTNG", "-DUSE_USDT", "-I"]).arg(&out);
    gcc.arg(&source).args(["memcached-tp.c", "redis-tp.c"].map(|name| out.join(name)));
    gcc.arg("-o").arg(&program).args(["-llttng-ust", "-ldl"]).succeed();
    let listed = said(["list", text(&program), "--no-libraries", "--format", "json"]);
    assert_eq!((listed.status, &*listed.err), (0, ""));
    let offer: serde_json::Value = serde_json::from_str(&listed.out).expect("it is JSON");
    assert_eq!(offer["files"][0]["events"].as_array().map(Vec::len), Some(31 + 20));
    let probes = offer["files"][0]["probes"].as_array().expect("a list");
    for name in ["call__start", "command__delete"] {
        let probe =
            probes.iter().find(|probe| probe["name"] == name).unwrap_or_else(|| panic!("{name}: {probes:?}"));
        assert_eq!((&probe["has_semaphore"], &probe["said"]["doc"].is_string()), (&true.into(), &true));
    }

    let again =
        said(["c", text(&catalog("memcached.toml")), text(&catalog("redis.toml")), "--out", text(&out)]);
    assert_eq!((again.status, &*again.out), (0, ""), "what is there already is not written");
}

#[test]
fn every_duration_of_valkey_can_have_a_probe_where_it_begins() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path();
    let path = catalog("valkey.toml");
    assert_eq!(said(["c", text(&path), "--start-probes", "--out", text(out)]).status, 0);
    let main = "#include \"valkey-trace.h\"\nint main(void)\n{\n\ttrace_valkey_commands_command_call_start();\n\
        \ttrace_valkey_rdb_fork_start();\n\treturn 0;\n}\n";
    fs::write(out.join("main.c"), main).expect("a writable folder");
    let sources = ["aof", "cluster", "commands", "db", "rdb", "server"];
    let mut gcc = Command::new("gcc");
    gcc.args(["-Wall", "-Wextra", "-Werror", "-DUSE_LTTNG", "-DUSE_USDT", "-I"]).arg(out);
    gcc.args(sources.map(|name| out.join(format!("valkey_{name}-tp.c")))).arg(out.join("main.c"));
    gcc.arg("-o").arg(out.join("program")).args(["-llttng-ust", "-ldl"]).succeed();
    let listed = said(["list", text(&out.join("program")), "--no-libraries", "--format", "json"]);
    let offer: serde_json::Value = serde_json::from_str(&listed.out).expect("it is JSON");
    let probes = offer["files"][0]["probes"].as_array().expect("a list");
    assert_eq!(probes.len(), 35 + 35);
    assert!(probes.iter().any(|probe| probe["name"] == "command_call__start"), "{probes:?}");
}

/// For projects that keep generated files: CI notices when they are stale.
#[test]
fn check_fails_for_a_file_that_is_missing_or_stale() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, out) = (catalog("redis.toml"), folder.path());
    let license = ["--license", "MIT", "--build", "make"];
    let run = |more: &[&str]| {
        let arguments = ["c", text(&path), "--out", text(out)].into_iter().chain(license);
        said(arguments.chain(more.iter().copied()))
    };
    let relabelled = said(["c", text(&path), "--out", text(out), "--license", "BSD-3-Clause"]);
    assert!(relabelled.status == 2 && relabelled.err.contains("0BSD or MIT"), "{}", relabelled.err);
    let missing = run(&["--check"]);
    assert_eq!((missing.status, fs::read_dir(out).expect("it is there").count()), (1, 0));
    assert_eq!(run(&[]).status, 0);
    assert_eq!((run(&["--check"]).status, &*run(&["--check"]).err), (0, ""));
    for file in fs::read_dir(out).expect("it is there") {
        let text = fs::read_to_string(file.expect("it is there").path()).expect("it is text");
        let first = text.lines().next().unwrap_or_default();
        assert!(first.contains("SPDX-License-Identifier: MIT"), "{first}");
    }
    let header = out.join("redis-trace.h");
    fs::write(&header, fs::read_to_string(&header).expect("it is text") + "\n").expect("a writable folder");
    let stale = run(&["--check"]);
    assert_eq!(stale.status, 1);
    assert!(stale.err.contains("redis-trace.h: is not what the catalogs say"), "{}", stale.err);
    assert_eq!(stale.err.lines().count(), 1, "{}", stale.err);
}

/// A line as memcached's own sources have it, with their flags.
#[test]
fn macros_in_dtraces_spelling_take_pointers_and_lengths() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path();
    assert_eq!(said(["c", text(&catalog("memcached.toml")), "--dtrace", "--out", text(out)]).status, 0);
    let main = "#include \"memcached-dtrace.h\"\n\
        int main(void)\n{\n\tconst char *key = \"k\";\n\tunsigned char nkey = 1;\n\tvoid *ptr = &nkey;\n\
        \tMEMCACHED_CONN_CREATE(ptr);\n\tMEMCACHED_PROCESS_COMMAND_START(1, key, 5);\n\
        \tif (MEMCACHED_COMMAND_GET_ENABLED()) { MEMCACHED_COMMAND_GET(1, key, nkey, 2, (int64_t) 3); }\n\
        \tMEMCACHED_SLABS_ALLOCATE(1, 2, 3, 0);\n\treturn 0;\n}\n";
    fs::write(out.join("main.c"), main).expect("a writable folder");
    for back_ends in [&[][..], &["-DUSE_LTTNG"], &["-DUSE_USDT"], &["-DUSE_LTTNG", "-DUSE_USDT"]] {
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=gnu99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
            .args(back_ends)
            .arg("-I")
            .arg(out);
        gcc.args(["main.c", "memcached-tp.c"].map(|name| out.join(name))).arg("-o").arg(out.join("program"));
        gcc.args(["-llttng-ust", "-ldl"]).succeed();
    }
}

#[test]
fn catalogs_that_clash_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = catalog("redis.toml");
    let said = said(["c", text(&path), text(&path), "--out", text(folder.path())]);
    assert_eq!((said.status, &*said.out), (1, ""));
    assert!(said.err.contains("`redis`"), "{}", said.err);
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
}
