//! With tracing off the macros leave no trace in the code.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use lttng_testing::{BUILD_DEADLINE, CommandInTime as _, Program, cargo};

/// What a tool of binutils prints about a program.
fn inspect(tool: &str, options: &[&str], program: &Path) -> String {
    let output = Command::new(tool).args(options).arg(program).output().unwrap();
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The instructions of a function, without the numbers in them.
fn instructions(disassembly: &str, function: &str) -> Vec<String> {
    let start = format!("<off::{function}>:");
    let lines = disassembly.lines().skip_while(|line| !line.ends_with(&start)).skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    // `  12ab:\txor    $0x11111111,%rax` → `xor $,%rax`
    let instruction = |line: &str| {
        let text = line.split_once('\t')?.1.split(['<', '#']).next()?;
        let words = text.split(|character: char| !character.is_alphanumeric() && character != '%');
        let words = words.filter(|word| !word.starts_with(|first: char| first.is_ascii_digit()));
        Some(words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
    };
    lines.filter_map(instruction).collect()
}

#[test]
#[ignore = "make check: a release build"]
fn traced_functions_are_the_plain_ones() {
    let program = Program::example("market", "off").release().build();
    let disassembly = inspect("objdump", &["--disassemble", "--demangle", "--no-show-raw-insn"], &program);
    for name in ["sum", "parse", "sale", "outcome", "several"] {
        let plain = instructions(&disassembly, &format!("plain_{name}"));
        assert!(plain.len() > 2, "no function plain_{name} in:\n{disassembly}");
        assert_eq!(plain, instructions(&disassembly, &format!("traced_{name}")), "{name}");
    }
}

#[test]
#[ignore = "make check: a release build"]
fn traced_futures_are_as_large_as_the_plain_ones() {
    let program = Program::example("market", "off").release().build();
    let output = Command::new(program).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "0 0\n");
}

#[test]
fn traced_futures_are_larger_by_a_word_with_tracing_on() {
    let program = Program::example("market", "off").traced().build();
    let output = Command::new(program).output().unwrap();
    let word = size_of::<usize>();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{word} {word}\n"));
}

/// With the lints that an application might have, and what clippy knows.
#[test]
#[ignore = "make check: clippy, with tracing off and on"]
fn compiler_and_clippy_say_the_same_of_every_program_with_tracing_off_and_on() {
    let packages = ["market", "bridged-service", "lttng-fixtures", "valkey-trace", "valkey-lite"];
    let said = |features: &[&str]| -> BTreeSet<String> {
        let mut cargo = cargo();
        cargo.args(["clippy", "--bins", "--examples", "--message-format=short"]).args(features);
        cargo.args(packages.map(|package| format!("--package={package}")));
        cargo.args(["--", "-Wclippy::pedantic", "-Wclippy::nursery", "-Wunused", "-Wrust-2018-idioms"]);
        let output = cargo.output_within(BUILD_DEADLINE).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        // `src/main.rs:1:2: warning: …`; the rest is Cargo's. Not of our libraries, which have other code then.
        let is_of_program = |line: &&str| {
            let folders = [
                "lttng-provider-derive/tests/",
                "lttng-provider-tracing/tests/",
                "tests/",
                "examples/",
                "src/",
            ];
            line.contains(": warning: ") && folders.iter().any(|folder| line.starts_with(folder))
        };
        errors.lines().filter(is_of_program).map(str::to_owned).collect()
    };
    let (off, on) = (said(&[]), said(&["--features=valkey-trace/lttng,valkey-trace/usdt"]));
    assert!(!off.is_empty(), "pedantic lints find something");
    let different: Vec<_> = off.symmetric_difference(&on).collect();
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn every_program_works_without_tracing_and_knows_nothing_of_lttng() {
    for example in ["structs", "functions", "futures", "lazy", "outcomes", "drops", "signatures"] {
        let program = Program::example("market", example).build();
        let output = Command::new(&program).output().unwrap();
        assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.is_empty(), "{example} has evaluated a field");
        assert!(!inspect("nm", &[], &program).contains("lttng_ust"), "{example}");
    }
}
