//! C programs with generated files work however they are compiled and linked.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Built, CProgram, NO_ARGUMENTS, VALKEY, generate_c, noted};
use lttng_testing::{CommandInTime as _, Daemon, need, workspace};
use tempfile::tempdir;

const BOTH: &[&str] = &["-DUSE_LTTNG", "-DUSE_USDT"];

/// Valkey's default build.
#[test]
fn program_of_several_lto_partitions_records_and_has_every_probe() {
    assert_builds("gcc", &["-flto=auto", "-rdynamic"]);
}

#[test]
#[ignore = "make check: other builds"]
fn every_form_of_link_time_optimization_records_and_has_every_probe() {
    let gcc: [&[&str]; 5] = [
        &["-flto=auto", "-flto-partition=max", "-rdynamic"],
        &["-flto=auto", "-flto-partition=1to1"],
        &["-flto=auto", "-flto-partition=none", "-rdynamic"],
        &["-flto", "-ffat-lto-objects"],
        &["-flto", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-fPIE", "-pie"],
    ];
    gcc.into_iter().for_each(|flags| assert_builds("gcc", flags));
    let clang: [&[&str]; 3] =
        [&["-flto"], &["-flto=thin"], &["-flto=thin", "-rdynamic", "-Wl,--gc-sections"]];
    for flags in clang.into_iter().filter(|_| need("clang") && need("ld.lld")) {
        let flags = [flags, &["-fuse-ld=lld", "-Wno-unused-command-line-argument"]].concat();
        assert_builds("clang", &flags);
    }
}

/// As the README says; files for `--fast` keep their tracepoints themselves.
#[test]
#[ignore = "make check: other builds"]
fn plain_program_records_when_lld_collects_sections_with_an_option() {
    if !need("clang") || !need("ld.lld") {
        return;
    }
    let flags = ["-DUSE_LTTNG", "-fuse-ld=lld", "-Wno-unused-command-line-argument", "-ffunction-sections"];
    let flags = [&flags[..], &["-Wl,--gc-sections", "-Wl,-z,nostart-stop-gc"]].concat();
    let program = CProgram { compiler: "clang", fast: false, ..CProgram::emit_all(&flags) }.build();
    assert_eq!(Daemon::start().record(&["valkey_*"], program, ["2"]).events().len(), 70);
}

#[test]
#[ignore = "make check: other builds"]
fn every_way_to_link_records_and_has_every_probe() {
    let ways: [&[&str]; 6] = [
        &["-fPIE", "-pie"],
        &["-fno-pie", "-no-pie"],
        &["-O0", "-g"],
        &["-O3", "-march=native", "-fno-plt", "-Wl,-z,now"],
        &["-fsanitize=address,undefined"],
        &["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s"],
    ];
    ways.into_iter().for_each(|flags| assert_builds("gcc", flags));
}

/// The generated files and a program with every way to emit, in all combinations, without a warning.
#[test]
#[ignore = "make check: other compilers"]
fn every_compiler_standard_and_form_of_120_builds_runs_and_has_every_probe() {
    let families = [("gcc", "g++"), ("clang", "clang++")];
    let standards = ["c99", "gnu99", "c11", "c17", "c2x", "gnu2x", "c++11", "c++14", "c++17", "c++20"]
        .map(|name| format!("-std={name}"));
    let mut builds = Vec::new();
    for (c, cpp) in families.into_iter().filter(|(_, cpp)| need(cpp) && need("ld.lld")) {
        for standard in &standards {
            // clang's run-time library for addresses is in another package.
            let (lto, sanitized): (&[&str], &[&str]) = match c {
                "gcc" => (&["-flto=auto", "-rdynamic"], &["-fsanitize=address,undefined"]),
                _ => (&["-flto=thin", "-fuse-ld=lld"], &["-fsanitize=undefined", "-fsanitize-trap=all"]),
            };
            let forms: [&[&str]; 6] =
                [&["-g"], lto, &["-static"], &["-fPIE", "-pie"], &["-fPIC", "-shared"], sanitized];
            let compiler = if standard.contains("++") { cpp } else { c };
            builds.extend(forms.map(|form| (compiler, standard.as_str(), form)));
        }
    }
    let daemon = Daemon::start();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((compiler, standard, form)) = builds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result =
                catch_unwind(AssertUnwindSafe(|| build_of_matrix(&daemon, compiler, standard, form)));
            println!(
                "{compiler} {standard} {}: {}",
                form.join(" "),
                if result.is_ok() { "built" } else { "FAILED" }
            );
            failed.lock().unwrap().extend(result.is_err().then(|| format!("{compiler} {standard} {form:?}")));
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| _ = scope.spawn(work)));
    let failed = failed.into_inner().unwrap();
    println!("{} of {} builds", builds.len() - failed.len(), builds.len());
    assert_eq!(failed, [""; 0]);
    assert!(builds.len() == 120 || builds.len() % 60 == 0, "{} builds", builds.len());
}

fn build_of_matrix(daemon: &Daemon, compiler: &str, standard: &str, form: &[&str]) {
    let language: &[&str] = if compiler.ends_with("++") { &["-x", "c++"] } else { &[] };
    let unused: &[&str] =
        if compiler.starts_with("clang") { &["-Wno-unused-command-line-argument"] } else { &[] };
    let program = CProgram {
        compiler,
        source: "tests/fixtures/c/forms.c",
        catalogs: &["tests/catalogs/probing.toml"],
        flags: &[BOTH, form, unused].concat(),
        own_flags: &[&[standard], language].concat(),
        fast: true,
    };
    let program = program.build();
    // Two of the events have a probe where they begin as well; a static libstdc++ has its own probes.
    let notes = Command::new("readelf").arg("--notes").arg(&program).succeed();
    assert_eq!(notes.matches("Provider: probing\n").count(), 6 + 2);
    if !form.contains(&"-shared") {
        daemon.run(&program, NO_ARGUMENTS);
    }
}

/// With Valkey's flags: build files as their users would write them around the generated fragments.
#[test]
#[ignore = "make check: cmake and automake"]
fn make_cmake_and_automake_build_with_valkeys_flags() {
    let flags = "-std=gnu11 -pedantic -Wall -W -Wno-missing-field-initializers -Wstrict-prototypes -Werror -O3 -flto=auto \
                 -fno-omit-frame-pointer -g";
    let source = workspace().join("examples/c/emit-all.c");
    let source = source.display();
    let cmake_file = format!(
        "cmake_minimum_required(VERSION 3.20)\nproject(program C)\nset(CMAKE_C_FLAGS \"{flags}\")\n\
         include(generated/valkey-trace.cmake)\nadd_executable(program {source})\n\
         set_target_properties(program PROPERTIES ENABLE_EXPORTS ON)\n\
         target_link_libraries(program m)\ntarget_link_libraries(program valkey-trace)\n"
    );
    let makefile = format!(
        "include generated/valkey-trace.mk\nprogram: {source} $(VALKEY_TRACE_SOURCES)\n\
         \t$(CC) {flags} -rdynamic $(VALKEY_TRACE_CFLAGS) $^ -o $@ $(VALKEY_TRACE_LIBS)\n"
    );
    let automake_file = format!(
        "include generated/valkey-trace.am\nbin_PROGRAMS = program\n\
         program_SOURCES = emit-all.c $(valkey_trace_sources)\nprogram_CFLAGS = {flags}\n\
         program_CPPFLAGS = -I$(srcdir)/generated\nprogram_LDADD = -llttng-ust -ldl\n"
    );
    let automake = format!(
        "autoreconf --force --install && cp {source} . && [ $lttng = no ] || defined=-DUSE_LTTNG\n\
         [ $usdt = no ] || defined=\"$defined -DUSE_USDT\"\n./configure --quiet CPPFLAGS=\"$defined\" && make"
    );
    let configure = "AC_INIT([program], [1])\nAM_INIT_AUTOMAKE([foreign subdir-objects])\nAC_PROG_CC\n\
                     AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n";
    let cmake = "cmake -DUSE_LTTNG=$lttng -DUSE_USDT=$usdt -S . -B . && cmake --build . --verbose";
    let ways = [
        ("CMakeLists.txt", cmake_file, cmake),
        ("Makefile", makefile, "make USE_LTTNG=$lttng USE_USDT=$usdt"),
        ("Makefile.am", automake_file, &automake),
    ];
    for (file, text, command) in ways.iter().filter(|(.., command)| need(command.split(' ').next().unwrap()))
    {
        let ways = [("yes", "yes", true), ("yes", "no", false), ("no", "yes", false), ("no", "no", false)];
        for (lttng, usdt, fast) in ways {
            let folder = tempdir().unwrap();
            generate_c(VALKEY, fast, &folder.path().join("generated"));
            std::fs::write(folder.path().join(file), text).unwrap();
            std::fs::write(folder.path().join("configure.ac"), configure).unwrap();
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).env("lttng", lttng).env("usdt", usdt).current_dir(folder.path());
            shell.succeed();
            let program = folder.path().join("program");
            assert_eq!(noted(&program).len(), if usdt == "yes" { 35 } else { 0 }, "{file}: {lttng} {usdt}");
            let events = Daemon::start().record(&["valkey_*"], program, ["2"]).events();
            assert_eq!(events.len(), if lttng == "yes" { 70 } else { 0 }, "{file}: {lttng} {usdt}");
        }
    }
}

/// Nothing can be recorded, because LTTng-UST is a shared library; probes of USDT are there.
#[test]
#[ignore = "make check: other builds"]
fn statically_linked_program_runs() {
    for flags in [&["-static"][..], &["-static-pie", "-fPIE"]] {
        let program = CProgram::emit_all(&[BOTH, flags].concat()).build();
        assert_eq!(noted(&program).len(), 35, "{flags:?}");
        let output = Command::new(&program).arg("3").output_in_time().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{flags:?}: {}, {errors}", output.status);
    }
}

/// As if a tracer were attached, whatever else the file includes.
#[test]
fn usdt_probes_fire_in_a_file_that_includes_other_headers_of_tracers() {
    for include in [&["-include", "lttng/tracepoint.h"][..], &["-include", "sys/sdt.h"], &[]] {
        for back_ends in [&["-DUSE_USDT"][..], BOTH] {
            let program = odd(back_ends, include);
            let output = Command::new(&program).arg("attached").output_in_time().unwrap();
            let why = "the arguments are evaluated";
            assert_eq!(output.status.code(), Some(3), "{why}: {include:?} {back_ends:?}");
        }
    }
}

/// `inner`, where the event is, is called by `outer`, and neither can be inlined: `ip` is in `inner`.
#[test]
fn call_site_is_the_caller_under_link_time_optimization() {
    let daemon = Daemon::start();
    for fast in [true, false] {
        let flags = &["-DUSE_LTTNG", "-O3", "-flto=auto", "-no-pie", "-fno-pie"];
        let program = CProgram { fast, ..CProgram::odd(flags) }.build();
        let session = daemon.recording_with(&["probing:nothing"], &[], &["ip"]);
        daemon.run(&program, ["site"]);
        let events = session.stop().events();
        let [event] = &events[..] else { panic!("{events:?}") };
        let ip = event.context("ip");
        let ip: u64 = ip.parse().expect("it is a number");
        let mut addr2line = Command::new("addr2line");
        addr2line.args(["-f", "-e"]).arg(&*program).arg(format!("{:#x}", ip - 1));
        // The compiler may specialise it, and names the copy after it.
        assert!(addr2line.succeed().starts_with("inner_site"), "fast: {fast}");
    }
}

/// An event without fields among them.
#[test]
fn every_warning_without_optimization_is_an_error_and_there_is_none() {
    for fast in [true, false] {
        let flags = &["-DUSE_LTTNG", "-DUSE_USDT", "-O0", "-Wall", "-Wextra", "-Werror"];
        CProgram { fast, ..CProgram::odd(flags) }.build();
    }
}

#[test]
#[ignore = "make check: gdb"]
fn probe_shows_all_of_a_long_text_and_its_length() {
    if !need("gdb") {
        return;
    }
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-batch", "-ex", "break -probe-stap probing:shown", "-ex", "run long", "-ex"]);
    gdb.arg("printf \"> %d %c\\n\", $_probe_arg4, *((char *) $_probe_arg3 + 299)");
    let program = odd(&["-DUSE_USDT"], &[]);
    let printed = gdb.arg(&program).succeed();
    assert_eq!(printed.lines().find(|line| line.starts_with('>')), Some("> 300 y"), "{printed}");
}

fn odd(flags: &[&str], own_flags: &[&str]) -> Built {
    CProgram { own_flags: &[&["-std=gnu99"], own_flags].concat(), ..CProgram::odd(flags) }.build()
}

fn assert_builds(compiler: &str, flags: &[&str]) {
    let daemon = Daemon::start();
    for back_ends in [BOTH, &["-DUSE_USDT"], &["-DUSE_LTTNG"]] {
        let flags = [back_ends, flags].concat();
        let program = CProgram { compiler, ..CProgram::emit_all(&flags) }.build();
        let (has_lttng, has_usdt) = (flags.contains(&"-DUSE_LTTNG"), flags.contains(&"-DUSE_USDT"));
        assert_eq!(noted(&program).len(), if has_usdt { 35 } else { 0 }, "{compiler} {flags:?}");
        let events = daemon.record(&["valkey_*"], program, ["2"]).events();
        assert_eq!(events.len(), if has_lttng { 70 } else { 0 }, "{compiler} {flags:?}");
    }
}
